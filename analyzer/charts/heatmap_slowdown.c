/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap_slowdown.c — S_w, how much longer a step takes if only this rank computes as recorded:
 * stages by workers; hosts by their ranks where there is no pipeline. The values are those of
 * what_if in the report. */
#include <math.h>
#include <string.h>

#include "analyzer/charts/heatmap_private.h"

/* Which cell each entry of what_if.s_rank is in. */
struct grid {
	size_t rows, columns;
	size_t *row, *column; /* by entry; row SIZE_MAX: it has none */
	int is_pipeline;
};

/* By host, in the order of run.hosts; within it by rank, as the entries are. */
static int lay_out_hosts(const struct ct_heatmap_make *make, struct grid *grid)
{
	const struct ct_report_whatif *w = &make->report->whatif;
	const struct ct_report_run *run = &make->report->run;
	size_t *count = ct_arena_calloc(make->memory, run->n_hosts + 1, sizeof(*count));

	if (!count)
		return CT_NOMEM;
	grid->rows = run->n_hosts;
	for (size_t i = 0; i < w->n_ranks; i++) {
		const char *host = w->ranks[i].rank < 0
					   ? NULL
					   : ct_heatmap_host_of(make->report, w->ranks[i].rank);
		size_t h = 0;

		while (host && h < run->n_hosts && strcmp(run->hosts[h], host) != 0)
			h++;
		grid->row[i] = SIZE_MAX;
		if (!host || h == run->n_hosts)
			continue;
		grid->row[i] = h;
		grid->column[i] = count[h]++;
		grid->columns = count[h] > grid->columns ? count[h] : grid->columns;
	}
	return CT_OK;
}

static void lay_out_stages(const struct ct_report_whatif *w, struct grid *grid)
{
	grid->rows = w->n_stages;
	for (size_t i = 0; i < w->n_ranks; i++) {
		grid->row[i] = w->ranks[i].stage;
		grid->column[i] = w->ranks[i].worker;
		if (w->ranks[i].worker >= grid->columns)
			grid->columns = w->ranks[i].worker + 1;
	}
}

static int lay_out(const struct ct_heatmap_make *make, struct grid *grid)
{
	const struct ct_report_whatif *w = &make->report->whatif;

	*grid = (struct grid){ .is_pipeline = w->n_stages > 1 };
	grid->row = ct_arena_calloc(make->memory, w->n_ranks + 1, sizeof(*grid->row));
	grid->column = ct_arena_calloc(make->memory, w->n_ranks + 1, sizeof(*grid->column));
	if (!grid->row || !grid->column)
		return CT_NOMEM;
	if (!grid->is_pipeline)
		return lay_out_hosts(make, grid);
	lay_out_stages(w, grid);
	return CT_OK;
}

static int name_axes(const struct ct_heatmap_make *make, const struct grid *grid)
{
	struct ct_heatmap *p = make->heatmap;
	int st = CT_OK;

	p->rows.title = p->rows.word = grid->is_pipeline ? "stage" : "host";
	p->rows.about = grid->is_pipeline ? NULL : "host";
	p->columns.title = grid->is_pipeline ? "data-parallel worker"
					     : "rank of the host, in order";
	p->columns.word = grid->is_pipeline ? "worker" : "number";
	for (size_t r = 0; r < p->rows.n && st == CT_OK; r++)
		st = ct_heatmap_name(&p->rows, r,
				     grid->is_pipeline ? ct_arena_printf(make->memory, "%zu", r)
						       : make->report->run.hosts[r],
				     NULL);
	for (size_t c = 0; c < p->columns.n && st == CT_OK; c++)
		st = ct_heatmap_name(&p->columns, c, ct_arena_printf(make->memory, "%zu", c), NULL);
	return st;
}

/* Values, ratios for the scale, and which rank each cell is. */
static int put_cells(const struct ct_heatmap_make *make, struct grid *grid, double *ratios)
{
	const struct ct_report_whatif *w = &make->report->whatif;
	struct ct_heatmap *p = make->heatmap;

	p->cell_names = ct_arena_calloc(make->memory, grid->rows * grid->columns,
					sizeof(*p->cell_names));
	if (!p->cell_names)
		return CT_NOMEM;
	for (size_t i = 0; i < grid->rows * grid->columns; i++)
		ratios[i] = NAN;
	for (size_t i = 0; i < w->n_ranks; i++) {
		const struct ct_report_slowdown *rank = &w->ranks[i];
		size_t cell = grid->row[i];

		if (cell == SIZE_MAX)
			continue;
		cell = cell * grid->columns + grid->column[i];
		grid->row[i] = cell;
		ratios[cell] = rank->s;
		p->values[cell] = isnan(rank->s) ? CT_HEATMAP_UNKNOWN
						 : (uint64_t)llround(rank->s * CT_HEATMAP_PARTS);
		p->cell_names[cell] = ct_arena_printf(make->memory, "rank %s",
						      ct_text_rank(rank->rank).s);
		if (!p->cell_names[cell])
			return CT_NOMEM;
	}
	p->cell_of = grid->row;
	p->n_cells = w->n_ranks;
	return CT_OK;
}

static void say(const struct ct_heatmap_make *make, const struct grid *grid)
{
	const struct ct_report_whatif *w = &make->report->whatif;
	int unknown = 0;

	for (size_t i = 0; i < w->n_ranks; i++)
		unknown |= isnan(w->ranks[i].s);
	ct_heatmap_note(make->heatmap,
			ct_arena_printf(make->memory,
					"S of the job is %.3f ± %.3f: its step time relative to a "
					"balanced job.",
					w->s, w->s_err));
	ct_heatmap_note(
		make->heatmap,
		grid->is_pipeline
			? "A cell is the smaller of two values: S if only its stage computes "
			  "as recorded and all others evenly, and S if only its worker does."
			: "A cell is S if only this rank computes as recorded and all "
			  "others evenly.");
	if (unknown)
		ct_heatmap_note(make->heatmap,
				"Not all ranks were replayed: only those with most excess.");
}

static const struct ct_chart_value tips[] = {
	{ "S_w", "what_if.s_rank.{i}.s", NULL, "number" },
	{ "rank", "what_if.s_rank.{i}.rank", NULL, "whole" },
};

int ct_heatmap_slowdown(const struct ct_heatmap_make *make)
{
	const struct ct_report_whatif *w = &make->report->whatif;
	struct ct_heatmap *p = make->heatmap;
	struct grid grid;
	double *ratios;
	int st;

	if (isnan(w->s))
		return ct_fail(make->err, CT_EMPTY, "S is not known: %s",
			       w->why_not ? w->why_not : "nothing was replayed");
	st = lay_out(make, &grid);
	st = st ?: ct_heatmap_size(make, grid.rows, grid.columns);
	st = st ?: name_axes(make, &grid);
	if (st != CT_OK)
		return st;
	ratios = ct_arena_calloc(make->memory, grid.rows * grid.columns, sizeof(*ratios));
	if (!ratios || put_cells(make, &grid, ratios) != CT_OK)
		return CT_NOMEM;
	p->title = grid.is_pipeline ? "Slowdown S_w by stage and worker"
				    : "Slowdown S_w by host and rank";
	p->unit = CT_HEATMAP_RATIO;
	p->nothing = "no such rank";
	p->ramp = CT_RAMP_RATIO;
	p->scale = "step time vs. a balanced job";
	ct_heatmap_scale_ratio(p, ratios);
	p->tips = tips;
	p->n_tips = sizeof(tips) / sizeof(tips[0]);
	p->picks = "what_if.s_rank.{i}.rank";
	say(make, &grid);
	return CT_OK;
}
