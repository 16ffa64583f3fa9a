/* SPDX-License-Identifier: Apache-2.0 */
/* solve.h — from what operations say about the clocks of hosts (points.h) to those clocks. One
 * thread. */
#ifndef CT_ANALYZER_CLOCK_SOLVE_H
#define CT_ANALYZER_CLOCK_SOLVE_H

#include "analyzer/clock/points.h"
#include "analyzer/model/clocks.h"

/* Relates every host to `reference`, rank 0's host. Uses the points up. *clocks is the caller's
 * (ct_clocks_free). 0 or CT_NOMEM. */
int ct_clocks_solve(struct ct_clock_points *points, uint32_t reference, struct ct_clocks **clocks);

#endif
