/* SPDX-License-Identifier: Apache-2.0 */
/* step_time.h — the denominator of the report's percentages of time: the steps, from the beginning
 * of the first to the end of the last. Where no steps were found, it is all of the run. A numerator
 * is of the same time. Pure. */
#ifndef CT_ANALYZER_MODEL_STEP_TIME_H
#define CT_ANALYZER_MODEL_STEP_TIME_H

#include <math.h>
#include <stdint.h>

struct ct_step_time {
	uint64_t from_ns, to_ns; /* since the run began */
	int has_steps;		 /* 0: it is all of the run */
};

static inline double ct_step_time_ns(const struct ct_step_time *time)
{
	return (double)(time->to_ns - time->from_ns);
}

/* What texts call it. */
static inline const char *ct_step_time_name(const struct ct_step_time *time)
{
	return time->has_steps ? "step time" : "the run";
}

/* % of it, at most all: bounds may be longer. NAN: it is nothing, or ns is NAN. */
static inline double ct_step_time_pct(const struct ct_step_time *time, double ns)
{
	double all = ct_step_time_ns(time);

	return all > 0 && !isnan(ns) ? fmin(100, 100 * ns / all) : NAN;
}

#endif
