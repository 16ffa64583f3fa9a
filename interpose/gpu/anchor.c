/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/anchor.h"

#include <stddef.h>
#include <time.h>

#define TRIES 5
#define GIVE_UP_NS 300000u
#define SOON_NS 10000000u
#define PERIOD_NS 1000000000u

uint64_t ct_gpu_raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

CUresult ct_gpu_anchoring_init(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda)
{
	CUresult result = cuda->stream_create(&a->stream, CU_STREAM_NON_BLOCKING);

	for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
		result = cuda->event_create(&a->events[i], CU_EVENT_DEFAULT);
	return result;
}

/* Record one event and spin until it is complete. */
static CUresult try_once(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda, CUevent event,
			 uint64_t *before_ns, uint64_t *after_ns)
{
	CUresult result;

	*before_ns = ct_gpu_raw_ns();
	result = cuda->event_record(event, a->stream);
	a->recorded += result == CUDA_SUCCESS;
	while (result == CUDA_SUCCESS) {
		result = cuda->event_query(event);
		*after_ns = ct_gpu_raw_ns();
		if (result != CUDA_ERROR_NOT_READY || *after_ns - *before_ns > GIVE_UP_NS)
			break;
		result = CUDA_SUCCESS;
	}
	return result;
}

/* Anchors first come 10 ms apart, then at a quarter of the clock's age, then once a second. As long as there is none it
 * is tried again soon, less and less often. */
static void set_due(struct ct_gpu_anchoring *a, uint64_t now)
{
	uint64_t wait = (now - a->first_ns) / 4;

	if (!a->clock.n)
		wait = SOON_NS << (a->failed < 7 ? a->failed++ : 7);
	if (wait < SOON_NS)
		wait = SOON_NS;
	else if (wait > PERIOD_NS)
		wait = PERIOD_NS;
	a->due_ns = now + wait;
}

CUresult ct_gpu_anchor_take(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda)
{
	unsigned best = (a->last + 1) % 3, scratch = (a->last + 2) % 3;
	uint64_t best_before = 0, best_after = UINT64_MAX, before = 0, after = 0;
	CUresult result = CUDA_SUCCESS;
	float ms = 0;

	for (int i = 0; i < TRIES && result == CUDA_SUCCESS; i++) {
		unsigned old = best;

		result = try_once(a, cuda, a->events[scratch], &before, &after);
		if (result != CUDA_SUCCESS || after - before >= best_after - best_before)
			continue;
		best_before = before;
		best_after = after;
		best = scratch;
		scratch = old;
	}
	if (best_after != UINT64_MAX &&
	    (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)) {
		result = a->clock.n ? cuda->event_elapsed(&ms, a->events[a->last], a->events[best])
				    : CUDA_SUCCESS;
		if (result == CUDA_SUCCESS) {
			ct_gpu_clock_add(&a->clock, ms, best_before, best_after);
			a->last = best;
			a->failed = 0;
			if (a->clock.n == 1)
				a->first_ns = best_after;
		}
	}
	set_due(a, after);
	return result;
}

int ct_gpu_anchor_time(const struct ct_gpu_anchoring *a, const struct ct_cuda *cuda, CUevent event,
		       uint64_t *raw_ns, double *err_ns)
{
	float ms;

	return a->clock.n && cuda->event_elapsed(&ms, a->events[a->last], event) == CUDA_SUCCESS &&
	       ct_gpu_clock_at(&a->clock, ms, raw_ns, err_ns);
}

void ct_gpu_anchor_reset(struct ct_gpu_anchoring *a)
{
	a->clock.n = 0;
	a->due_ns = 0;
}
