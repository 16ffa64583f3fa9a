/* SPDX-License-Identifier: Apache-2.0 */
/* change_point.h — permanent changes of the step time: change points of a series.
 *
 * Two adjacent windows of 20 steps whose medians differ by more than max(5 %, 5 * 1.2533 * s *
 * sqrt(2 / 20)), s the larger of 1.4826 * MAD of the two, are a candidate, moved to where the
 * difference is largest. Between candidates are levels; neighbors that differ by less than 5 % or
 * three s are one level. A smaller change between long levels may be real, but is not visible in
 * the steps. Source: reference algorithms, 3.6; the second stage keeps levels apart only if they
 * stand apart over their whole length. Pure. */
#ifndef CT_ANALYZER_LATENESS_CHANGE_POINT_H
#define CT_ANALYZER_LATENESS_CHANGE_POINT_H

#include <stdint.h>

#include "analyzer/lateness/replay/limits.h"

/* Steps first .. end - 1 take about equally long. */
struct ct_level {
	uint32_t first, end;
	double median_ns, sd_ns; /* sd: of one step, robust */
};

/* The levels of n times, in order; at most CT_SHIFT_LEVELS, later changes are dropped. Returns
 * their number, 0: no memory or no times. */
uint32_t ct_levels_find(const uint64_t *times_ns, uint32_t n, struct ct_level *levels);

#endif
