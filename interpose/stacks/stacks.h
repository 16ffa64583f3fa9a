/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h — what the threads of this process were doing while something stood still: STACK records.
 *
 * The write thread watches (ct_stacks_serve), and copies what was found into blocks. Looking itself is done by a thread that
 * it starts for each look, since the kernel and file systems may not answer; where no thread may be started any more, the
 * write thread looks itself. No signal is sent, no lock of the program or the loader is taken, nothing is asked of its
 * allocator, memory is read by ct_peek(). Looks grow rarer with the length of a standstill, and their number is bounded. */
#ifndef CT_STACKS_STACKS_H
#define CT_STACKS_STACKS_H

#include <stdint.h>

#include "trace/block.h"

struct ct_stacks_options {
	uint64_t hang_after_ns;
	int is_on;
	int with_python;
};

/* Forget everything, also what a parent process knew. Before there are threads. */
void ct_stacks_reset(const struct ct_stacks_options *options);

/* Look whether anything stands still, about once a second. 1: there is something new for a block, which should be written at once.
 * The write thread. */
int ct_stacks_serve(uint64_t now_ns);

/* From now on no thread is started. Any thread. */
void ct_stacks_alone(void);

/* Add what is new since *seen to a block; with `all`, the latest look once more. The write thread. 0 or CT_NOMEM. */
int ct_stacks_add(uint32_t *seen, struct ct_block *block, int all);

/* CPU time of all looks. Any thread. */
uint64_t ct_stacks_cpu_ns(void);

#endif
