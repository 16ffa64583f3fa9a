/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock/clock.h"

#include <math.h>
#include <string.h>

#include "interpose/gpu/clock/resolution.h"

/* Anchors older than this say little about how the device ticks now. */
#define BASELINE_NS 20e9
/* Before anchors give more: no crystal is off by more. */
#define PRIOR 250e-6
/* How fast the rate may change while a crystal warms up: 0.1 ppm a second. */
#define WANDER (0.1e-6 / 1e9)
/* code: near the last anchor: nearly all events are, since one is taken a second (anchor.c), and events are asked for every 10 ms. */
#define NEAR_BEFORE_NS 10e6
#define NEAR_AFTER_NS 1.25e9

double ct_gpu_elapsed_ns(float ms, double *err_ns)
{
	double size = ms < 0 ? -(double)ms : (double)ms;

	/* half of the last of a float's 24 bits: at most the value / 2^24 */
	*err_ns = size * 1e6 / (1 << 24);
	return (double)ms * 1e6;
}

double ct_gpu_clock_stamp_ns(const struct ct_gpu_clock *c)
{
	return c->resolution_ns > 0 ? c->resolution_ns : CT_GPU_COARSEST_NS;
}

/* Drop `k` anchors, from number `first` on. */
static void drop(struct ct_gpu_clock *c, unsigned first, unsigned k)
{
	c->n -= k;
	memmove(&c->anchors[first], &c->anchors[first + k], (c->n - first) * sizeof(c->anchors[0]));
}

/* The rates of now that every pair of anchors allows; 0 if there is none. */
static int find_rates(struct ct_gpu_clock *c)
{
	double now = c->anchors[c->n - 1].device_ns;

	c->slow = -PRIOR;
	c->fast = PRIOR;
	for (unsigned i = 0; i < c->n; i++) {
		for (unsigned k = i + 1; k < c->n; k++) {
			const struct ct_gpu_anchor *a = &c->anchors[i], *b = &c->anchors[k];
			double device = b->device_ns - a->device_ns;
			double err = b->sum_err_ns - a->sum_err_ns;
			double fast, slow, change;

			if (device <= 0)
				continue;
			/* since the middle between the two, where the rate was what it was on average */
			change = WANDER * (now - (a->device_ns + b->device_ns) / 2);
			fast = (b->high_ns - a->low_ns - device + err) / device + change;
			slow = (b->low_ns - a->high_ns - device - err) / device - change;
			c->fast = fast < c->fast ? fast : c->fast;
			c->slow = slow > c->slow ? slow : c->slow;
		}
	}
	return c->slow <= c->fast;
}

static uint64_t all_anchors(const struct ct_gpu_clock *c)
{
	return (1ull << c->n) - 1;
}

/* Between which moments of the host, since base_ns, the device's `device_ns` lies, as these anchors say. Returns the two that
 * say so. */
static uint64_t find_bounds(const struct ct_gpu_clock *c, uint64_t anchors, double device_ns,
			    double *low, double *high)
{
	const double sum_err_ns = c->anchors[c->n - 1].sum_err_ns;
	unsigned lowest = 0, highest = 0;

	*low = -INFINITY;
	*high = INFINITY;
	for (; anchors; anchors &= anchors - 1) {
		unsigned i = (unsigned)__builtin_ctzll(anchors);
		const struct ct_gpu_anchor *a = &c->anchors[i];
		double after = device_ns - a->device_ns;
		double doubt = sum_err_ns - a->sum_err_ns + WANDER / 2 * after * after;
		double h = a->high_ns + after + doubt + after * (after > 0 ? c->fast : c->slow);
		double l = a->low_ns + after - doubt + after * (after > 0 ? c->slow : c->fast);

		if (h < *high) {
			*high = h;
			highest = i;
		}
		if (l > *low) {
			*low = l;
			lowest = i;
		}
	}
	return 1ull << lowest | 1ull << highest;
}

/* The anchors that bound both ends of what is near, and the moment of the last one. In between others may do so more narrowly, by
 * next to nothing: bounds by any anchors are true. 0 if anchors contradict each other at the last one. */
static int choose_near(struct ct_gpu_clock *c)
{
	const double last_ns = c->anchors[c->n - 1].device_ns;
	const uint64_t all = all_anchors(c);
	double low, high;

	c->near = find_bounds(c, all, last_ns - NEAR_BEFORE_NS, &low, &high) |
		  find_bounds(c, all, last_ns + NEAR_AFTER_NS, &low, &high) |
		  find_bounds(c, all, last_ns, &low, &high);
	return low <= high;
}

void ct_gpu_clock_add(struct ct_gpu_clock *c, float elapsed_ms, uint64_t before_ns,
		      uint64_t after_ns)
{
	struct ct_gpu_anchor *a;
	double err;
	double since = ct_gpu_elapsed_ns(elapsed_ms, &err);

	if (c->n == CT_GPU_ANCHORS)
		drop(c, 1, 1); /* the oldest one has the longest lever */
	if (!c->n)
		c->base_ns = before_ns;
	a = &c->anchors[c->n];
	memset(a, 0, sizeof(*a));
	if (c->n) {
		a->device_ns = a[-1].device_ns + since;
		a->sum_err_ns = a[-1].sum_err_ns + err;
	}
	/* the stamp was taken in between, but is not finer than that */
	a->low_ns = (double)(int64_t)(before_ns - c->base_ns) - ct_gpu_clock_stamp_ns(c);
	a->high_ns = (double)(int64_t)(after_ns - c->base_ns) + ct_gpu_clock_stamp_ns(c);
	c->n++;
	while (c->anchors[c->n - 1].device_ns - c->anchors[0].device_ns > BASELINE_NS)
		drop(c, 0, 1);
	while (!find_rates(c) || !choose_near(c))
		drop(c, 0, 1);
}

int ct_gpu_clock_at(const struct ct_gpu_clock *c, float elapsed_ms, uint64_t *ns, double *err_ns)
{
	double err, low, high;
	double after = ct_gpu_elapsed_ns(elapsed_ms, &err);

	if (!c->n)
		return 0;
	find_bounds(c,
		    after >= -NEAR_BEFORE_NS && after <= NEAR_AFTER_NS ? c->near : all_anchors(c),
		    c->anchors[c->n - 1].device_ns + after, &low, &high);
	/* far from the anchors they may cross by a hair: the distance is the error all the same */
	*err_ns = (high > low ? high - low : low - high) / 2 + err + ct_gpu_clock_stamp_ns(c);
	*ns = c->base_ns + (uint64_t)(int64_t)(low + (high - low) / 2 + 0.5);
	return 1;
}
