/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock/anchor.h"

#include <stddef.h>
#include <time.h>

#include "interpose/gpu/choice/mode.h"
#include "interpose/log.h"

/* size: events of one anchor, of which the narrowest counts. */
#define TRIES 5
/* tuning: the host's two clocks are read one after the other, so that finer stamps make no finer
 * times: up to 240 ns were seen. */
#define HOST_NS 256.0
/* size: the thread spins meanwhile. An idle device takes some us; a busy one is tried later. */
#define GIVE_UP_NS 300000u
/* tuning: within a second the rate's wander adds 50 ns to the error (clock.c). */
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

int ct_gpu_elapsed(const struct ct_cuda *cuda, CUevent from, CUevent to, float *ms)
{
	CUresult result = cuda->event_elapsed(ms, from, to);
	float back;

	if (result == CUDA_SUCCESS && *ms > 0)
		return 1;
	if (cuda->event_elapsed(&back, to, from) == CUDA_SUCCESS && back > 0) {
		*ms = -back;
		return 1;
	}
	return result == CUDA_SUCCESS;
}

void ct_gpu_anchor_learn(struct ct_gpu_anchoring *a, float ms)
{
	double ns;

	if (ct_gpu_resolution_is_known(&a->resolution))
		return;
	ct_gpu_resolution_add(&a->resolution, ms);
	ns = ct_gpu_resolution_ns(&a->resolution);
	a->clock.resolution_ns = ns < HOST_NS ? HOST_NS : ns;
}

/* Other threads want the driver, too: the longer it takes, the later it is polled again, at most a
 * quarter too late. */
static void let_pass(uint64_t before_ns, uint64_t asked_ns)
{
	uint64_t until_ns = asked_ns + (asked_ns - before_ns) / 4;

	while (ct_gpu_raw_ns() < until_ns)
		;
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
		let_pass(*before_ns, *after_ns);
	}
	return result;
}

/* Anchors first come 10 ms apart, then at a quarter of the clock's age, then once a second. As long
 * as there is none it is tried again soon, less and less often. */
static void set_due(struct ct_gpu_anchoring *a, uint64_t now)
{
	uint64_t wait = (now - a->first_ns) / 4;

	if (!a->clock.n)
		wait = CT_GPU_ANCHOR_SOON_NS << (a->failed < 7 ? a->failed++ : 7);
	if (wait < CT_GPU_ANCHOR_SOON_NS)
		wait = CT_GPU_ANCHOR_SOON_NS;
	else if (wait > PERIOD_NS)
		wait = PERIOD_NS;
	a->due_ns = now + wait;
}

/* As narrow as it gets here, or nearly: no better one is tried for. */
static int is_narrow(const struct ct_gpu_anchoring *a, uint64_t width_ns)
{
	return width_ns <= a->narrowest_ns + a->narrowest_ns / 4;
}

static void note_width(struct ct_gpu_anchoring *a, uint64_t width_ns)
{
	if (!a->narrowest_ns || width_ns < a->narrowest_ns)
		a->narrowest_ns = width_ns;
}

CUresult ct_gpu_anchor_take(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda)
{
	unsigned best = (a->last + 1) % 3, scratch = (a->last + 2) % 3;
	uint64_t best_before = 0, best_after = UINT64_MAX, before = 0, after = 0;
	CUresult result = CUDA_SUCCESS;
	float ms = 0;

	/* the event of the anchor before the last is recorded anew */
	a->is_check_due = 0;
	for (int i = 0; i < TRIES && result == CUDA_SUCCESS; i++) {
		unsigned old = best;

		if (is_narrow(a, best_after - best_before))
			break;
		result = try_once(a, cuda, a->events[scratch], &before, &after);
		if (result != CUDA_SUCCESS)
			break;
		if (best_after != UINT64_MAX && !ct_gpu_resolution_is_known(&a->resolution) &&
		    ct_gpu_elapsed(cuda, a->events[best], a->events[scratch], &ms))
			ct_gpu_anchor_learn(a, ms);
		if (after - before >= best_after - best_before)
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
			a->before = a->last;
			a->last = best;
			a->is_check_due = a->clock.n > 1;
			note_width(a, best_after - best_before);
			a->failed = 0;
			if (a->clock.n == 1)
				a->first_ns = best_after;
		}
	}
	set_due(a, after);
	return result;
}

/* `ms` is its time after the last anchor: it must equal its time after the previous anchor, minus
 * the distance of the two. */
static void check(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda, CUevent event, float ms)
{
	const struct ct_gpu_anchor *last = &a->clock.anchors[a->clock.n - 1];
	double err_ns, more_err_ns, since_ns, off_ns;
	float more_ms;

	a->is_check_due = 0;
	if (a->clock.n < 2 || !ct_gpu_elapsed(cuda, a->events[a->before], event, &more_ms))
		return;
	since_ns = ct_gpu_elapsed_ns(ms, &err_ns);
	off_ns = ct_gpu_elapsed_ns(more_ms, &more_err_ns) - (last->device_ns - last[-1].device_ns) -
		 since_ns;
	err_ns += more_err_ns + last->sum_err_ns - last[-1].sum_err_ns +
		  ct_gpu_clock_stamp_ns(&a->clock);
	if (off_ns <= err_ns && off_ns >= -err_ns)
		return;
	a->is_distrusted = 1;
	ct_gpu_mode_distrust();
	ct_log("the GPU's event times contradict each other by %.0f ns: the host times",
	       off_ns < 0 ? -off_ns : off_ns);
}

int ct_gpu_anchor_time(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda, CUevent event,
		       uint64_t *raw_ns, double *err_ns)
{
	float ms;

	if (a->is_distrusted || !a->clock.n ||
	    !ct_gpu_elapsed(cuda, a->events[a->last], event, &ms))
		return 0;
	if (a->is_check_due)
		check(a, cuda, event, ms);
	return !a->is_distrusted && ct_gpu_clock_at(&a->clock, ms, raw_ns, err_ns);
}

void ct_gpu_anchor_reset(struct ct_gpu_anchoring *a)
{
	a->clock.n = 0;
	a->due_ns = 0;
}
