/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock/clock.h"

#include <math.h>
#include <string.h>

/* tuning: anchors older than this say little about how the device ticks now. */
#define BASELINE_NS 20e9
/* tuning: before anchors give more: no crystal is off by more. */
#define PRIOR 250e-6
/* tuning: how fast the rate may change while a crystal warms up: 0.1 ppm a second. */
#define WANDER (0.1e-6 / 1e9)
/* code: near the last anchor: nearly all events are, since one is taken a second (anchor.c), and
 * events are asked for every 10 ms. */
#define NEAR_BEFORE_NS 10e6
#define NEAR_AFTER_NS 1.25e9

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
			/* since the middle between the two, where the rate was what it was on
			 * average */
			change = WANDER * (now - (a->device_ns + b->device_ns) / 2);
			fast = (b->high_ns - a->low_ns - device + err) / device + change;
			slow = (b->low_ns - a->high_ns - device - err) / device - change;
			c->fast = fast < c->fast ? fast : c->fast;
			c->slow = slow > c->slow ? slow : c->slow;
		}
	}
	return c->slow <= c->fast;
}

/* How far a moment of the device, `after` an anchor, may be off by rounding and by what its rate
 * did since. */
static inline double doubt_of(const struct ct_gpu_clock *c, const struct ct_gpu_anchor *a,
			      double after)
{
	return c->anchors[c->n - 1].sum_err_ns - a->sum_err_ns + WANDER / 2 * after * after;
}

/* The first and the last moment of the host, since base_ns, at which the device's `device_ns` may
 * be, as this anchor says. */
static inline double low_of(const struct ct_gpu_clock *c, unsigned i, double device_ns)
{
	const struct ct_gpu_anchor *a = &c->anchors[i];
	const double after = device_ns - a->device_ns;

	return a->low_ns + after - doubt_of(c, a, after) + after * (after > 0 ? c->slow : c->fast);
}

static inline double high_of(const struct ct_gpu_clock *c, unsigned i, double device_ns)
{
	const struct ct_gpu_anchor *a = &c->anchors[i];
	const double after = device_ns - a->device_ns;

	return a->high_ns + after + doubt_of(c, a, after) + after * (after > 0 ? c->fast : c->slow);
}

/* The anchors that say most of a moment. */
static struct ct_gpu_bounding find_bounds(const struct ct_gpu_clock *c, double device_ns)
{
	struct ct_gpu_bounding best = { 0, 0 };
	double low = low_of(c, 0, device_ns), high = high_of(c, 0, device_ns);

	for (unsigned i = 1; i < c->n; i++) {
		const double l = low_of(c, i, device_ns), h = high_of(c, i, device_ns);

		if (h < high) {
			high = h;
			best.high = i;
		}
		if (l > low) {
			low = l;
			best.low = i;
		}
	}
	return best;
}

/* Bounds by any anchors are true: near the last one, those that are best there are taken for all
 * moments. 0 if anchors contradict each other there. */
static int choose_near(struct ct_gpu_clock *c)
{
	const double last_ns = c->anchors[c->n - 1].device_ns;

	c->near = find_bounds(c, last_ns);
	return low_of(c, c->near.low, last_ns) <= high_of(c, c->near.high, last_ns);
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
	struct ct_gpu_bounding by = c->near;
	double err, low, high, device_ns;
	double after = ct_gpu_elapsed_ns(elapsed_ms, &err);

	if (!c->n)
		return 0;
	device_ns = c->anchors[c->n - 1].device_ns + after;
	if (after < -NEAR_BEFORE_NS || after > NEAR_AFTER_NS)
		by = find_bounds(c, device_ns);
	low = low_of(c, by.low, device_ns);
	high = high_of(c, by.high, device_ns);
	/* far from the anchors they may cross by a hair: the distance is the error all the same */
	*err_ns = (high > low ? high - low : low - high) / 2 + err + ct_gpu_clock_stamp_ns(c);
	*ns = c->base_ns + (uint64_t)(int64_t)(low + (high - low) / 2 + 0.5);
	return 1;
}
