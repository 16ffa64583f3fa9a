/* SPDX-License-Identifier: Apache-2.0 */
/* chart_sizes.c — operations by size: the histogram of the report as rows of operations and columns of powers of two. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "analyzer/charts/chart_private.h"
#include "trace/ops.h"

#define COLUMNS 65u /* 0, and each power of two */

static unsigned column_of(uint64_t size_range)
{
	return size_range ? 64u - (unsigned)__builtin_clzll(size_range) : 0;
}

static const char *backend_of(const struct ct_report_size *s)
{
	const char *name = ct_backend_name(s->backend);

	return name ? name : "unknown";
}

static int is_wanted(const struct ct_picture_make *make, const struct ct_report_size *s)
{
	const char *backend = make->request->backend;

	if (s->size_range == CT_UNKNOWN)
		return 0;
	return !backend || strcmp(backend, backend_of(s)) == 0;
}

static int is_same(const struct ct_report_size *a, const struct ct_report_size *b)
{
	const char *x = a->op_name ? a->op_name : "", *y = b->op_name ? b->op_name : "";
	const char *g = a->group ? a->group : "", *h = b->group ? b->group : "";

	return a->backend == b->backend && strcmp(x, y) == 0 && strcmp(g, h) == 0;
}

/* Which row each entry is in, and which sizes there are. */
struct grid {
	size_t *row; /* by entry; SIZE_MAX: not wanted */
	const struct ct_report_size **of_row;
	size_t n;
	unsigned first, last;
};

static int lay_out(const struct ct_picture_make *make, struct grid *grid)
{
	const struct ct_report *report = make->report;

	*grid = (struct grid){ .first = COLUMNS };
	grid->row = ct_arena_calloc(make->memory, report->n_histogram + 1, sizeof(*grid->row));
	grid->of_row = ct_arena_calloc(make->memory, report->n_histogram + 1,
				       sizeof(*grid->of_row));
	if (!grid->row || !grid->of_row)
		return CT_NOMEM;
	for (size_t i = 0; i < report->n_histogram; i++) {
		const struct ct_report_size *s = &report->histogram[i];
		unsigned column = column_of(s->size_range);
		size_t r = 0;

		grid->row[i] = SIZE_MAX;
		if (!is_wanted(make, s))
			continue;
		while (r < grid->n && !is_same(grid->of_row[r], s))
			r++;
		if (r == grid->n)
			grid->of_row[grid->n++] = s;
		grid->row[i] = r;
		grid->first = column < grid->first ? column : grid->first;
		grid->last = column > grid->last ? column : grid->last;
	}
	return CT_OK;
}

static int name_all(const struct ct_picture_make *make, const struct grid *grid)
{
	struct ct_picture *p = make->picture;
	int st = CT_OK;

	p->rows.title = p->rows.word = "operation";
	p->columns.title = "message size";
	p->columns.word = "from";
	for (size_t r = 0; r < grid->n && st == CT_OK; r++) {
		const struct ct_report_size *s = grid->of_row[r];

		st = ct_picture_name(&p->rows, r,
				     ct_arena_printf(make->memory, "%s %s%s", backend_of(s),
						     s->op_name ? s->op_name : "several",
						     s->group ? " grouped" : ""),
				     NULL);
	}
	for (unsigned c = grid->first; c <= grid->last && st == CT_OK; c++) {
		uint64_t bytes = c ? UINT64_C(1) << (c - 1) : 0;
		const char *key = ct_arena_printf(make->memory, "%" PRIu64, bytes);

		st = key ? ct_picture_name(
				   &p->columns, c - grid->first,
				   ct_arena_printf(make->memory, "%s", ct_text_size(bytes).s), key)
			 : CT_NOMEM;
	}
	return st;
}

/* Which values of an entry can be drawn, and which are only listed. */
enum value { COUNT, BYTES, TRANSFER, WAIT, BANDWIDTH, EFFICIENCY, VALUES };
static const struct ct_chart_value values[VALUES] = {
	[COUNT] = { "operations", "histogram.{i}.instances", NULL, "count" },
	[BYTES] = { "bytes", "histogram.{i}.bytes", NULL, "bytes" },
	[TRANSFER] = { "transfer time", "histogram.{i}.transfer_ns", NULL, "ns" },
	[WAIT] = { "wait time", "histogram.{i}.wait_ns", NULL, "ns" },
	[BANDWIDTH] = { "median bus bandwidth", "histogram.{i}.busbw_p50_Bps", NULL, "Bps" },
	[EFFICIENCY] = { "efficiency", "histogram.{i}.efficiency_ratio", NULL, "number" },
};

static const struct drawn {
	const char *title;
	enum ct_picture_unit unit;
	size_t at;		 /* of the value in an entry */
	enum value told[VALUES]; /* the drawn one first */
} drawn[] = {
	[CT_SHOW_COUNT] = { "Operations by size",
			    CT_PICTURE_COUNT,
			    offsetof(struct ct_report_size, instances),
			    { COUNT, BYTES, TRANSFER, WAIT, BANDWIDTH, EFFICIENCY } },
	[CT_SHOW_BYTES] = { "Bytes by operation and size",
			    CT_PICTURE_BYTES,
			    offsetof(struct ct_report_size, bytes),
			    { BYTES, COUNT, TRANSFER, WAIT, BANDWIDTH, EFFICIENCY } },
	[CT_SHOW_TRANSFER] = { "Time of transfers by operation and size",
			       CT_PICTURE_NS,
			       offsetof(struct ct_report_size, transfer_ns),
			       { TRANSFER, WAIT, COUNT, BYTES, BANDWIDTH, EFFICIENCY } },
	[CT_SHOW_WAIT] = { "Time of waiting by operation and size",
			   CT_PICTURE_NS,
			   offsetof(struct ct_report_size, wait_ns),
			   { WAIT, TRANSFER, COUNT, BYTES, BANDWIDTH, EFFICIENCY } },
	[CT_SHOW_BANDWIDTH] = { "Median bus bandwidth by operation and size",
				CT_PICTURE_BPS,
				offsetof(struct ct_report_size, busbw_p50_Bps),
				{ BANDWIDTH, EFFICIENCY, COUNT, BYTES, TRANSFER, WAIT } },
};

static int tell(const struct ct_picture_make *make, const struct drawn *d)
{
	struct ct_chart_value *told = ct_arena_calloc(make->memory, VALUES, sizeof(*told));

	for (size_t i = 0; told && i < VALUES; i++)
		told[i] = values[d->told[i]];
	make->picture->told = told;
	make->picture->n_told = VALUES;
	return told ? CT_OK : CT_NOMEM;
}

int ct_picture_sizes(const struct ct_picture_make *make)
{
	const struct ct_report *report = make->report;
	enum ct_picture_show show = make->request->show;
	const struct drawn *d = &drawn[show == CT_SHOW_DEFAULT ? CT_SHOW_COUNT : show];
	struct ct_picture *p = make->picture;
	struct grid grid;
	int st = lay_out(make, &grid);

	if (st == CT_OK && !grid.n)
		return make->request->backend && report->n_histogram
			       ? ct_fail(make->err, CT_NOTFOUND, "no operation of backend '%s'",
					 make->request->backend)
			       : ct_fail(make->err, CT_EMPTY,
					 report->n_histogram
						 ? "the sizes of operations are not known"
						 : "no operation was seen on all its ranks");
	st = st ?: ct_picture_size(make, grid.n, grid.last - grid.first + 1);
	st = st ?: name_all(make, &grid);
	st = st ?: tell(make, d);
	if (st != CT_OK)
		return st;
	for (size_t i = 0; i < report->n_histogram; i++) {
		const struct ct_report_size *s = &report->histogram[i];
		size_t column = column_of(s->size_range) - grid.first;

		if (grid.row[i] == SIZE_MAX)
			continue;
		grid.row[i] = grid.row[i] * p->columns.n + column;
		p->values[grid.row[i]] = *(const uint64_t *)((const char *)s + d->at);
	}
	p->cell_of = grid.row;
	p->n_cells = report->n_histogram;
	p->title = d->title;
	p->unit = d->unit;
	p->ramp = CT_RAMP_AMOUNT;
	p->scale = "logarithmic scale";
	p->nothing = "no such operation";
	ct_picture_note(p, show == CT_SHOW_TRANSFER || show == CT_SHOW_WAIT
				   ? "Sums over all communicators of a backend, all its ranks and "
				     "instances."
				   : "Over all communicators of a backend.");
	return ct_picture_scale_log(make);
}
