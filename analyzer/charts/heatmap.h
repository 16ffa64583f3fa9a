/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap.h — a heatmap as plain values: rows and columns with their names, a cell for each pair,
 * its position on the color scale, and the texts that belong to it. Made from a report
 * (ct_heatmap_make), the only maker of what is drawn: the renderers of heatmap.h and report.html
 * only position and color it. Everything is in the arena that it was made in, or the report's. Pure.
 */
#ifndef CT_ANALYZER_CHARTS_HEATMAP_H
#define CT_ANALYZER_CHARTS_HEATMAP_H

#include "analyzer/base/arena.h"
#include "analyzer/base/units.h"
#include "analyzer/charts/chart_marks.h"
#include "analyzer/model/report.h"

/* Values of cells that are none. */
#define CT_HEATMAP_UNKNOWN CT_UNKNOWN
#define CT_HEATMAP_BLANK (-1.0f)
#define CT_HEATMAP_NOTHING                                                                         \
	(UINT64_MAX - 1) /* there is nothing to have a value: no message, no such operation */

enum ct_heatmap_of { CT_OF_TRAFFIC, CT_OF_WAITS, CT_OF_STEPS, CT_OF_SLOWDOWN };
enum ct_heatmap_show {
	CT_SHOW_DEFAULT, /* the first that the heatmap has */
	CT_SHOW_BYTES,
	CT_SHOW_COUNT,
	CT_SHOW_BANDWIDTH,
	CT_SHOW_WAIT,
	CT_SHOW_LATENESS,
	CT_SHOW_GAP,
	CT_SHOW_S_W
};
enum ct_heatmap_by { CT_BY_DEFAULT, CT_BY_RANK, CT_BY_HOST };

/* The words of the above, as options spell them, one after the other. */
#define CT_HEATMAP_OF "traffic waits steps slowdown"
#define CT_HEATMAP_LAYERS "bytes count bandwidth wait lateness gap s_w"
#define CT_HEATMAP_BY "rank host"

/* The layers that a heatmap has, the default first; "bytes count bandwidth". */
const char *ct_heatmap_layers(enum ct_heatmap_of of);

struct ct_heatmap_request {
	enum ct_heatmap_of of;
	enum ct_heatmap_show show;
	enum ct_heatmap_by by;
	int by_step; /* of waits: columns are steps; else they are times, from the start of the run
			to its end */
	/* At most one of them, of traffic. NULL: of all. */
	const char *comm; /* a name, or four or more first digits of a key */
	const char *backend, *role;
	/* Of traffic, instead of the above and of `by`: this layer of the report. */
	const struct ct_traffic_layer *traffic_layer;
};

struct ct_heatmap_axis {
	const char *title; /* "sending rank" */
	const char *word;  /* before one of its names: "from rank" */
	size_t n;
	const char **names;    /* as shown */
	const char **keys;     /* exact, for programs */
	const char *about;     /* names are: "rank", "host"; NULL: neither */
	struct ct_ticks ticks; /* round values along the axis, instead of names; may be none */
};

/* A ratio is a whole number of CT_HEATMAP_PARTS. */
enum ct_heatmap_unit {
	CT_HEATMAP_BYTES,
	CT_HEATMAP_NS,
	CT_HEATMAP_BPS,
	CT_HEATMAP_COUNT,
	CT_HEATMAP_RATIO
};
#define CT_HEATMAP_PARTS 1000000u

/* What grows is drawn from pale to dark; RATIO has its middle, 1, at 0.5, less is blue, more is
 * orange. */
enum ct_heatmap_ramp {
	CT_RAMP_AMOUNT,
	CT_RAMP_WAIT,
	CT_RAMP_LATE,
	CT_RAMP_RATIO,
};

#define CT_HEATMAP_MARKS 6u
#define CT_HEATMAP_NOTES 10u

struct ct_heatmap {
	const char *title;
	struct ct_heatmap_axis rows, columns;
	enum ct_heatmap_unit unit;
	uint64_t *values; /* [row * columns.n + column] */
	float *shades;	  /* 0..1; NAN: not known; CT_HEATMAP_BLANK: nothing */
	int has_unknown, has_nothing;
	int zero_is_nothing; /* and drawn so */
	enum ct_heatmap_ramp ramp;
	const char *scale;   /* what the colours mean */
	const char *nothing; /* what that is: "no traffic" */
	struct ct_tick marks[CT_HEATMAP_MARKS];
	size_t n_marks;
	const char **cell_names; /* by cell: which rank it is ("rank 5"); NULL: rows and columns say
				    so */
	const char *summary;	 /* the sentence above it */
	const char *notes[CT_HEATMAP_NOTES]; /* sentences */
	size_t n_notes;
	size_t n_said; /* notes before the last, which says what run it is: a page says that once */
	/* What a reader can look up about a cell; the first is what is drawn. */
	const struct ct_chart_value *tips;
	size_t n_tips;
	size_t *cell_of; /* by {i} of `tips`: its cell, SIZE_MAX none; NULL: {r} and {c} identify
			    all cells */
	size_t n_cells;
	const char *picks; /* path of the rank that a click on a cell selects; NULL: that of its
			      row, if it is one */
	struct ct_chart_spans spans; /* findings, along the columns */
};

/* Traffic of more is shown by host: between ranks, a cell would be a dot. */
#define CT_HEATMAP_MANY_RANKS 512u
/* More cells are not drawn. */
#define CT_HEATMAP_CELLS (2048u * 2048u)

/* 0; CT_EMPTY: there is nothing to draw; CT_NOTFOUND: no such communicator, backend, role, or not
 * by rank; CT_RANGE: too large; *err says why. CT_NOMEM. */
int ct_heatmap_make(const struct ct_report *report, const struct ct_heatmap_request *request,
		    struct ct_arena *memory, struct ct_heatmap *heatmap, struct ct_err *err);

/* A value with three digits and its unit; "n/a", or what nothing is called. */
struct ct_unit_text ct_heatmap_value_text(const struct ct_heatmap *heatmap, uint64_t value);
/* "from rank 3, to rank 5: 1.23 MB", "stage 1, worker 0 (rank 4): 1.32". NULL: out of memory. */
const char *ct_heatmap_cell_text(const struct ct_heatmap *heatmap, struct ct_arena *memory,
				 size_t row, size_t column);
/* "bytes", "ns", "bytes per second", "count", "ratio" */
const char *ct_heatmap_unit(const struct ct_heatmap *heatmap);

/* Color of a position on a ramp, 0xRRGGBB, on a light ground. */
uint32_t ct_heatmap_colour(enum ct_heatmap_ramp ramp, double shade);

/* The colors of a ramp at equal distances, for a light or a dark ground. */
#define CT_RAMP_COLOURS 11u
size_t ct_heatmap_ramp(enum ct_heatmap_ramp ramp, int is_dark, uint32_t colours[CT_RAMP_COLOURS]);

#endif
