/* SPDX-License-Identifier: Apache-2.0 */
/* events.h — a context's events that are ready for use: timed ones, or, where only ends are timed,
 * untimed ones.
 *
 * A pool is filled by one thread at a time. The first events of a context are made by the call that
 * makes a communicator there (event_prealloc.h), in a pool of their own; the poll thread makes
 * more, and gives used ones back, all to its own pool. Any thread takes them, without waiting or
 * creating. A thread that took events gives them to the poll thread with their span. They are never
 * destroyed: at the end of the process the driver may be gone already.
 */
#ifndef CT_INTERPOSE_GPU_DRIVER_EVENTS_H
#define CT_INTERPOSE_GPU_DRIVER_EVENTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/gpu/driver/cuda.h"

/* size: as many as two for each entry of the largest open table. */
#define CT_GPU_EVENTS 2048u

/* size: of these the first ones: the launches of some steps, during which a busy machine may leave
 * the poll thread without a processor. */
#define CT_GPU_FIRST_EVENTS 256u

struct ct_gpu_events {
	_Atomic uint64_t taken; /* takers, compare-and-swap */
	_Atomic uint64_t given; /* the filling thread's */
	uint32_t made;		/* the filling thread's: how many were made for it */
	_Atomic(CUevent) events[CT_GPU_EVENTS];
};

/* Two at once; only one if `start` is NULL. 0: there are not so many. Any thread. */
int ct_gpu_events_take(struct ct_gpu_events *pool, CUevent *start, CUevent *end);

/* One. 0: there is none. Any thread. */
int ct_gpu_event_take(struct ct_gpu_events *pool, CUevent *event);

/* One more, in the context of the pool, which is current. The filling thread; not on the call path.
 */
CUresult ct_gpu_event_make(struct ct_gpu_events *pool, const struct ct_cuda *cuda,
			   unsigned int flags);

/* The filling thread. Of both pools together never more than CT_GPU_EVENTS are made, so there is
 * always space. */
void ct_gpu_events_give(struct ct_gpu_events *pool, CUevent event);

/* Ready for use; others may take some meanwhile. */
uint32_t ct_gpu_events_ready(struct ct_gpu_events *pool);

#endif
