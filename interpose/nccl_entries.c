/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/entries.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include "interpose/nccl.h"

/* A call and not a jump: the wrapper is told by its return address. */
#define ENTRY(n, name, params, args)                                                               \
	static __attribute__((section("ct_entries_" #n), noinline))                                \
	ncclResult_t entry##n##_##name params                                                      \
	{                                                                                          \
		ncclResult_t result = ct_##name args;                                              \
                                                                                                   \
		__asm__ volatile("");                                                              \
		return result;                                                                     \
	}
#define ENTRIES(name, params, args)                                                                \
	ENTRY(0, name, params, args)                                                               \
	ENTRY(1, name, params, args)                                                               \
	ENTRY(2, name, params, args)                                                               \
	ENTRY(3, name, params, args)
_Static_assert(CT_ENTRY_COPIES == 4, "as many as are made here");
#define NCCL_CALL(symbol, name, since, op, params, args, ...) ENTRIES(name, params, args)
#define NCCL_CALL_HOST(symbol, name, since, params, args) ENTRIES(name, params, args)
#define NCCL_CALL_HAND(symbol, name, since, params, args) ENTRIES(name, params, args)
#include "interpose/abi/nccl_calls.def"

#define ROW(name)                                                                                  \
	{ (void *)&entry0_##name, (void *)&entry1_##name, (void *)&entry2_##name,                  \
	  (void *)&entry3_##name },
static void *const entries[CT_NCCL_CALLS][CT_ENTRY_COPIES] = {
#define NCCL_CALL(symbol, name, ...) ROW(name)
#define NCCL_CALL_HOST(symbol, name, ...) ROW(name)
#define NCCL_CALL_HAND(symbol, name, ...) ROW(name)
#include "interpose/abi/nccl_calls.def"
};

/* The linker's names for the ends of a section. */
#define SECTION(n)                                                                                 \
	extern const char __start_ct_entries_##n[],                                                \
		__stop_ct_entries_##n[] __attribute__((visibility("hidden")));
SECTION(0)
SECTION(1)
SECTION(2)
SECTION(3)

static const struct {
	const char *begin, *end;
} sections[CT_ENTRY_COPIES] = {
#define ENDS(n)                                                                                    \
	{                                                                                          \
		__start_ct_entries_##n, __stop_ct_entries_##n                                      \
	}
	ENDS(0), ENDS(1), ENDS(2), ENDS(3)
};

int ct_entry_copy(const void *address)
{
	for (int i = 0; i < CT_ENTRY_COPIES; i++)
		if ((uintptr_t)address - (uintptr_t)sections[i].begin <
		    (uintptr_t)(sections[i].end - sections[i].begin))
			return i;
	return -1;
}

/* Where the objects that have entries begin, in the order in which they came; 0: free. */
static _Atomic uintptr_t copies[CT_ENTRY_COPIES];

/* The place of the object that `function` lies in, -1: there is none left. Who takes a place keeps the object. */
static int place_of(const void *function)
{
	uintptr_t object = ct_real_object(function);

	for (int i = 0; i < CT_ENTRY_COPIES && object; i++) {
		uintptr_t there = 0;

		if (atomic_compare_exchange_strong(&copies[i], &there, object)) {
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
	int saved = errno, copy = place_of(function);

	errno = saved;
	if (copy < 0)
		return NULL;
	/* (another function than before: what lay at this address was unloaded after all) */
	atomic_store_explicit(&real->copies[copy], function, memory_order_release);
	return entries[real - ct_nccl_reals][copy];
}
