/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap_ranks.c — time x rank and rank x step, out of the report's heatmaps (charts/heat.h). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/charts/heatmap_private.h"

/* Ticks of an axis of time, at most. */
#define TIMES 16u

/* Rows of the heatmap: those of the report, or its ranks folded into hosts. */
struct heat_rows {
	const struct ct_report_heat_rows *from;
	size_t n;
	size_t *to;	    /* by row of the heatmap */
	const char **hosts; /* NULL: ranks */
};

const char *ct_heatmap_host_of(const struct ct_report *report, int rank)
{
	for (size_t i = 0; i < report->n_ranks; i++) {
		if (report->ranks[i].rank == rank)
			return report->ranks[i].host;
	}
	return NULL;
}

/* Ranks of one host become a row, in the order of run.hosts. */
static int fold(const struct ct_heatmap_make *make, struct heat_rows *rows)
{
	const struct ct_report_run *run = &make->report->run;

	rows->n = run->n_hosts;
	rows->hosts = run->hosts;
	for (size_t r = 0; r < rows->from->n; r++) {
		const char *host = ct_heatmap_host_of(make->report, rows->from->ranks[r]);

		rows->to[r] = run->n_hosts;
		for (size_t h = 0; h < run->n_hosts && host; h++) {
			if (strcmp(run->hosts[h], host) == 0)
				rows->to[r] = h;
		}
		if (rows->to[r] == run->n_hosts)
			return ct_fail(make->err, CT_NOTFOUND,
				       "it is not known which host rank %d was on",
				       rows->from->ranks[r]);
	}
	return CT_OK;
}

static int choose_rows(const struct ct_heatmap_make *make, const struct ct_report_heat_rows *from,
		       struct heat_rows *rows)
{
	enum ct_heatmap_by by = make->request->by;

	*rows = (struct heat_rows){ .from = from, .n = from->n, .hosts = from->hosts };
	rows->to = ct_arena_calloc(make->memory, from->n + 1, sizeof(*rows->to));
	if (!rows->to)
		return CT_NOMEM;
	for (size_t r = 0; r < from->n; r++)
		rows->to[r] = r;
	if (by == CT_BY_RANK && from->hosts)
		return ct_fail(make->err, CT_NOTFOUND,
			       "there are too many ranks: only hosts are kept");
	return by == CT_BY_HOST && !from->hosts ? fold(make, rows) : CT_OK;
}

static int name_rows(const struct ct_heatmap_make *make, const struct heat_rows *rows)
{
	struct ct_heatmap_axis *axis = &make->heatmap->rows;
	int st = CT_OK;

	axis->title = rows->hosts ? "host" : "rank";
	axis->word = axis->about = axis->title;
	for (size_t r = 0; r < rows->n && st == CT_OK; r++)
		st = ct_heatmap_name(axis, r,
				     rows->hosts ? rows->hosts[r]
						 : ct_arena_printf(make->memory, "%d",
								   rows->from->ranks[r]),
				     NULL);
	return st;
}

/* `why` there are none, if so. */
static int open_rows(const struct ct_heatmap_make *make, const struct ct_report_heat_rows *from,
		     size_t columns, const char *why, struct heat_rows *rows)
{
	int st = choose_rows(make, from, rows) ?: ct_heatmap_size(make, rows->n, columns);

	if (st == CT_EMPTY)
		return ct_fail(make->err, st, "%s", why);
	return st ?: name_rows(make, rows);
}

/* A host's is the largest of its ranks that is known. */
static void put_cells(struct ct_heatmap *p, const struct heat_rows *rows, const uint64_t *values)
{
	size_t columns = p->columns.n;

	for (size_t i = 0; i < p->rows.n * columns; i++)
		p->values[i] = CT_HEATMAP_UNKNOWN;
	for (size_t r = 0; r < rows->from->n; r++) {
		uint64_t *to = p->values + rows->to[r] * columns;

		for (size_t c = 0; c < columns; c++) {
			uint64_t value = values[r * columns + c];

			if (value != CT_UNKNOWN && (to[c] == CT_HEATMAP_UNKNOWN || value > to[c]))
				to[c] = value;
		}
	}
}

static void say_rows(struct ct_heatmap *p, const struct heat_rows *rows)
{
	if (rows->hosts)
		ct_heatmap_note(p, "A row is a host: the largest of its ranks.");
}

static void say_why(const struct ct_heatmap_make *make, const char *why)
{
	if (why)
		ct_heatmap_note(make->heatmap,
				ct_arena_printf(make->memory, "Not all of it is known: %s.", why));
}

/* ---- waits ---- */

static int name_times(const struct ct_heatmap_make *make, const struct ct_report_heat_waits *w)
{
	struct ct_heatmap_axis *axis = &make->heatmap->columns;
	int st = CT_OK;

	axis->title = "time since the run began";
	axis->word = "from";
	st = ct_ticks_round(make->memory, w->begin_at_ns,
			    w->begin_at_ns + w->columns * w->column_ns, TIMES, ct_prose_ns,
			    &axis->ticks);
	for (size_t c = 0; c < axis->n && st == CT_OK; c++) {
		uint64_t at = w->begin_at_ns + c * w->column_ns;
		const char *key = ct_arena_printf(make->memory, "%" PRIu64, at);

		st = key ? ct_heatmap_name(axis, c,
					   ct_arena_printf(make->memory, "%s", ct_prose_ns(at).s),
					   key)
			 : CT_NOMEM;
	}
	return st;
}

static int mark_times(const struct ct_heatmap_make *make, const struct ct_report_heat_waits *w)
{
	return ct_chart_spans_by_time(make->report, make->memory, w->begin_at_ns,
				      w->begin_at_ns + w->columns * w->column_ns,
				      &make->heatmap->spans);
}

/* The first two are the layers of the heatmap, waits and lateness. */
#define VALUES 4
static const struct ct_chart_value time_values[VALUES] = {
	{ "waited", "heatmaps.waits.wait_ns.{r}.{c}", "heatmaps.waits.err_ns", "ns" },
	{ "others waited for it", "heatmaps.waits.lateness_ns.{r}.{c}",
	  "heatmaps.waits.lateness_err_ns", "ns" },
	{ "begins", "heatmaps.waits.column_begin_ns.{c}", NULL, "ns" },
	{ "lasts", "heatmaps.waits.column_ns", NULL, "ns" },
};

static int name_steps(const struct ct_heatmap_make *make, const struct ct_report_heat_steps *h)
{
	struct ct_heatmap_axis *axis = &make->heatmap->columns;
	int st = CT_OK;

	axis->title = "step";
	axis->word = "step";
	for (size_t c = 0; c < axis->n && st == CT_OK; c++)
		st = ct_heatmap_name(
			axis, c, ct_arena_printf(make->memory, "%" PRIu64, h->first_step[c]), NULL);
	return st;
}

static int mark_steps(const struct ct_heatmap_make *make, const struct ct_report_heat_steps *h)
{
	return ct_chart_spans_by_step(make->report, make->memory, h->first_step, h->columns,
				      h->first_step[h->columns - 1] + h->steps_each,
				      &make->heatmap->spans);
}

static int open_steps(const struct ct_heatmap_make *make, struct heat_rows *rows)
{
	const struct ct_report_heat_steps *h = &make->report->heat.steps;
	int st = open_rows(make, &h->rows, h->columns, h->why ? h->why : "no steps were found",
			   rows);

	return st ?: name_steps(make, h) ?: mark_steps(make, h);
}

static void say_steps(const struct ct_heatmap_make *make, const struct ct_report_heat_steps *h,
		      uint64_t err_ns)
{
	struct ct_unit_text err = ct_prose_ns(err_ns);

	if (h->steps_each == 1)
		ct_heatmap_note(make->heatmap,
				ct_arena_printf(make->memory,
						"One column per step; each value ± %s.", err.s));
	else
		ct_heatmap_note(make->heatmap,
				ct_arena_printf(make->memory,
						"One column per %" PRIu64
						" steps; each value is their mean, ± %s.",
						h->steps_each, err.s));
}

static const struct ct_chart_value step_values[VALUES] = {
	{ "waited", "heatmaps.steps.wait_ns.{r}.{c}", "heatmaps.steps.wait_err_ns", "ns" },
	{ "others waited for it", "heatmaps.steps.lateness_ns.{r}.{c}",
	  "heatmaps.steps.lateness_err_ns", "ns" },
	{ "step", "heatmaps.steps.first_step.{c}", NULL, "whole" },
	{ "steps in a column", "heatmaps.steps.steps_per_column", NULL, "whole" },
};

static int look_like_waits(const struct ct_heatmap_make *make, uint64_t run_ns,
			   const struct ct_chart_value *values)
{
	struct ct_heatmap *p = make->heatmap;
	int late = make->request->show == CT_SHOW_LATENESS;
	struct ct_chart_value *ordered = ct_arena_calloc(make->memory, VALUES, sizeof(*ordered));

	if (!ordered)
		return CT_NOMEM;
	memcpy(ordered, values, VALUES * sizeof(*ordered));
	ordered[0] = values[late];
	ordered[1] = values[!late];
	p->tips = ordered;
	p->n_tips = VALUES;
	p->title = late ? "Lateness by rank" : "Wait by rank";
	p->unit = CT_HEATMAP_NS;
	p->nothing = late ? "no peer waited" : p->nothing;
	p->zero_is_nothing = late;
	p->ramp = late ? CT_RAMP_LATE : CT_RAMP_WAIT;
	return ct_heatmap_scale_share(make, run_ns);
}

/* The same, step by step: nothing before the first step and after the last one. */
static int waits_by_step(const struct ct_heatmap_make *make)
{
	const struct ct_report_heat_steps *h = &make->report->heat.steps;
	int late = make->request->show == CT_SHOW_LATENESS;
	struct ct_heatmap *p = make->heatmap;
	struct heat_rows rows;
	int st = open_steps(make, &rows);

	if (st != CT_OK)
		return st;
	put_cells(p, &rows, late ? h->lateness_ns : h->wait_ns);
	p->scale = "% of the median step (square root)";
	say_steps(make, h, late ? h->lateness_err_ns : h->wait_err_ns);
	say_rows(p, &rows);
	return look_like_waits(make, make->report->steps.time_p50_ns, step_values);
}

int ct_heatmap_waits(const struct ct_heatmap_make *make)
{
	const struct ct_report_heat_waits *w = &make->report->heat.waits;
	int late = make->request->show == CT_SHOW_LATENESS;
	struct ct_heatmap *p = make->heatmap;
	struct heat_rows rows;
	int st;

	if (make->request->by_step)
		return waits_by_step(make);
	st = open_rows(make, &w->rows, w->columns,
		       w->why ? w->why : "no communication was recorded", &rows);
	st = st ?: name_times(make, w);
	st = st ?: mark_times(make, w);
	if (st != CT_OK)
		return st;
	put_cells(p, &rows, late ? w->lateness_ns : w->wait_ns);
	p->scale = "% of column time (square root)";
	ct_heatmap_note(p, ct_arena_printf(make->memory, "One column per %s; each value ± %s.",
					   ct_prose_ns(w->column_ns).s,
					   ct_prose_ns(late ? w->lateness_err_ns : w->err_ns).s));
	say_rows(p, &rows);
	say_why(make, w->why);
	return look_like_waits(make, w->column_ns, time_values);
}

/* ---- compute time by step ---- */

/* Ranks are compared with the median rank, and hosts with the median host: the largest of a host's
 * ranks is above the median rank by chance. */
static double *ratios_of(const struct ct_heatmap_make *make, const struct heat_rows *rows,
			 const struct ct_report_heat_steps *h)
{
	const struct ct_heatmap *p = make->heatmap;
	size_t columns = p->columns.n;
	double *ratios = ct_arena_calloc(make->memory, p->rows.n * columns, sizeof(*ratios));
	uint64_t *known = ct_arena_calloc(make->memory, p->rows.n, sizeof(*known));

	if (!ratios || !known)
		return NULL;
	if (!rows->hosts) {
		memcpy(ratios, h->outside_comm_ratio, p->rows.n * columns * sizeof(*ratios));
		return ratios;
	}
	for (size_t c = 0; c < columns; c++) {
		double median = 0;
		size_t n = 0;

		for (size_t r = 0; r < p->rows.n; r++) {
			if (p->values[r * columns + c] != CT_HEATMAP_UNKNOWN)
				known[n++] = p->values[r * columns + c];
		}
		qsort(known, n, sizeof(*known), ct_by_u64);
		if (n)
			median = ((double)known[(n - 1) / 2] + (double)known[n / 2]) / 2;
		for (size_t r = 0; r < p->rows.n; r++)
			ratios[r * columns + c] = median > 0 && p->values[r * columns + c] !=
									  CT_HEATMAP_UNKNOWN
							  ? (double)p->values[r * columns + c] /
								    median
							  : NAN;
	}
	return ratios;
}

static const struct ct_chart_value gap_values[] = {
	{ "outside communication", "heatmaps.steps.outside_comm_ns.{r}.{c}",
	  "heatmaps.steps.err_ns", "ns" },
	{ "of the median rank", "heatmaps.steps.outside_comm_ratio.{r}.{c}", NULL, "number" },
	{ "step", "heatmaps.steps.first_step.{c}", NULL, "whole" },
	{ "steps in a column", "heatmaps.steps.steps_per_column", NULL, "whole" },
};

int ct_heatmap_steps(const struct ct_heatmap_make *make)
{
	const struct ct_report_heat_steps *h = &make->report->heat.steps;
	struct ct_heatmap *p = make->heatmap;
	struct heat_rows rows;
	double *ratios;
	int st = open_steps(make, &rows);

	if (st != CT_OK)
		return st;
	put_cells(p, &rows, h->outside_comm_ns);
	ratios = ratios_of(make, &rows, h);
	if (!ratios)
		return CT_NOMEM;
	p->title = "Time outside communication";
	p->unit = CT_HEATMAP_NS;
	p->ramp = CT_RAMP_RATIO;
	p->scale = rows.hosts ? "vs. median host" : "vs. median rank";
	ct_heatmap_scale_ratio(p, ratios);
	p->tips = gap_values;
	p->n_tips = sizeof(gap_values) / sizeof(gap_values[0]);
	say_steps(make, h, h->err_ns);
	say_rows(p, &rows);
	say_why(make, h->why);
	return CT_OK;
}
