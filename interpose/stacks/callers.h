/* SPDX-License-Identifier: Apache-2.0 */
/* callers.h — the threads that have called anything that is recorded, and where they are in it.
 *
 * A thread enters itself once, when it gets its block, and leaves when it ends: nothing of it is on
 * the call path. Others read its block through the kernel, since it may be gone at any moment.
 * Nothing survives the process. */
#ifndef CT_INTERPOSE_STACKS_CALLERS_H
#define CT_INTERPOSE_STACKS_CALLERS_H

#include <stdint.h>

#define CT_CALLERS 512u /* size: threads at once; more are not known, and seldom communicate */

/* Forgets all processes: recording starts, no other thread is in it. */
void ct_callers_reset(void);

/* The calling thread has a block now, or gives it up. */
void ct_callers_join(void);
void ct_callers_leave(void);

struct ct_caller {
	uint32_t tid;
	uint16_t depth;	   /* 1 inside a recorded call */
	uintptr_t wrapper; /* its address on the stack, 0 outside, or not yet known */
	uint64_t progress; /* another number whenever it has recorded anything */
};

/* Those that live, at most `room`; how many. One thread; waits for nothing. */
uint32_t ct_callers_read(struct ct_caller *callers, uint32_t room);

#endif
