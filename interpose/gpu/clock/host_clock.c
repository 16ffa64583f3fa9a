/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock/host_clock.h"

#include "interpose/gpu/clock/anchor.h"
#include "interpose/recorder.h"

/* tuning: over less than this the readings themselves are too coarse: 240 ns are 2.4 ppm of it. */
#define LEAST_BASELINE_NS 100000000

void ct_gpu_host_clock_read(struct ct_gpu_host_clock *c)
{
	uint64_t narrow = UINT64_MAX;
	uint64_t raw_ns = 0, mono_ns = 0;
	int64_t baseline;

	for (int i = 0; i < 3 && narrow > 1000; i++) {
		uint64_t before = ct_gpu_raw_ns();
		uint64_t mono = ct_now_ns();
		uint64_t after = ct_gpu_raw_ns();

		if (after - before >= narrow)
			continue;
		narrow = after - before;
		raw_ns = before + narrow / 2;
		mono_ns = mono;
	}
	if (!c->raw_ns || raw_ns - c->old_raw_ns > 2000000000u) {
		c->old_raw_ns = c->raw_ns ? c->raw_ns : raw_ns;
		c->old_mono_ns = c->raw_ns ? c->mono_ns : mono_ns;
	}
	c->raw_ns = raw_ns;
	c->mono_ns = mono_ns;
	baseline = (int64_t)(raw_ns - c->old_raw_ns);
	c->gain = baseline < LEAST_BASELINE_NS
			  ? 0
			  : (double)((int64_t)(mono_ns - c->old_mono_ns) - baseline) /
				    (double)baseline;
}

uint64_t ct_gpu_host_clock_mono(const struct ct_gpu_host_clock *c, uint64_t raw_ns)
{
	const int64_t after = (int64_t)(raw_ns - c->raw_ns);

	return c->mono_ns + (uint64_t)(after + (int64_t)((double)after * c->gain));
}
