/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h — a chart between two numeric axes as plain values: bandwidth by size (chart_curves.c),
 * exposed communication by step (chart_exposed.c). Every position is 0..1 of its axis. Everything
 * is in the arena that it was made in, or the report's. Pure. */
#ifndef CT_ANALYZER_CHARTS_PLOT_H
#define CT_ANALYZER_CHARTS_PLOT_H

#include "analyzer/charts/chart_marks.h"

struct ct_plot_axis {
	const char *title;
	struct ct_ticks ticks;
};

enum ct_plot_look {
	CT_LOOK_BAR,
	CT_LOOK_HATCH,
	CT_LOOK_EDGE,
	CT_LOOK_LINE,
	CT_LOOK_DASH,
	CT_LOOK_DOT
};

struct ct_plot_series {
	const char *text;	/* in the legend */
	enum ct_plot_look look; /* HATCH: a bar of what is not known; EDGE: the top of a bar; DASH:
				   one level across */
	const char *colour;	/* "blue", "orange", "span" */
	float *y;		/* by item; NAN: none */
};

#define CT_PLOT_SERIES 4u
#define CT_PLOT_NOTES 3u

struct ct_plot {
	const char *title, *summary;
	const char *notes[CT_PLOT_NOTES];
	size_t n_notes;
	struct ct_plot_axis x, y;
	size_t n;	 /* items: points, or bars */
	float *at;	 /* by item: its x, that of a bar's left edge */
	double wide;	 /* of a bar; 0: items are points */
	size_t *item_of; /* by item: {i} of `tips` */
	struct ct_plot_series series[CT_PLOT_SERIES];
	size_t n_series;
	const struct ct_chart_value *tips; /* the first is what is drawn */
	size_t n_tips;
	const char *picks;  /* path of the rank that a click on an item selects; NULL: none */
	uint64_t comm_hash; /* 0: not about one */
	struct ct_chart_spans spans;
};

/* Bus bandwidth by size, of report->curves[curve]. 0, CT_EMPTY: no point has a bandwidth; CT_NOMEM.
 */
int ct_plot_curve(const struct ct_report *report, size_t curve, struct ct_arena *memory,
		  struct ct_plot *plot);

/* Bus bandwidth by size in two runs: the medians, those of the second one behind those of the
 * first. As above; without texts and choices. */
int ct_plot_two_curves(const struct ct_report_curve *base, const struct ct_report_curve *run,
		       struct ct_arena *memory, struct ct_plot *plot);

/* Exposed communication in each step; `beside`: with the time of the step. 0, CT_EMPTY: no steps
 * were found; CT_NOMEM. */
int ct_plot_exposed(const struct ct_report *report, int beside, struct ct_arena *memory,
		    struct ct_plot *plot);

#endif
