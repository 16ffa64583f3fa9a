/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h — the functions that dlsym returns: for each copy of NCCL or CUDA in the process,
 * functions that call the wrappers. The wrappers recognize them as callers of that copy.
 *
 * A pointer that a program looked up means one copy, regardless of the calling object. With a
 * second copy (torch's own, and the one that VLLM_NCCL_SO_PATH names) the calling object does not
 * show which. So each of the first CT_ENTRY_COPIES objects with a function that was looked up, of
 * NCCL and of CUDA each, gets entries of its own, generated from abi/nccl_calls.def and
 * abi/cudart_calls.def; the code of each copy's entries is one section, and real.c knows the copy
 * by the return address. Further copies are left alone: the program gets the function itself, and
 * its calls are not recorded. An object that has entries is never unloaded. Any thread, also in a
 * signal handler but for ct_entry_for(), which takes the loader's lock.
 */
#ifndef CT_INTERPOSE_ENTRIES_H
#define CT_INTERPOSE_ENTRIES_H

#include <stdint.h>

#include "interpose/guard.h"

#define CT_ENTRY_COPIES 4 /* size: two are seen; each one more is a copy of all entries */

struct ct_real;

/* The copy to whose entries the address belongs, -1: none. */
int ct_entry_copy(const void *address);

/* The linker's names for the ends of the first and the last copy's entries. It puts the sections one
 * after the other, from the first on or from the last; ct_entry_copy() does not count on that. */
extern const char __start_ct_entries_0[],
	__stop_ct_entries_0[] __attribute__((visibility("hidden")));
extern const char __start_ct_entries_3[],
	__stop_ct_entries_3[] __attribute__((visibility("hidden")));

/* A wrapper is called, and what it returns to is `caller`: the thread's block gets that, or if that
 * is an entry, keeps what the entry returns to. */
static inline __attribute__((always_inline)) void ct_entry_called_from(const void *caller)
{
	uintptr_t first = (uintptr_t)__start_ct_entries_0, last = (uintptr_t)__start_ct_entries_3;
	uintptr_t begin = first < last ? first : last;
	uintptr_t end = first < last ? (uintptr_t)__stop_ct_entries_3
				     : (uintptr_t)__stop_ct_entries_0;

	if (__builtin_expect((uintptr_t)caller - begin >= end - begin, 1))
		ct_self.caller = caller;
}

/* The entry of wrapper `real` for the copy that `function` is in. NULL: no space for another copy,
 * or it is the function of a preload before us, which calls us by itself. */
void *ct_entry_for(struct ct_real *real, void *function);

#endif
