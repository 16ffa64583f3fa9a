/* SPDX-License-Identifier: Apache-2.0 */
/* facts_text.h — the parts that `commtrace report` and `commtrace info` write as text: a line (two
 * where it has to be) of facts each, or a section. What is not known is "n/a", or not there. */
#ifndef CT_ANALYZER_RENDER_FACTS_TEXT_H
#define CT_ANALYZER_RENDER_FACTS_TEXT_H

#include "analyzer/model/report.h"
#include "analyzer/render/text.h"

/* How much of a report fits a screen. */
struct ct_text_detail {
	size_t others; /* findings beside the verdict's */
	size_t rows;   /* of the table of operations; 0: without it */
	int row_lines; /* of cause, note and advice of the verdict, then "..."; 0: all */
};

/* The verdict with its cause, notes and advice, then the other findings: their headlines, and only
 * with `verbose` all that is known of each. An empty line behind them. */
void ct_findings_text(struct ct_text *text, const struct ct_report *report, int verbose,
		      const struct ct_text_detail *detail);
/* A line for each baseline check that failed, and how many passed; with `verbose` for each. */
void ct_expect_text(struct ct_text *text, const struct ct_report *report, int verbose);
/* The run in a few lines: step time, exposed communication (with `verbose` also why it is unknown),
 * data quality. */
void ct_summary_text(struct ct_text *text, const struct ct_report *report, int verbose);

/* How the run was timed; and what was set and what became of it in one process, "sample 4,
 * duty 10.0 s/60.0 s ...", into `to`: empty without a GPU. */
void ct_timing_line(struct ct_text *text, const struct ct_report *report);
void ct_timing_of_process(char *to, size_t cap, const struct ct_report_overhead *cost);

/* Likewise: when it had events, what was taken for a step, and what timing did to it, "events
 * from 12.0 s, step 400 ms ..."; empty: nothing of it is known. */
void ct_decisions_of_process(char *to, size_t cap, const struct ct_report_overhead *cost);
/* The state of the hosts' clocks, nothing for one host; and a line for each host. */
void ct_clocks_line(struct ct_text *text, const struct ct_report *report);
void ct_clocks_rows(struct ct_text *text, const struct ct_report *report);

/* Where the ranks ran: what differs, by value; GPUs, network devices and libraries in short. */
void ct_environment_text(struct ct_text *text, const struct ct_report *report);

#endif
