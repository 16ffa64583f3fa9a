/* SPDX-License-Identifier: Apache-2.0 */
/* render.h — a report as text for people and as JSON for programs. Both show the same values; what
 * is unknown is "n/a" in text and null in JSON. The FILE stays the caller's; write errors are found
 * by its ferror(). */
#ifndef CT_ANALYZER_RENDER_RENDER_H
#define CT_ANALYZER_RENDER_RENDER_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/model/report.h"

struct ct_text_style {
	int color;		  /* 1: ANSI colours */
	const char *const *paths; /* the run as the person typed it, for the next commands ... */
	size_t n_paths;		  /* ... 0: run.dir */
	const char *anchor;    /* --step-anchor as the person typed it, for the next commands; NULL:
				  none */
	const char *read_path; /* absolute path of what is read, if it is not run.dir; else NULL */
	int unwrapped; /* 1: lines are as long as they are, for files; 0: at most 100 columns */
	int verbose;   /* 1: all that there is, not only a screen */
	size_t top;    /* so many findings beside the verdict's, and rows of each table, at most; 0:
			  what fits a screen, or `verbose` */
};

/* `commtrace report`: the verdict with cause and advice, then what else was found, then facts. At
 * most 25 lines of 80 columns, more with style->verbose or style->top. `style` may be NULL. */
void ct_report_text(const struct ct_report *report, const struct ct_text_style *style, FILE *out);

/* The same for scripts: VERDICT, a line for each finding, EXPECT, each followed by key=value. */
void ct_report_kv(const struct ct_report *report, const struct ct_text_style *style, FILE *out);

/* `commtrace info`: is this trace complete? */
void ct_info_text(const struct ct_report *report, const struct ct_text_style *style, FILE *out);

/* Objects "commtrace.report/1" and "commtrace.info/1", keys in the order of docs/reference/JSON.md
 * (dump with JSON_PRESERVE_ORDER). A new reference, NULL when out of memory. */
json_t *ct_report_json(const struct ct_report *report);
json_t *ct_info_json(const struct ct_report *report);

/* `commtrace diagnose`: each level of the tree with its nodes; `failed`: the first that fails,
 * NULL: none does. */
struct ct_diagnosis;
struct ct_diagnosis_node;
void ct_diagnosis_text(const struct ct_diagnosis *diagnosis, const struct ct_diagnosis_node *failed,
		       const struct ct_text_style *style, FILE *out);

/* `commtrace diff`: what got slower or faster in `run` against `base`, which has `bases`
 * repetitions; the paths as the person typed them. */
struct ct_diff;
void ct_diff_text(const struct ct_diff *diff, const char *base, size_t bases, const char *run,
		  const struct ct_text_style *style, FILE *out);

/* `commtrace bench`: a table for each operation, and which series is fastest at which sizes. */
struct ct_bench;
void ct_bench_text(const struct ct_bench *bench, const struct ct_text_style *style, FILE *out);

#endif
