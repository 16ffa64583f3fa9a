/* SPDX-License-Identifier: Apache-2.0 */
/* unusual.h — what keeps launches of this process from being timed by events one as the other, in
 * one word: nearly every launch finds it 0 (plain.h). Each bit belongs to one file, and nothing
 * else hangs on it: relaxed. Any thread. */
#ifndef CT_INTERPOSE_GPU_CHOICE_UNUSUAL_H
#define CT_INTERPOSE_GPU_CHOICE_UNUSUAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"

enum ct_gpu_unusual_bit {
	CT_GPU_NO_EVENTS = 1, /* mode.h: launches have none of ours */
	CT_GPU_SAMPLING = 2,  /* sampling.h: not all are timed */
	CT_GPU_PROBE = 4,     /* poll.h: one launch is to be measured */
	CT_GPU_NO_POLL = 8,   /* poll_state.h: the poll thread is not up */
};
extern _Atomic uint32_t ct_gpu_unusual CT_NEAR;

static inline int ct_gpu_is_unusual(enum ct_gpu_unusual_bit bit)
{
	return (atomic_load_explicit(&ct_gpu_unusual, memory_order_relaxed) & bit) != 0;
}

static inline void ct_gpu_set_unusual(enum ct_gpu_unusual_bit bit, int is_so)
{
	if (is_so)
		atomic_fetch_or_explicit(&ct_gpu_unusual, bit, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&ct_gpu_unusual, ~(uint32_t)bit, memory_order_relaxed);
}

#endif
