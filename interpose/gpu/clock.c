/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock.h"

#include <string.h>

#include "interpose/gpu/resolution.h"

/* Anchors older than this say little about how the device ticks now. */
#define BASELINE_NS 20e9
/* Before anchors give more: no crystal is off by more. */
#define PRIOR 250e-6
/* How fast the rate may change while a crystal warms up: 0.1 ppm a second. */
#define WANDER (0.1e-6 / 1e9)

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

/* Between which moments of the host, since base_ns, the device's `device_ns` lies; 0 if the anchors contradict each
 * other there. */
static int find_bounds(const struct ct_gpu_clock *c, double device_ns, double *low, double *high)
{
	const struct ct_gpu_anchor *last = &c->anchors[c->n - 1];

	for (unsigned i = c->n; i-- > 0;) {
		const struct ct_gpu_anchor *a = &c->anchors[i];
		double after = device_ns - a->device_ns;
		double doubt = last->sum_err_ns - a->sum_err_ns + WANDER / 2 * after * after;
		double h = a->high_ns + after + doubt + after * (after > 0 ? c->fast : c->slow);
		double l = a->low_ns + after - doubt + after * (after > 0 ? c->slow : c->fast);

		if (a == last || h < *high)
			*high = h;
		if (a == last || l > *low)
			*low = l;
	}
	return *low <= *high;
}

void ct_gpu_clock_add(struct ct_gpu_clock *c, float elapsed_ms, uint64_t before_ns,
		      uint64_t after_ns)
{
	struct ct_gpu_anchor *a;
	double err, low, high;
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
	while (!find_rates(c) || !find_bounds(c, c->anchors[c->n - 1].device_ns, &low, &high))
		drop(c, 0, 1);
}

int ct_gpu_clock_at(const struct ct_gpu_clock *c, float elapsed_ms, uint64_t *ns, double *err_ns)
{
	double err, low, high;
	double after = ct_gpu_elapsed_ns(elapsed_ms, &err);

	if (!c->n)
		return 0;
	find_bounds(c, c->anchors[c->n - 1].device_ns + after, &low, &high);
	/* far from the anchors they may cross by a hair: the distance is the error all the same */
	*err_ns = (high > low ? high - low : low - high) / 2 + err + ct_gpu_clock_stamp_ns(c);
	*ns = c->base_ns + (uint64_t)(int64_t)(low + (high - low) / 2 + 0.5);
	return 1;
}
