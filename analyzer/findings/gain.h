/* SPDX-License-Identifier: Apache-2.0 */
/* gain.h — the cost of communication in a run without slow ranks: upper bounds of the saving if it
 * took no time, from values of the report. Pure; NAN: unknown. */
#ifndef CT_ANALYZER_FINDINGS_GAIN_H
#define CT_ANALYZER_FINDINGS_GAIN_H

#include "analyzer/model/report.h"

/* The largest possible saving without communication, in % of step time. It is the smallest of
 * three: the time that ranks spent in communication, the time that they waited for it, and the
 * saving of a replay without it. */
double ct_gain_pct(const struct ct_report *report);

/* Exposed communication of the most exposed rank, with its error, in % of step time. */
double ct_gain_exposed_pct(const struct ct_report *report);

/* Time that ranks waited for each other, % of step time: exposed wait of the median rank if known,
 * else all waits of the mean rank. */
double ct_gain_wait_pct(const struct ct_report *report);

/* The pipeline with the most idle time by its schedule, among those with a known schedule of all
 * stages; NULL: none. And that time, %. */
const struct ct_report_stage *ct_gain_schedule(const struct ct_report *report);
double ct_gain_bubble_pct(const struct ct_report *report);

/* Sum of span errors of the rank with the most operations, in % of the run. */
double ct_gain_times_err_pct(const struct ct_report *report);

/* Why the recorded times cannot show which ranks were late; NULL: they can. In the report's memory.
 */
const char *ct_gain_why_not(const struct ct_report *report);

#endif
