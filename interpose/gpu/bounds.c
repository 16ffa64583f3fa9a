/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/bounds.h"

/* tuning: an idle stream passes an event a while after it was recorded: some us on real devices. */
#define LATENCY_NS 20000u

static uint64_t less(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

/* Could the stream have passed this event before `ns`? */
static int is_before(uint64_t event_ns, uint32_t err_ns, uint64_t ns)
{
	return less(event_ns, err_ns) <= ns;
}

static void bound_end(struct ct_gpu_times *t, uint64_t low_ns, uint64_t returned_ns)
{
	uint64_t recorded_ns = returned_ns < UINT64_MAX - LATENCY_NS ? returned_ns + LATENCY_NS
								     : UINT64_MAX;
	uint64_t span_ns = less(t->end_ns, low_ns);

	if (is_before(t->end_ns, t->end_err_ns, recorded_ns) && span_ns > t->end_err_ns)
		t->end_err_ns = ct_gpu_err_word((double)span_ns);
}

/* It began at `last_ns` at the latest. */
static void bound_start(struct ct_gpu_times *t, uint64_t low_ns, uint64_t last_ns)
{
	uint64_t high_ns = t->start_ns + t->start_err_ns;

	if (last_ns == UINT64_MAX) { /* unknown */
		t->start_err_ns = UINT32_MAX;
		return;
	}
	high_ns = last_ns > high_ns ? last_ns : high_ns;
	t->start_ns = low_ns + (high_ns - low_ns) / 2;
	t->start_err_ns = ct_gpu_err_word((double)(high_ns - low_ns) / 2);
}

void ct_gpu_bound(struct ct_gpu_times *t, uint64_t returned_ns)
{
	int has_end = t->end_source != CT_SOURCE_NONE;
	int is_late = is_before(t->start_ns, t->start_err_ns, returned_ns);
	uint64_t low_ns = less(t->start_ns, t->start_err_ns);
	uint64_t end_ns = has_end ? t->end_ns + t->end_err_ns : UINT64_MAX;

	if (has_end)
		bound_end(t, low_ns, returned_ns);
	/* what began before the call had returned began before it ended */
	if (is_late)
		bound_start(t, low_ns, returned_ns < end_ns ? returned_ns : end_ns);
	if (has_end && t->start_ns > t->end_ns) {
		t->start_err_ns = ct_gpu_err_word((double)t->start_err_ns +
						  (double)(t->start_ns - t->end_ns));
		t->start_ns = t->end_ns;
	}
}
