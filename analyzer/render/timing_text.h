/* SPDX-License-Identifier: Apache-2.0 */
/* timing_text.h — how a run was timed, in words, for report and info. */
#ifndef CT_TIMING_TEXT_H
#define CT_TIMING_TEXT_H

#include "analyzer/model/report.h"
#include "analyzer/render/text.h"

/* The line "timing    ..." of a run. */
void ct_timing_line(struct ct_text *text, const struct ct_report *report);

/* What was set and what became of it in one process: "timing=events events=200 sample=4 ...", into `to`; empty without a
 * GPU. */
void ct_timing_of_process(char *to, size_t cap, const struct ct_report_cost *cost);

#endif
