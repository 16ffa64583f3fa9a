/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h — how many events of ours are on their way on a stream, and whether there is space for
 * more.
 *
 * A hardware queue holds some 1024 entries: a thread that finds it full blocks inside the driver,
 * and with it all threads that call the driver. Three quarters are the program's, however far its
 * host is ahead. A thread that puts events on a stream checks before and counts after; the poll
 * thread counts those that are over.
 */
#ifndef CT_INTERPOSE_GPU_QUEUE_H
#define CT_INTERPOSE_GPU_QUEUE_H

#include "interpose/gpu/streams.h"

/* size: of launches and of waits, on their way on one stream: a quarter of a hardware queue. */
#define CT_GPU_QUEUE_MOST 256u

/* Too few for a while if some were not counted, see ct_gpu_queue_add(). Below 0 never. */
static inline int32_t ct_gpu_queue_events(struct ct_gpu_stream *stream)
{
	uint32_t over = atomic_load_explicit(&stream->over, memory_order_relaxed);

	return (int32_t)(atomic_load_explicit(&stream->begun, memory_order_relaxed) - over);
}

/* As many as may be are on their way as far as the poll thread has looked, which may have had no
 * core for a while: asks the driver. The context of the stream is current. */
int ct_gpu_queue_is_reached(const struct ct_cuda *cuda, struct ct_gpu_stream *stream);

/* There is space, as far as the poll thread has looked. */
static inline int ct_gpu_queue_is_roomy(struct ct_gpu_stream *stream)
{
	return __builtin_expect(ct_gpu_queue_events(stream) < (int32_t)CT_GPU_QUEUE_MOST, 1);
}

static inline int ct_gpu_queue_has_room(const struct ct_cuda *cuda, struct ct_gpu_stream *stream)
{
	return ct_gpu_queue_is_roomy(stream) || ct_gpu_queue_is_reached(cuda, stream);
}

/* `n` more, the last of them `event`. Threads that use one stream at once may count too few. */
static inline void ct_gpu_queue_add(struct ct_gpu_stream *stream, uint32_t n, CUevent event)
{
	uint32_t before = atomic_load_explicit(&stream->begun, memory_order_relaxed);

	n += before;
	atomic_store_explicit(&stream->begun, n, memory_order_relaxed);
	if (__builtin_expect(n / (CT_GPU_QUEUE_MOST / 2) == before / (CT_GPU_QUEUE_MOST / 2), 1))
		return;
	atomic_store_explicit(&stream->marks[1],
			      atomic_load_explicit(&stream->marks[0], memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&stream->marks[0], event, memory_order_relaxed);
}

/* The poll thread. */
static inline void ct_gpu_queue_over(struct ct_gpu_stream *stream, uint32_t n)
{
	uint32_t begun = atomic_load_explicit(&stream->begun, memory_order_relaxed);
	uint32_t over = atomic_load_explicit(&stream->over, memory_order_relaxed) + n;

	/* more than were counted: those that were not must not add up to space for as many, again
	 * and again */
	if ((int32_t)(begun - over) < 0)
		over = begun;
	atomic_store_explicit(&stream->over, over, memory_order_relaxed);
}

#endif
