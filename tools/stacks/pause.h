/* SPDX-License-Identifier: Apache-2.0 */
/* pause.h — a thread of another process is paused for as long as its registers, its stack and its
 * frames of Python are copied: at most CT_PAUSE_NS, and the time for which this program waits for a
 * core. Everything else is done from the copies.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent. Each thread is traced by a thread of ours
 * that ends right after: however that ends, also by SIGKILL of the program, the kernel lets go of
 * what it traced, and it goes on. Threads that an interruption would disturb are read without a
 * pause: those in system calls that return EINTR afterwards, and those in uninterruptible sleep.
 * One thread. */
#ifndef CT_TOOLS_STACKS_PAUSE_H
#define CT_TOOLS_STACKS_PAUSE_H

#include "tools/stacks/target.h"

/* size: copying ends then, and the thread goes on with what there is. A stack takes about 0.1 ms */
#define CT_PAUSE_NS 8000000u

/* size: of a stack that is copied, from its inner end on; what lies beyond is not known */
#define CT_STACK_COPIED (512u << 10)

/* Called while the thread is paused, or does not move, with its registers known; pages->until_ns
 * limits it. */
struct ct_pause_visit {
	void (*visit)(void *arg, struct ct_stack_sample *sample, struct ct_pages *pages);
	void *arg;
};

/* Copy one thread: registers, copies and paused_ns of the sample, else not_taken; also the stack
 * around sample->lacked, if set. 0, or the errno of a refused PTRACE_SEIZE. */
int ct_pause_take(struct ct_target *target, struct ct_stack_sample *sample,
		  const struct ct_pause_visit *visit);

#endif
