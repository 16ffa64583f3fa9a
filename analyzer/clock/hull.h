/* SPDX-License-Identifier: Apache-2.0 */
/* hull.h — the bounds of causality on two clocks: a line between two sets of points. y(x) is the
 * difference of two clocks when the first one shows x. A point (x, y) is an upper or a lower bound
 * of it. Of either kind only the convex hull counts (A. Duda et al., "Estimating global time in
 * distributed systems", 1987). A hull keeps at most CT_HULL_MAX corners; dropping more only widens
 * the bounds. Times in ns, exact in 128 bits; pure functions over the caller's structs. */
#ifndef CT_ANALYZER_CLOCK_HULL_H
#define CT_ANALYZER_CLOCK_HULL_H

#include <stdint.h>

#define CT_HULL_MAX 64u /* size: corners of a hull */

/* The lower hull of points, by x. |x| < 2^62, |y| < 2^62. Zeroed: empty. */
struct ct_hull {
	int64_t x[CT_HULL_MAX + 1], y[CT_HULL_MAX + 1];
	unsigned n;
};

/* In any order of x; O(log n) for points above the hull, which nearly all are. */
void ct_hull_add(struct ct_hull *hull, int64_t x, int64_t y);

/* min (y - slope x) over the points; +infinity without any. */
double ct_hull_floor(const struct ct_hull *hull, double slope);

/* The band between the upper and lower bounds of y(x). */
struct ct_clock_band {
	struct ct_hull most;
	struct ct_hull least; /* of (x, -y) */
};
void ct_clock_band_at_most(struct ct_clock_band *band, int64_t x, int64_t y);
void ct_clock_band_at_least(struct ct_clock_band *band, int64_t x, int64_t y);

struct ct_clock_line {
	double slope, at_zero;
	double margin; /* to either side; negative: no line satisfies all points, and this one
			  violates them least */
};

/* The line of maximum margin, its slope within CT_CLOCK_SLOPE. 1; 0: points of one kind are
 * missing. */
int ct_clock_band_middle(const struct ct_clock_band *band, struct ct_clock_line *line);

/* The minimum and maximum at x over all lines through the band. `line` is that of
 * ct_clock_band_middle(), its margin not negative. */
void ct_clock_band_interval(const struct ct_clock_band *band, const struct ct_clock_line *line,
			    double x, double *least, double *most);

#endif
