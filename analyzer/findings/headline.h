/* SPDX-License-Identifier: Apache-2.0 */
/* headline.h — a finding in one line (headlines.def), and what it costs, by the one measure of the
 * report: step time, or the run where no steps were found. Texts are in the report's memory, which
 * remembers that it was too little. */
#ifndef CT_ANALYZER_FINDINGS_HEADLINE_H
#define CT_ANALYZER_FINDINGS_HEADLINE_H

#include "analyzer/model/report.h"

/* "33.8 % of step time", and with its error. */
const char *ct_pct_text(const struct ct_report *report, double pct);
const char *ct_pct_err_text(const struct ct_report *report, double pct, double err);

/* "rank 5 (node1)", "ranks 1,4", "12 ranks": what fits so many columns. */
const char *ct_finding_who(const struct ct_finding *finding, struct ct_arena *memory,
			   size_t columns);

/* "at most 15.4 ± 2.3 ms/step": without steps all of it. */
const char *ct_finding_per_step(const struct ct_finding *finding, const struct ct_report *report);

#define CT_HEADLINE_COLUMNS 80u /* size: columns of a headline with its title */

/* Characters of UTF-8. */
size_t ct_headline_columns(const char *text);

/* The text, cut with "..." where title and text have more columns: names may be of any length. */
const char *ct_headline_fit(struct ct_arena *memory, const char *title, const char *text);

/* Sets the finding's headline: what fits the line of ranks, host and cost. Needs the report's steps
 * and ranks. */
void ct_headline(struct ct_finding *finding, const struct ct_report *report);

#endif
