/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h — what the threads of this process were doing during a stall: STACK records.
 *
 * A thread of its own watches and looks, since the kernel and file systems may not answer, and may
 * be what the program, or our write thread, is stuck in. What it finds is in the ring at once; the
 * write thread copies it into blocks. No signal is sent, no lock of the program or the loader is
 * taken, its allocator is not used, and memory is read by ct_peek(). Looks grow rarer with the
 * length of a standstill, and their number is bounded. */
#ifndef CT_INTERPOSE_STACKS_STACKS_H
#define CT_INTERPOSE_STACKS_STACKS_H

#include <stdint.h>

#include "trace/block.h"

struct ct_stacks_options {
	uint64_t hang_after_ns;
	int is_on;
	int with_python;
};

/* Forget everything, also what a parent process knew. Before there are threads. */
void ct_stacks_reset(const struct ct_stacks_options *options);

/* Watches from now on, if it is switched on. 0, or -1: no thread can be created. */
int ct_stacks_start(void);

/* 1: there is something new for a block, which should be written at once. The write thread. */
int ct_stacks_serve(void);

/* Add what is new since *seen to a block; with `all`, the latest look once more. The write thread.
 * 0 or CT_NOMEM. */
int ct_stacks_add(uint32_t *seen, struct ct_block *block, int all);

#endif
