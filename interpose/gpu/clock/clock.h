/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h — the time of one device's events on a clock of the host, from anchors.
 *
 * An anchor is an event of which is known between which two moments of the host it happened.
 * Between two events only the time that the device counted is known, so the device's time is a sum
 * of differences from anchor to anchor. The two crystals differ by some parts per million: from all
 * pairs of recent anchors follows between which two rates the device must run, and from those and
 * from every anchor between which two moments another event lies. The middle is published, half the
 * distance is its error: no model of noise, only bounds. Anchors that contradict each other (a
 * crystal warms up) make the older ones go.
 *
 * The host's clock here should tick evenly: CLOCK_MONOTONIC_RAW. Pure functions over memory of the
 * caller.
 */
#ifndef CT_INTERPOSE_GPU_CLOCK_CLOCK_H
#define CT_INTERPOSE_GPU_CLOCK_CLOCK_H

#include <math.h>
#include <stdint.h>

#include "interpose/gpu/clock/resolution.h"

#define CT_GPU_ANCHORS 48u /* size: 20, one a second (BASELINE_NS), and the closer first ones */

struct ct_gpu_anchor {
	double device_ns;  /* since the first anchor */
	double sum_err_ns; /* rounding of all differences up to here */
	double low_ns;	   /* host, since clock.base_ns */
	double high_ns;
};

/* Which anchors bound a moment. */
struct ct_gpu_bounding {
	unsigned low, high;
};

struct ct_gpu_clock {
	uint64_t base_ns;
	double resolution_ns; /* of each of the device's stamps; 0: not known, the coarsest there is
			       */
	double slow, fast;    /* bounds of host ns per device ns, minus 1 */
	unsigned n;
	struct ct_gpu_bounding near;		      /* moments near the last anchor */
	struct ct_gpu_anchor anchors[CT_GPU_ANCHORS]; /* oldest first */
};

/* What cuEventElapsedTime returned, in ns, and by how much rounding to float may have changed it. */
static inline double ct_gpu_elapsed_ns(float ms, double *err_ns)
{
	/* half of the last of a float's 24 bits: at most the value / 2^24 */
	*err_ns = fabs((double)ms) * (1e6 / (1 << 24));
	return (double)ms * 1e6;
}

/* How coarse a stamp is. */
static inline double ct_gpu_clock_stamp_ns(const struct ct_gpu_clock *clock)
{
	return clock->resolution_ns > 0 ? clock->resolution_ns : CT_GPU_COARSEST_NS;
}

/* A new anchor, `elapsed_ms` on the device after the last one (of no meaning for the first), on the
 * host between `before_ns` and `after_ns`. Those that lie too long before it are forgotten. */
void ct_gpu_clock_add(struct ct_gpu_clock *clock, float elapsed_ms, uint64_t before_ns,
		      uint64_t after_ns);

/* The host's time of an event `elapsed_ms` after the last anchor (before it if negative). 0 if
 * there is no anchor. */
int ct_gpu_clock_at(const struct ct_gpu_clock *clock, float elapsed_ms, uint64_t *ns,
		    double *err_ns);

/* tuning: between the first anchors, while the error is that of a crystal. */
#define CT_GPU_ANCHOR_SOON_NS 10000000u

#endif
