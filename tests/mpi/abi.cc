/* SPDX-License-Identifier: Apache-2.0 */
/* abi — holds what interpose/abi says of this flavour against its mpi.h: values, layouts and handles, and of every
 * function with a wrapper how many arguments it has and how wide each is. Prints what differs; status 1 if anything does.
 * In C++, which can ask whether a function is declared at all: MPI_X is overloaded with one that no header has. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "interpose/abi/mpi.h"

namespace
{
int wrong;

void expect(bool holds, const char *what)
{
	if (!holds)
		std::printf("%s is not as in mpi.h\n", what);
	wrong += !holds;
}

#if defined(OPEN_MPI)
#define COLUMN(openmpi, mpich, standard) openmpi
#define ADDRESS_OF(openmpi, mpich, standard) (uintptr_t) & openmpi
constexpr bool is_pointer = true;
/* not in the header, but in the library */
extern "C" char ompi_request_empty[];
#define MPI_REQUEST_EMPTY ((MPI_Request)(void *)&ompi_request_empty)
#elif defined(MPICH_VERSION)
#define COLUMN(openmpi, mpich, standard) mpich
#define ADDRESS_OF(openmpi, mpich, standard) (uintptr_t)(unsigned)(mpich)
constexpr bool is_pointer = false;
/* only a number, which no header has */
#define MPI_REQUEST_EMPTY COLUMN(0, 0x6c000000, 0)
#else
#error "a flavour that has no column"
#endif

/* A handle as an integer: an int's upper half is nothing. */
template <class Handle> uintptr_t number(Handle handle)
{
	return is_pointer ? (uintptr_t)handle : (uintptr_t)(unsigned)(uintptr_t)handle;
}

void check_values()
{
#define MPI_VALUE(name, ...) expect(MPI_##name == (COLUMN(__VA_ARGS__)), #name);
#define MPI_ADDRESS(name, ...)                                                                     \
	expect((uintptr_t)MPI_##name == (uintptr_t)(COLUMN(__VA_ARGS__)), #name);
#define MPI_HANDLE(name, ...) expect(number(MPI_##name) == ADDRESS_OF(__VA_ARGS__), #name);
#define handle_bytes sizeof(MPI_Comm)
#define status_bytes sizeof(MPI_Status)
#define status_source offsetof(MPI_Status, MPI_SOURCE)
#define status_tag offsetof(MPI_Status, MPI_TAG)
#define status_error offsetof(MPI_Status, MPI_ERROR)
#define MPI_LAYOUT(name, ...) expect((name) == (COLUMN(__VA_ARGS__)), #name);
#include "interpose/abi/mpi_values.def"
#define MPI_TYPE(name, openmpi, mpich, standard, dtype)                                            \
	expect(number(MPI_##name) == ADDRESS_OF(openmpi, mpich, standard), #name);
#include "interpose/abi/mpi_types.def"
#define MPI_REDOP(name, openmpi, mpich, standard, redop)                                           \
	expect(number(MPI_##name) == ADDRESS_OF(openmpi, mpich, standard), #name);
#include "interpose/abi/mpi_redops.def"
	expect(sizeof(MPI_Count) == sizeof(ct_mpi_count), "MPI_Count");
	expect(sizeof(MPI_Aint) == sizeof(ct_mpi_aint), "MPI_Aint");
	expect(sizeof(MPI_Request) == handle_bytes && sizeof(MPI_Datatype) == handle_bytes &&
		       sizeof(MPI_Op) == handle_bytes && sizeof(MPI_Win) == handle_bytes &&
		       sizeof(MPI_Message) == handle_bytes && sizeof(MPI_Group) == handle_bytes,
	       "the width of a handle");
	expect(MPI_SUCCESS == CT_MPI_SUCCESS, "MPI_SUCCESS");
	/* what a wrapper without a function returns */
	expect(16 == MPI_ERR_OTHER || 16 == MPI_ERR_INTERN, "CT_MPI_ABSENT");
}

/* One argument of ours for one of theirs: pointers for pointers, integers of the same width, a handle for a handle. */
template <class Ours, class Theirs> constexpr bool fits()
{
	return std::is_pointer<Theirs>::value && (is_pointer || std::is_pointer<Ours>::value)
		       ? sizeof(Ours) == sizeof(void *) && !std::is_same<Ours, ct_mpi_count>::value
	       : std::is_same<Ours, ct_mpi_handle>::value
		       ? !is_pointer && sizeof(Theirs) == 4
		       : sizeof(Ours) == sizeof(Theirs) && !std::is_pointer<Ours>::value;
}

template <class... Ours, class... Theirs>
std::enable_if_t<sizeof...(Ours) == sizeof...(Theirs)> compare(int (*)(Ours...), int (*)(Theirs...),
							       const char *name)
{
	const bool all[] = { true, fits<Ours, Theirs>()... };

	for (bool one : all)
		expect(one, name);
}

template <class... Ours, class... Theirs>
std::enable_if_t<sizeof...(Ours) != sizeof...(Theirs)> compare(int (*)(Ours...), int (*)(Theirs...),
							       const char *name)
{
	expect(false, name);
}

int n_declared;
template <class... Ours, class... Theirs>
void judge(int (*ours)(Ours...), int (*theirs)(Theirs...), const char *name, int)
{
	n_declared++;
	compare(ours, theirs, name);
}
struct absent {
};
/* Chosen where there is no other: the header has no such function. */
template <class... Ours> void judge(int (*)(Ours...), absent (*)(absent), const char *, long)
{
}
} // namespace

#define MPI_FUNCTION(name, params, args)                                                           \
	typedef int our_##name params;                                                             \
	inline absent MPI_##name(absent)                                                           \
	{                                                                                          \
		return {};                                                                         \
	}
#include "interpose/abi/mpi_functions.def"

int main()
{
	check_values();
#define MPI_FUNCTION(name, params, args) judge((our_##name *)nullptr, MPI_##name, #name, 0);
#include "interpose/abi/mpi_functions.def"
	std::printf("%d functions are declared, %d things differ\n", n_declared, wrong);
	return wrong != 0 || n_declared < 100;
}
