/* SPDX-License-Identifier: Apache-2.0 */
/* chart_marks.h — common parts of all charts: ticks of an axis, paths of the values behind a mark
 * in the report's JSON, and findings along an axis. Plain values in an arena. Pure. */
#ifndef CT_ANALYZER_CHARTS_CHART_MARKS_H
#define CT_ANALYZER_CHARTS_CHART_MARKS_H

#include "analyzer/base/arena.h"
#include "analyzer/base/units.h"
#include "analyzer/model/report.h"

struct ct_tick {
	double at; /* 0..1 along the axis or scale */
	const char *text;
};
struct ct_ticks {
	struct ct_tick *items;
	size_t n;
};

/* Round values within [low, high], 1, 2 or 5 times a power of ten apart, at most `most`. 0 or
 * CT_NOMEM. */
int ct_ticks_round(struct ct_arena *memory, uint64_t low, uint64_t high, unsigned most,
		   struct ct_unit_text (*text)(uint64_t), struct ct_ticks *ticks);

/* 1, 2 and 5 times powers of ten, or powers of ten alone where there are more than `most`, on a
 * logarithmic axis from *low to *high (> 0), which become the first and the last of them. 0 or
 * CT_NOMEM. */
int ct_ticks_log(struct ct_arena *memory, double *low, double *high, unsigned most,
		 struct ct_unit_text (*text)(uint64_t), struct ct_ticks *ticks);

/* Powers of two on such an axis, at most `most`: every one, every second, fourth or tenth. 0 or
 * CT_NOMEM. */
int ct_ticks_sizes(struct ct_arena *memory, double *low, double *high, unsigned most,
		   struct ct_ticks *ticks);

/* Without zeros behind the point: "1.5MB", "2MB", "0". */
struct ct_unit_text ct_text_round(struct ct_unit_text text);

/* A value of the report, shown when the cursor is at a cell, a bar or a point of a chart. */
struct ct_chart_value {
	const char *label; /* "bytes sent" */
	/* Dotted path in the JSON of the report, and that of its error or NULL; {r}, {c}: row and
	 * column; {i}: entry. */
	const char *path, *err;
	const char *unit; /* of html/format.js: ns bytes Bps count number whole */
};

/* A finding along an axis. */
struct ct_chart_span {
	int id;
	double from, to; /* 0..1 */
};
struct ct_chart_spans {
	struct ct_chart_span *items;
	size_t n;
};

/* Findings by the time at which they were, on an axis from begin_ns to end_ns. 0 or CT_NOMEM. */
int ct_chart_spans_by_time(const struct ct_report *report, struct ct_arena *memory,
			   uint64_t begin_ns, uint64_t end_ns, struct ct_chart_spans *spans);

/* Findings by their first and last step; columns begin with first[0..n-1], the last one ends before
 * `end`, and all have the same width. 0 or CT_NOMEM. */
int ct_chart_spans_by_step(const struct ct_report *report, struct ct_arena *memory,
			   const uint64_t *first, size_t n, uint64_t end,
			   struct ct_chart_spans *spans);

#endif
