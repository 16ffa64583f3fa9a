/* SPDX-License-Identifier: Apache-2.0 */
/* poll_state.h — what others know of the poll thread (poll.h): whether it is up, whether it is held
 * in the driver, and whether CUDA was given up; and how to wake it. Words that are stored and
 * loaded alone: relaxed, nothing else hangs on them. */
#ifndef CT_INTERPOSE_GPU_POLL_STATE_H
#define CT_INTERPOSE_GPU_POLL_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/gpu/choice/unusual.h"
#include "interpose/recorder.h"

/* Not up, not inside, not given up. Before the gate opens. */
void ct_poll_state_init(void);

/* It was started and CUDA was not given up. */
static inline int ct_poll_is_up(void)
{
	return !ct_gpu_is_unusual(CT_GPU_NO_POLL);
}

/* Since when (ct_now_ns) the poll thread is inside CUDA and has not come back; 0: it is not. It
 * keeps it. */
extern _Atomic uint64_t ct_poll_inside_ns CT_NEAR;
static inline void ct_poll_inside(uint64_t now_ns)
{
	atomic_store_explicit(&ct_poll_inside_ns, now_ns, memory_order_relaxed);
}

/* 0: it is not inside, so that the driver is not held. */
static inline uint64_t ct_poll_inside_since(void)
{
	return atomic_load_explicit(&ct_poll_inside_ns, memory_order_relaxed);
}

/* The driver is held: the poll thread has waited there for so long that no thread of the program
 * may follow it, since the program's own call may need no driver at all. Any thread. */
#define CT_POLL_HELD_NS 200000000u /* size: calls of the poll thread take microseconds */
static inline int ct_poll_is_held(void)
{
	uint64_t since_ns = ct_poll_inside_since();

	return __builtin_expect(since_ns != 0, 0) && ct_now_ns() - since_ns > CT_POLL_HELD_NS;
}

/* Look now. Costs a system call. Any thread. */
void ct_poll_wake(void);

/* What the thread shall do: a futex, that it sleeps on. Its own, and of the thread that ends it. */
enum { CT_POLL_NOTHING, CT_POLL_LOOK, CT_POLL_FINISH };
extern _Atomic uint32_t ct_poll_wanted CT_NEAR;

/* CUDA is not used any more. Any thread. */
void ct_poll_give_up(void);
extern _Atomic uint32_t ct_poll_given_up CT_NEAR;
static inline int ct_poll_gave_up(void)
{
	return (int)atomic_load_explicit(&ct_poll_given_up, memory_order_relaxed);
}

#endif
