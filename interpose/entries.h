/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h — what dlsym answers with: for each copy of NCCL or CUDA in the process, functions that call the wrappers and are
 * known to them as callers of just that copy.
 *
 * A pointer that a program looked up means one copy, whoever calls through it, and with a second copy (torch's own, and
 * the one that VLLM_NCCL_SO_PATH names) the object that calls does not tell which. So each of the first CT_ENTRY_COPIES
 * objects in which an answer lies, of NCCL and of CUDA each, gets entries of its own, generated from abi/nccl_calls.def and
 * abi/cudart_calls.def; the code of each copy's entries is one section, and real.c knows the copy by the return address. A copy too many is left alone: the program
 * gets the function itself, and its calls are not recorded. An object that has entries is never unloaded.
 * Any thread, also in a signal handler but for ct_entry_for(), which takes the loader's lock.
 */
#ifndef CT_ENTRIES_H
#define CT_ENTRIES_H

#define CT_ENTRY_COPIES 4

struct ct_real;

/* The copy whose entries the address lies in, -1: in none. */
int ct_entry_copy(const void *address);

/* The entry of wrapper `real` for the copy that `function` lies in. NULL: there is no room for another copy, or the function
 * is that of a preload before us, which calls us by itself. */
void *ct_entry_for(struct ct_real *real, void *function);

#endif
