/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/flavour.h"

#include <dlfcn.h>
#include <stddef.h>

#include "interpose/dlsym_real.h"
#include "interpose/environ/environ.h"
#include "interpose/real.h"
#include "trace/ops.h"

/* size: more than the longest there is: MPICH's MPI_MAX_LIBRARY_VERSION_STRING is 8192. */
#define VERSION_TEXT 8448

struct ct_mpi ct_mpi __attribute__((aligned(4096)));
struct ct_mpi_slot ct_mpi_types[CT_MPI_SLOTS];
struct ct_mpi_slot ct_mpi_redops[CT_MPI_SLOTS];

/* Where MPI may be when the caller's own scope does not have it. */
const char *const ct_mpi_sonames[] = { "libmpi.so.40",	  "libmpi.so.12", "libmpich.so.12",
				       "libmpi_abi.so.0", "libmpi.so",	  NULL };

static void *find_function(const char *symbol, const void *caller)
{
	struct ct_real real = { .symbol = symbol, .names = ct_mpi_sonames };

	return ct_real_slow(&real, caller);
}

int ct_mpi_find_helpers(const void *caller)
{
#define MPI_HELPER(name, params)                                                                   \
	ct_mpi.call.name = (int(*) params)find_function("PMPI_" #name, caller);                    \
	if (!ct_mpi.call.name)                                                                     \
		return 0;
#define MPI_HELPER_OPTIONAL(name, params)                                                          \
	ct_mpi.call.name = (int(*) params)find_function("PMPI_" #name, caller);
#include "interpose/abi/mpi_helpers.def"
	return 1;
}

/* The address of a datum of Open MPI. Where the program itself refers to it, the program has it and
 * the library's own is dead (copy relocations), so the global scope is asked first; a library that
 * Python loaded is not in that. */
static uintptr_t datum(const char *symbol)
{
	struct ct_real real = { .symbol = symbol };
	void *found = ct_dlsym(RTLD_DEFAULT, symbol);

	if (!found)
		found = ct_real_slow(&real, (const void *)(uintptr_t)ct_mpi.call.Initialized);
	return (uintptr_t)found;
}

enum ct_mpi_flavour ct_mpi_flavour_of(const char *text, int abi_major, int has_openmpi_data)
{
	static const char *const mpich[] = { "MPICH", "Intel(R) MPI", "MVAPICH" };

	if (abi_major >= 1)
		return CT_MPI_STANDARD;
	for (size_t i = 0; i < sizeof(mpich) / sizeof(mpich[0]); i++)
		if (strstr(text, mpich[i]))
			return CT_MPI_MPICH;
	return has_openmpi_data ? CT_MPI_OPENMPI : CT_MPI_UNKNOWN;
}

/* A table of three columns, or the address that the first one names. */
static uintptr_t pick_handle(const char *openmpi, uintptr_t mpich, uintptr_t standard)
{
	if (ct_mpi.flavour == CT_MPI_OPENMPI)
		return datum(openmpi);
	return ct_mpi.flavour == CT_MPI_MPICH ? mpich : standard;
}

static void take_values(void)
{
	enum ct_mpi_flavour f = ct_mpi.flavour;

#define PICK(openmpi, mpich, standard)                                                             \
	(f == CT_MPI_OPENMPI ? (openmpi) : f == CT_MPI_MPICH ? (mpich) : (standard))
#define MPI_VALUE(name, ...) ct_mpi.is.name = PICK(__VA_ARGS__);
#define MPI_ADDRESS(name, openmpi, mpich, standard)                                                \
	ct_mpi.is.name = PICK((uintptr_t)(openmpi), (uintptr_t)(mpich), (uintptr_t)(standard));
#define MPI_LAYOUT(name, ...) ct_mpi.is.name = PICK(__VA_ARGS__);
#define MPI_HANDLE(name, openmpi, mpich, standard)                                                 \
	ct_mpi.is.name = pick_handle(#openmpi, mpich, standard);
#include "interpose/abi/mpi_values.def"
	ct_mpi.mask = ct_mpi.is.handle_bytes == 8 ? UINTPTR_MAX : UINT32_MAX;
}

static struct ct_mpi_slot *find_slot(struct ct_mpi_slot *slots, uint64_t key)
{
	uint32_t at = ct_mpi_slot_of(key);

	while (slots[at].key && slots[at].key != key)
		at = (at + 1) % CT_MPI_SLOTS;
	return &slots[at];
}

/* The first of several names of a handle stays. Half the slots are free. */
static void add_handle(struct ct_mpi_slot *slots, uintptr_t handle, uint8_t id, uint64_t bytes)
{
	uint64_t key = (uint64_t)(uintptr_t)ct_mpi_key(handle);
	struct ct_mpi_slot *p = find_slot(slots, key);

	if (!p->key)
		*p = (struct ct_mpi_slot){ .key = key, .id = id, .bytes = (uint8_t)bytes };
}

static uint64_t size_of(ct_mpi_handle type)
{
	ct_mpi_count wide = 0;
	int bytes = 0, status;

	if (ct_mpi_is(type, ct_mpi.is.DATATYPE_NULL))
		return 0;
	if (ct_mpi.call.Type_size_x) {
		status = ct_mpi.call.Type_size_x(type, &wide);
	} else {
		status = ct_mpi.call.Type_size(type, &bytes);
		wide = bytes;
	}
	return status == CT_MPI_SUCCESS && wide > 0 ? (uint64_t)wide : 0;
}

/* A type that this build of the library lacks has no size, or stands for the null handle. */
static void add_type(uintptr_t type, uint8_t dtype)
{
	uint64_t bytes = type ? size_of(type) : 0;

	if (!bytes || bytes > UINT8_MAX)
		return;
	if (!dtype || ct_dtype_bytes(dtype) != bytes)
		dtype = ct_dtype_of_width(bytes);
	add_handle(ct_mpi_types, type, dtype, bytes);
}

static void take_tables(void)
{
	enum { CT_DTYPE_width = 0 };

	memset(ct_mpi_types, 0, sizeof(ct_mpi_types));
	memset(ct_mpi_redops, 0, sizeof(ct_mpi_redops));
#define MPI_TYPE(name, openmpi, mpich, standard, dtype)                                            \
	add_type(pick_handle(#openmpi, mpich, standard), CT_DTYPE_##dtype);
#include "interpose/abi/mpi_types.def"
#define MPI_REDOP(name, openmpi, mpich, standard, redop)                                           \
	add_handle(ct_mpi_redops, pick_handle(#openmpi, mpich, standard), CT_REDOP_##redop, 0);
#include "interpose/abi/mpi_redops.def"
}

/* Its name in the start record, NULL: unknown. */
static const char *name_of(enum ct_mpi_flavour flavour)
{
	switch (flavour) {
	case CT_MPI_OPENMPI:
		return "openmpi";
	case CT_MPI_MPICH:
		return "mpich";
	case CT_MPI_STANDARD:
		return "standard";
	case CT_MPI_UNKNOWN:
		break;
	}
	return NULL;
}

enum ct_mpi_flavour ct_mpi_find_flavour(void)
{
	char text[VERSION_TEXT];
	int len = 0, major = 0, minor = 0;

	memset(text, 0, sizeof(text));
	ct_mpi.call.Get_library_version(text, &len);
	text[sizeof(text) - 1] = '\0';
	if (ct_mpi.call.Abi_get_version && ct_mpi.call.Abi_get_version(&major, &minor))
		major = 0;
	ct_mpi.flavour = ct_mpi_flavour_of(text, major, datum("ompi_mpi_comm_world") != 0);
	ct_environ_mpi(name_of(ct_mpi.flavour), text,
		       (const void *)(uintptr_t)ct_mpi.call.Initialized);
	if (ct_mpi.flavour != CT_MPI_UNKNOWN) {
		take_values();
		take_tables();
	}
	return ct_mpi.flavour;
}

struct ct_mpi_element ct_mpi_element_slow(ct_mpi_handle type)
{
	const struct ct_mpi_slot *p = find_slot(ct_mpi_types,
						(uint64_t)(uintptr_t)ct_mpi_key(type));

	if (p->key)
		return (struct ct_mpi_element){ p->id, p->bytes };
	return (struct ct_mpi_element){ CT_DTYPE_elem1, size_of(type) };
}

uint8_t ct_mpi_redop_slow(ct_mpi_handle redop)
{
	const struct ct_mpi_slot *p = find_slot(ct_mpi_redops,
						(uint64_t)(uintptr_t)ct_mpi_key(redop));

	return p->key ? p->id : CT_REDOP_custom;
}
