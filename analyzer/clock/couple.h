/* SPDX-License-Identifier: Apache-2.0 */
/* couple.h — the difference of two clocks, from operations that their hosts left together. No
 * member leaves a synchronizing operation before all have entered, and all leave it within a few
 * hop latencies. So the difference of the ends is that of the clocks, whichever member was late. A
 * window is fitted by a robust line: medians of the outer thirds for the slope, 5 x 1.4826 median
 * deviations as the outlier limit. Pure functions. */
#ifndef CT_ANALYZER_CLOCK_COUPLE_H
#define CT_ANALYZER_CLOCK_COUPLE_H

#include <stdint.h>

#define CT_COUPLE_MAX 512u /* size: samples of a window that are kept, a random choice */

/* One operation: x on the first host's clock, y = second's clock - first's. */
struct ct_couple_sample {
	int64_t x, y;
	uint32_t err_ns;  /* published errors of the two times */
	uint16_t stratum; /* which kind of operation */
	uint16_t by_host; /* in host timing: the end was polled, perhaps late */
	uint16_t is_out;  /* out: rejected */
};

struct ct_couple_line {
	double x, y; /* where its error is least ... */
	double slope;
	double se;	 /* ... and that standard error */
	double slope_se; /* per ns */
	double run;	 /* from the first to the last that counts */
	double spread; /* 1.4826 median deviations: a standard deviation if there are no outliers */
	double err;    /* median of the published errors */
	double by_host; /* share timed by the host */
	unsigned n, rejected;
};

/* Fit n samples, 1 to CT_COUPLE_MAX; sorts them by x and marks the rejected. `scratch` has space
 * for n. */
void ct_couple_fit(struct ct_couple_sample *samples, unsigned n, double *scratch,
		   struct ct_couple_line *line);

#endif
