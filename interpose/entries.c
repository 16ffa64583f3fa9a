/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/entries.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include "interpose/gpu/runtime/cudart.h"
#include "interpose/nccl/nccl.h"

/* A call and not a jump: the wrapper identifies it by its return address. The program's own return
 * address is noted before. */
#define ENTRY(n, ret, name, params, args)                                                          \
	static __attribute__((section("ct_entries_" #n), noinline)) ret entry##n##_##name params   \
	{                                                                                          \
		ret result;                                                                        \
                                                                                                   \
		ct_self.caller = __builtin_return_address(0);                                      \
		result = ct_##name args;                                                           \
                                                                                                   \
		__asm__ volatile("");                                                              \
		return result;                                                                     \
	}
#define EACH_COPY(X) X(0) X(1) X(2) X(3)
_Static_assert(CT_ENTRY_COPIES == 4, "as many as EACH_COPY has");

#define ENTRIES(ret, name, params, args)                                                           \
	ENTRY(0, ret, name, params, args)                                                          \
	ENTRY(1, ret, name, params, args)                                                          \
	ENTRY(2, ret, name, params, args)                                                          \
	ENTRY(3, ret, name, params, args)
#define NCCL_CALL(symbol, name, since, op, params, args, ...)                                      \
	ENTRIES(ncclResult_t, name, params, args)
#define NCCL_CALL_HOST(symbol, name, since, params, args) ENTRIES(ncclResult_t, name, params, args)
#define NCCL_CALL_HAND(symbol, name, since, params, args) ENTRIES(ncclResult_t, name, params, args)
#include "interpose/abi/nccl_calls.def"
#define CUDART_CALL(symbol, ret, name, params, args, ...) ENTRIES(ret, name, params, args)
#define CUDART_CALL_VOID(symbol, ret, name, ...) ENTRIES(ret, name, (void), ())
#include "interpose/abi/cudart_calls.def"

#define ROW(name)                                                                                  \
	{ (void *)&entry0_##name, (void *)&entry1_##name, (void *)&entry2_##name,                  \
	  (void *)&entry3_##name },
static void *const nccl_entries[CT_NCCL_CALLS][CT_ENTRY_COPIES] = {
#define NCCL_CALL(symbol, name, ...) ROW(name)
#define NCCL_CALL_HOST(symbol, name, ...) ROW(name)
#define NCCL_CALL_HAND(symbol, name, ...) ROW(name)
#include "interpose/abi/nccl_calls.def"
};
static void *const cudart_entries[CT_CUDART_CALLS][CT_ENTRY_COPIES] = {
#define CUDART_CALL(symbol, ret, name, ...) ROW(name)
#define CUDART_CALL_VOID(symbol, ret, name, ...) ROW(name)
#include "interpose/abi/cudart_calls.def"
};

/* The linker's names for the ends of a section. */
#define SECTION(n)                                                                                 \
	extern const char __start_ct_entries_##n[],                                                \
		__stop_ct_entries_##n[] __attribute__((visibility("hidden")));
EACH_COPY(SECTION)

static const struct {
	const char *begin, *end;
} sections[CT_ENTRY_COPIES] = {
#define ENDS(n) { __start_ct_entries_##n, __stop_ct_entries_##n },
	EACH_COPY(ENDS)
};

int ct_entry_copy(const void *address)
{
	for (int i = 0; i < CT_ENTRY_COPIES; i++)
		if ((uintptr_t)address - (uintptr_t)sections[i].begin <
		    (uintptr_t)(sections[i].end - sections[i].begin))
			return i;
	return -1;
}

/* Of one table: where the objects that have entries begin, in the order in which they came; 0:
 * free. */
typedef _Atomic uintptr_t copy_slots[CT_ENTRY_COPIES];
static copy_slots nccl_copies, cuda_copies;

/* The slot of the object that `function` is in, -1: none left. Taking a slot keeps the object
 * loaded. */
static int copy_for(copy_slots *copies, const void *function)
{
	uintptr_t object = ct_real_object(function);

	for (int i = 0; i < CT_ENTRY_COPIES && object; i++) {
		uintptr_t there = 0;

		if (atomic_compare_exchange_strong_explicit(&(*copies)[i], &there, object,
							    memory_order_acq_rel,
							    memory_order_acquire)) {
			ct_real_keep(function);
			return i;
		}
		if (there == object)
			return i;
	}
	return -1;
}

void *ct_entry_for(struct ct_real *real, void *function)
{
	int is_nccl = real >= ct_nccl_reals && real < ct_nccl_reals + CT_NCCL_CALLS;
	int saved = errno, copy = copy_for(is_nccl ? &nccl_copies : &cuda_copies, function);

	errno = saved;
	if (copy < 0)
		return NULL;
	/* (another function than before: what lay at this address was unloaded after all) */
	atomic_store_explicit(&real->copies[copy], function, memory_order_release);
	return is_nccl ? nccl_entries[real - ct_nccl_reals][copy]
		       : cudart_entries[real - ct_cudart_reals][copy];
}
