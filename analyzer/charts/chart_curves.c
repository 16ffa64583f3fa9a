/* SPDX-License-Identifier: Apache-2.0 */
/* chart_curves.c — bus bandwidth by size: medians that were measured, and the fit of latency and
 * bandwidth at the same sizes. */
#include <math.h>
#include <stdio.h>

#include "analyzer/charts/plot.h"
#include "analyzer/model/comm_spec.h"
#include "trace/status.h"

/* size: ticks at most; two charts beside each other have space for half as many sizes */
#define SIZES 16u
#define SIZES_OF_TWO 8u
#define RATES 9u
#define ROOM 1.3 /* around the values */

static int is_drawn(const struct ct_report_curve_point *p)
{
	return p->bytes && p->bytes != CT_UNKNOWN && p->busbw_Bps && p->busbw_Bps != CT_UNKNOWN;
}

struct axis_range {
	double low, high;
};

static void widen(struct axis_range *range, uint64_t value)
{
	range->low = fmin(range->low, (double)value / ROOM);
	range->high = fmax(range->high, (double)value * ROOM);
}

static void widen_all(struct axis_range *x, struct axis_range *y,
		      const struct ct_report_curve_point *points, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_drawn(&points[i]))
			continue;
		widen(x, points[i].bytes);
		widen(y, points[i].busbw_Bps);
	}
}

/* Around what was widened. */
static int make_axes(struct ct_arena *memory, struct ct_plot *plot, struct axis_range *x,
		     struct axis_range *y, size_t sizes)
{
	if (x->high <= 0)
		return CT_EMPTY;
	plot->x.title = "size";
	plot->y.title = "bus bandwidth";
	if (ct_ticks_sizes(memory, &x->low, &x->high, (unsigned)sizes, &plot->x.ticks) != CT_OK)
		return CT_NOMEM;
	return ct_ticks_log(memory, &y->low, &y->high, RATES, ct_prose_Bps, &plot->y.ticks);
}

static float axis_position(const struct axis_range *range, uint64_t value)
{
	return (float)(log((double)value / range->low) / log(range->high / range->low));
}

static const struct ct_report_curve_point *fit_at(const struct ct_report_curve *c, uint64_t bytes,
						  size_t *at)
{
	for (*at = 0; *at < c->n_fit; (*at)++) {
		if (c->fit[*at].bytes == bytes && is_drawn(&c->fit[*at]))
			return &c->fit[*at];
	}
	return NULL;
}

static float *series(struct ct_plot *plot, struct ct_arena *memory, const char *text,
		     enum ct_plot_look look, const char *colour, size_t n)
{
	float *y = ct_arena_calloc(memory, n + 1, sizeof(*y));

	plot->series[plot->n_series++] = (struct ct_plot_series){ text, look, colour, y };
	return text ? y : NULL;
}

static int put_points(const struct ct_report_curve *c, struct ct_arena *memory,
		      struct ct_plot *plot, const struct axis_range *x, const struct axis_range *y)
{
	float *fit = c->n_fit ? series(plot, memory, "fit", CT_LOOK_LINE, "orange", c->n_points)
			      : NULL;
	float *measured = series(plot, memory, "measured, median", CT_LOOK_DOT, "blue",
				 c->n_points);

	plot->at = ct_arena_calloc(memory, c->n_points + 1, sizeof(*plot->at));
	plot->item_of = ct_arena_calloc(memory, c->n_points + 1, sizeof(*plot->item_of));
	if (!measured || !plot->at || !plot->item_of || (c->n_fit && !fit))
		return CT_NOMEM;
	for (size_t i = 0; i < c->n_points; i++) {
		const struct ct_report_curve_point *p = &c->points[i], *f;
		size_t at;

		if (!is_drawn(p))
			continue;
		plot->at[plot->n] = axis_position(x, p->bytes);
		plot->item_of[plot->n] = i;
		measured[plot->n] = axis_position(y, p->busbw_Bps);
		f = fit_at(c, p->bytes, &at);
		if (fit)
			fit[plot->n] = f ? axis_position(y, f->busbw_Bps) : NAN;
		plot->n++;
	}
	return plot->n ? CT_OK : CT_EMPTY;
}

static int put_limit(const struct ct_report_curve *c, struct ct_arena *memory, struct ct_plot *plot,
		     const struct axis_range *y)
{
	float *level;

	if (!c->beta_Bps || c->beta_Bps == CT_UNKNOWN || (double)c->beta_Bps < y->low ||
	    (double)c->beta_Bps > y->high)
		return CT_OK;
	level = series(plot, memory,
		       ct_arena_printf(memory, "fitted bandwidth %s", ct_prose_Bps(c->beta_Bps).s),
		       CT_LOOK_DASH, "orange", plot->n);
	if (!level)
		return CT_NOMEM;
	for (size_t i = 0; i < plot->n; i++)
		level[i] = axis_position(y, c->beta_Bps);
	return CT_OK;
}

static int set_tips(struct ct_plot *plot, size_t curve, const struct ct_report_curve *c,
		    struct ct_arena *memory)
{
	static const struct ct_chart_value known[] = {
		{ "median bus bandwidth", "points.{i}.busbw_Bps", NULL, "Bps" },
		{ "mean size", "points.{i}.bytes", NULL, "bytes" },
		{ "operations", "points.{i}.op_count", NULL, "count" },
		{ "by the fit", "fit.{i}.busbw_Bps", NULL, "Bps" },
	};
	struct ct_chart_value *tips = ct_arena_calloc(memory, 4, sizeof(*tips));

	plot->tips = tips;
	plot->n_tips = c->n_fit == c->n_points ? 4 : 3;
	for (size_t i = 0; tips && i < plot->n_tips; i++) {
		tips[i] = known[i];
		tips[i].path = ct_arena_printf(memory, "curves.%zu.%s", curve, known[i].path);
		if (!tips[i].path)
			return CT_NOMEM;
	}
	return tips ? CT_OK : CT_NOMEM;
}

static const char *summary_of(const struct ct_report_curve *c, struct ct_arena *memory)
{
	const char *op = c->op_name ? c->op_name : "Operations";

	if (!c->n_fit)
		return ct_arena_printf(memory, "%s: too few sizes to fit latency and bandwidth.",
				       op);
	return ct_arena_printf(memory, "%s: bandwidth %s, latency %s by the fit.", op,
			       ct_prose_Bps(c->beta_Bps).s, ct_prose_ns(c->alpha_ns).s);
}

static const char *title_of(const struct ct_report_curve *c, struct ct_arena *memory)
{
	return ct_arena_printf(memory, "%s, %s%s%.60s", c->op_name ? c->op_name : "?",
			       ct_comm_digits(c->comm_hash).s, c->comm_name ? " " : "",
			       c->comm_name ? c->comm_name : "");
}

int ct_plot_curve(const struct ct_report *report, size_t curve, struct ct_arena *memory,
		  struct ct_plot *plot)
{
	const struct ct_report_curve *c = &report->curves[curve];
	struct axis_range x = { INFINITY, 0 }, y = { INFINITY, 0 };
	int st;

	*plot = (struct ct_plot){ .comm_hash = c->comm_hash };
	widen_all(&x, &y, c->points, c->n_points);
	widen_all(&x, &y, c->fit, c->n_fit);
	st = make_axes(memory, plot, &x, &y, SIZES) ?: put_points(c, memory, plot, &x, &y);
	st = st ?: put_limit(c, memory, plot, &y);
	st = st ?: set_tips(plot, curve, c, memory);
	plot->title = title_of(c, memory);
	plot->summary = summary_of(c, memory);
	return st == CT_OK && (!plot->title || !plot->summary) ? CT_NOMEM : st;
}

static void put_curve(const struct ct_report_curve *c, const struct axis_range *x,
		      const struct axis_range *y, struct ct_plot *plot, float *mine, float *other)
{
	for (size_t i = 0; i < c->n_points; i++) {
		if (!is_drawn(&c->points[i]))
			continue;
		plot->at[plot->n] = axis_position(x, c->points[i].bytes);
		mine[plot->n] = axis_position(y, c->points[i].busbw_Bps);
		other[plot->n++] = NAN;
	}
}

int ct_plot_two_curves(const struct ct_report_curve *base, const struct ct_report_curve *run,
		       struct ct_arena *memory, struct ct_plot *plot)
{
	struct axis_range x = { INFINITY, 0 }, y = { INFINITY, 0 };
	size_t room = base->n_points + run->n_points;
	float *of_base, *of_run;
	int st;

	*plot = (struct ct_plot){ 0 };
	widen_all(&x, &y, base->points, base->n_points);
	widen_all(&x, &y, run->points, run->n_points);
	st = make_axes(memory, plot, &x, &y, SIZES_OF_TWO);
	if (st != CT_OK)
		return st;
	of_base = series(plot, memory, "base", CT_LOOK_DOT, "orange", room);
	of_run = series(plot, memory, "run", CT_LOOK_DOT, "blue", room);
	plot->at = ct_arena_calloc(memory, room + 1, sizeof(*plot->at));
	plot->title = ct_arena_printf(memory, "%s", run->op_name ? run->op_name : "?");
	if (!of_base || !of_run || !plot->at || !plot->title)
		return CT_NOMEM;
	put_curve(base, &x, &y, plot, of_base, of_run);
	put_curve(run, &x, &y, plot, of_run, of_base);
	return plot->n ? CT_OK : CT_EMPTY;
}
