/* SPDX-License-Identifier: Apache-2.0 */
/* headline.h — a finding in one line (headlines.def), and what it costs, by the one measure of the
 * report: step time, or the run where no steps were found. Texts are in the report's memory, which
 * remembers that it was too little. */
#ifndef CT_ANALYZER_FINDINGS_HEADLINE_H
#define CT_ANALYZER_FINDINGS_HEADLINE_H

#include "analyzer/model/report.h"

/* The denominator of percentages: "step time", "the run". */
const char *ct_share_of(const struct ct_report *report);

/* "33.8 % of step time": a time of the run as such a share. */
const char *ct_share_text(const struct ct_report *report, uint64_t ns);

/* Sets the finding's headline. Needs the report's steps and ranks. */
void ct_headline(struct ct_finding *finding, const struct ct_report *report);

#endif
