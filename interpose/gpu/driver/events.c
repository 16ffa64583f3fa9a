/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/driver/events.h"

int ct_gpu_events_take(struct ct_gpu_events *pool, CUevent *start, CUevent *end)
{
	uint64_t at = atomic_load_explicit(&pool->taken, memory_order_relaxed);
	uint64_t n = start ? 2 : 1;

	do {
		/* acquire: pairs with the release in give(), the events of the ring up to there are
		 * in it */
		if (atomic_load_explicit(&pool->given, memory_order_acquire) - at < n)
			return 0;
		if (start)
			*start = atomic_load_explicit(&pool->events[at % CT_GPU_EVENTS],
						      memory_order_relaxed);
		*end = atomic_load_explicit(&pool->events[(at + n - 1) % CT_GPU_EVENTS],
					    memory_order_relaxed);
		/* a slot is filled anew only after `taken` has passed it: if that has not moved,
		 * these are the ones */
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->taken, &at, at + n, memory_order_acq_rel, memory_order_relaxed));
	return 1;
}

int ct_gpu_event_take(struct ct_gpu_events *pool, CUevent *event)
{
	uint64_t at = atomic_load_explicit(&pool->taken, memory_order_relaxed);

	/* as above */
	do {
		if (atomic_load_explicit(&pool->given, memory_order_acquire) - at < 1)
			return 0;
		*event = atomic_load_explicit(&pool->events[at % CT_GPU_EVENTS],
					      memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->taken, &at, at + 1, memory_order_acq_rel, memory_order_relaxed));
	return 1;
}

CUresult ct_gpu_event_make(struct ct_gpu_events *pool, const struct ct_cuda *cuda,
			   unsigned int flags)
{
	CUevent event;
	CUresult result = cuda->event_create(&event, flags);

	if (result != CUDA_SUCCESS)
		return result;
	pool->made++;
	ct_gpu_events_give(pool, event);
	return CUDA_SUCCESS;
}

void ct_gpu_events_give(struct ct_gpu_events *pool, CUevent event)
{
	uint64_t at = atomic_load_explicit(&pool->given, memory_order_relaxed);

	atomic_store_explicit(&pool->events[at % CT_GPU_EVENTS], event, memory_order_relaxed);
	atomic_store_explicit(&pool->given, at + 1, memory_order_release);
}

uint32_t ct_gpu_events_ready(struct ct_gpu_events *pool)
{
	return (uint32_t)(atomic_load_explicit(&pool->given, memory_order_relaxed) -
			  atomic_load_explicit(&pool->taken, memory_order_acquire));
}
