/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "tools/synth/noise.h"
#include "trace/clock.h"

struct host_clock {
	int64_t zero_ns; /* shown at the begin of the job, were it right */
	double off_ns;	 /* and what it is wrong by then */
	double drift;
	int is_steady;	   /* no error at all */
	double *wander_ns; /* at each second; grows */
	double rate;	   /* behind the last of them */
	uint64_t n, cap;
};

struct ct_synth_clocks {
	uint64_t seed;
	double offset_ms, drift_ppm, wander_ppb;
	int n;
	struct host_clock at[];
};

static double either_way(uint64_t seed, enum ct_noise what, int host)
{
	return 2 * ct_noise_uniform(seed, what, (uint64_t)host, 0) - 1;
}

struct ct_synth_clocks *ct_synth_clocks_make(const struct ct_synth_options *o)
{
	const int n = o->job.nodes;
	struct ct_synth_clocks *clocks = calloc(1, sizeof(*clocks) +
							   (size_t)n * sizeof(clocks->at[0]));

	if (!clocks)
		return NULL;
	clocks->seed = o->job.seed;
	clocks->offset_ms = o->offset_ms;
	clocks->drift_ppm = o->drift_ppm;
	clocks->wander_ppb = o->wander_ppb;
	clocks->n = n;
	for (int h = 0; h < n; h++) {
		struct host_clock *c = &clocks->at[h];

		/* Up for some hours to some months. */
		c->zero_ns = (int64_t)(1e9 *
				       (1e4 + 1e7 * ct_noise_uniform(o->job.seed, CT_NOISE_BOOT,
								     (uint64_t)h, 0)));
		c->off_ns = 1e6 * o->offset_ms * either_way(o->job.seed, CT_NOISE_OFFSET, h);
		c->drift = 1e-6 * o->drift_ppm * either_way(o->job.seed, CT_NOISE_DRIFT, h);
		c->is_steady = c->off_ns == 0 && c->drift == 0 && o->wander_ppb <= 0;
	}
	return clocks;
}

void ct_synth_clocks_free(struct ct_synth_clocks *clocks)
{
	for (int h = 0; clocks && h < clocks->n; h++)
		free(clocks->at[h].wander_ns);
	free(clocks);
}

/* Up to knot `n`. Without memory the clock stops wandering. */
static void extend(const struct ct_synth_clocks *clocks, struct host_clock *c, uint64_t n)
{
	const uint64_t host = (uint64_t)(c - clocks->at);

	while (c->n <= n) {
		if (c->n == c->cap) {
			const uint64_t cap = c->cap ? 2 * c->cap : 64;
			double *more = realloc(c->wander_ns, cap * sizeof(*more));

			if (!more)
				return;
			c->wander_ns = more;
			c->cap = cap;
		}
		c->wander_ns[c->n] = c->n ? c->wander_ns[c->n - 1] + c->rate : 0;
		c->rate += clocks->wander_ppb *
			   ct_noise_normal(clocks->seed, CT_NOISE_WANDER, host, c->n);
		c->n++;
	}
}

int64_t ct_synth_clock_offset(struct ct_synth_clocks *clocks, int host, uint64_t at_ns)
{
	struct host_clock *c = &clocks->at[host];
	double off;

	if (c->is_steady)
		return c->zero_ns;
	off = c->off_ns + c->drift * (double)at_ns;
	if (clocks->wander_ppb > 0) {
		const uint64_t knot = at_ns / CT_SECOND_NS;
		const double part = (double)(at_ns % CT_SECOND_NS) / 1e9;

		extend(clocks, c, knot + 1);
		if (knot + 1 < c->n)
			off += c->wander_ns[knot] +
			       part * (c->wander_ns[knot + 1] - c->wander_ns[knot]);
	}
	return c->zero_ns + (int64_t)llround(off);
}

uint64_t ct_synth_clock(struct ct_synth_clocks *clocks, int host, uint64_t at_ns)
{
	return at_ns + (uint64_t)ct_synth_clock_offset(clocks, host, at_ns);
}

uint64_t ct_synth_clock_real(const struct ct_synth_clocks *clocks, int host)
{
	return CT_SYNTH_UNIX_NS - (uint64_t)clocks->at[host].zero_ns;
}

/* Five deviations of a rate that walks for t seconds make 5 t^1.5 / sqrt(3). */
uint64_t ct_synth_clock_maxerror(const struct ct_synth_clocks *clocks, uint64_t at_ns)
{
	const double s = (double)at_ns / 1e9;

	return (uint64_t)(1e6 * clocks->offset_ms + 1e3 * clocks->drift_ppm * s +
			  3 * clocks->wander_ppb * s * sqrt(s) + 1e6);
}

uint64_t ct_synth_clock_step(const struct ct_synth_clocks *clocks)
{
	return clocks->wander_ppb > 0 ? CT_SECOND_NS : 0;
}
