/* SPDX-License-Identifier: Apache-2.0 */
/* MPI's extensions for faults. They may wait for the members that are left. */
#include "interpose/mpi/comm.h"

struct around {
	struct ct_host_frame host;
	uint64_t parent;
};

/* The string id of a call's name; `known` remembers it with the gate word of the recording that has
 * it. */
static uint32_t call_id(_Atomic uint64_t *known, const char *name)
{
	uint64_t gate = (uint64_t)ct_guard_gate() << 32;
	uint64_t word = atomic_load_explicit(known, memory_order_relaxed);

	if ((word ^ gate) >> 32) {
		word = gate | ct_ring_string(&ct_recorder.ring, name);
		atomic_store_explicit(known, word, memory_order_relaxed);
	}
	return (uint32_t)word;
}

static void begin_call(struct around *a, uint32_t call, ct_mpi_handle comm)
{
	struct ct_traced_comm *known = ct_mpi_comm(comm);

	a->host.rec = ct_host_rec_of(call, known);
	a->parent = known ? known->key : 0;
	ct_host_begin(&a->host);
}

static int end(struct around *a, int result, const void *made)
{
	if (made && result == CT_MPI_SUCCESS)
		ct_mpi_comm_made(made, a->parent, NULL);
	ct_mpi_end_host(&a->host, result);
	return result;
}

#define WRAPPER(symbol_, prefix, name, params, args, made, kind)                                   \
	typedef int prefix##_##name##_fn params;                                                   \
	CT_EXPORT int ct_##prefix##x_##name params __asm__(symbol_);                               \
	static struct ct_real real_##prefix##_##name = {                                           \
		.symbol = symbol_,                                                                 \
		.self = (const void *)&ct_##prefix##x_##name,                                      \
		.names = ct_mpi_sonames,                                                           \
	};                                                                                         \
                                                                                                   \
	static CT_UNWIND_WHOLE int record_##prefix##_##name(CT_MPI_LIST params,                    \
							    prefix##_##name##_fn *real)            \
	{                                                                                          \
		static _Atomic uint64_t known;                                                     \
		struct around a;                                                                   \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_call(&a, call_id(&known, "MPIX_" #name), comm);                              \
		return end(&a, real args, made);                                                   \
	}                                                                                          \
                                                                                                   \
	int ct_##prefix##x_##name params                                                           \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		prefix##_##name##_fn *next = (prefix##_##name##_fn *)ct_real_find(                 \
			&real_##prefix##_##name, caller);                                          \
                                                                                                   \
		if (!next)                                                                         \
			return CT_MPI_ABSENT;                                                      \
		if (!ct_mpi_enter(kind, caller))                                                   \
			return next args;                                                          \
		return record_##prefix##_##name CT_MPI_WITH(args, next);                           \
	}

#define MPIX_CALL_SHRINK(symbol, prefix, name, params, args)                                       \
	WRAPPER(symbol, prefix, name, params, args, newcomm, CT_CALL_CREATE)
#define MPIX_CALL_ABOUT(symbol, prefix, name, params, args)                                        \
	WRAPPER(symbol, prefix, name, params, args, NULL, CT_CALL_DATA)
#include "interpose/abi/mpix_calls.def"
