/* SPDX-License-Identifier: Apache-2.0 */
/* gain.h — what communication costs a run in which nobody is slow: bounds of what would be saved if it took no time, from what the
 * other steps filled into the report. Pure; NAN: not known. */
#ifndef CT_GAIN_H
#define CT_GAIN_H

#include "analyzer/model/report.h"

/* The share of the run that no communication at all would save at most, in %: the least of the time that ranks spent in it, the
 * time that they waited for it, and the time that a replay without it saves. */
double ct_gain_pct(const struct ct_report *report);

/* How long a rank stood waiting for communication, %, with its error: of the steps' time, or, where that is not most of the
 * run, of the run. Of the rank that did so longest. */
double ct_gain_exposed_pct(const struct ct_report *report);

/* How long ranks waited for each other, %: as far as computing stood still, of the median rank; else in all, of the mean rank. */
double ct_gain_wait_pct(const struct ct_report *report);

/* The pipeline with most idle time by its schedule, of those whose schedule is known of all stages; NULL: none. And that time, %. */
const struct ct_report_stage *ct_gain_schedule(const struct ct_report *report);
double ct_gain_bubble_pct(const struct ct_report *report);

/* Errors of the spans of a rank with as many operations as any, together, of the run, %. */
double ct_gain_times_err_pct(const struct ct_report *report);

/* Why these times say nothing about who was late; NULL: they do. In the report's memory. */
const char *ct_gain_why_not(const struct ct_report *report);

#endif
