/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/html/charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/charts/heatmap.h"
#include "analyzer/charts/plot.h"
#include "analyzer/model/comm_spec.h"
#include "analyzer/render/json_value.h"
#include "trace/status.h"

/* A cell is a byte: below LEVELS a color of the view's ramps, one after the other. */
#define LEVELS 252u
#define LEVEL_UNKNOWN 252u
#define LEVEL_BLANK 253u
/* Decimals of positions: a 10,000th of a chart is less than a pixel. */
#define PARTS 10000.0

struct charts {
	const struct ct_report *report;
	struct ct_arena *memory;
	json_t *views; /* of the chart being made */
	int failed;
};

static json_t *position(double at)
{
	return isnan(at) ? json_null() : json_integer((json_int_t)lround(at * PARTS));
}

static json_t *positions(const float *at, size_t n)
{
	return CT_JSON_ARRAY(i, n, position(at[i]));
}

/* [[position, text]...] */
static json_t *ticks(const struct ct_tick *t, size_t n)
{
	return CT_JSON_ARRAY(i, n, json_pack("[o, o]", position(t[i].at), ct_json_text(t[i].text)));
}

/* [[finding, from, to]...] */
static json_t *spans(const struct ct_chart_spans *all)
{
	return CT_JSON_ARRAY(i, all->n,
			     json_pack("[i, o, o]", all->items[i].id, position(all->items[i].from),
				       position(all->items[i].to)));
}

/* [[label, path, unit, error's path or null]...] */
static json_t *tips(const struct ct_chart_value *v, size_t n)
{
	return CT_JSON_ARRAY(
		i, n, json_pack("[s?, s?, s?, s?]", v[i].label, v[i].path, v[i].unit, v[i].err));
}

static json_t *integers(const size_t *values, size_t n)
{
	return CT_JSON_ARRAY(i, n,
			     json_integer(values[i] == SIZE_MAX ? -1 : (json_int_t)values[i]));
}

/* ---- heatmaps ---- */

static json_t *axis(const struct ct_heatmap_axis *a)
{
	return CT_JSON({ "title", ct_json_text(a->title) }, { "word", ct_json_text(a->word) },
		       { "about", ct_json_text(a->about) },
		       { "names", ct_json_texts(a->names, a->n) },
		       { "ticks", ticks(a->ticks.items, a->ticks.n) });
}

static const char *const ramp_names[] = { [CT_RAMP_AMOUNT] = "amount",
					  [CT_RAMP_WAIT] = "wait",
					  [CT_RAMP_LATE] = "late",
					  [CT_RAMP_RATIO] = "ratio" };

static json_t *legend(const struct ct_heatmap *p)
{
	return CT_JSON({ "ramp", json_string(ramp_names[p->ramp]) },
		       { "title", ct_json_text(p->title) }, { "scale", ct_json_text(p->scale) },
		       { "marks", ticks(p->marks, p->n_marks) });
}

/* What a cell shows where a second heatmap lies over the first: what is strong there, or stronger
 * than below. */
#define STRONG 0.3f

static int covers(float over, float below)
{
	return over > 0 && (over >= STRONG || !(over < below));
}

static unsigned level_of(float shade, unsigned ramps, unsigned which)
{
	unsigned n = LEVELS / ramps;

	if (isnan(shade))
		return LEVEL_UNKNOWN;
	return shade < 0 ? LEVEL_BLANK
			 : which * n + (unsigned)lround(fmin(shade, 1) * (double)(n - 1));
}

static unsigned char level_at(const struct ct_heatmap *p, const struct ct_heatmap *over, size_t i)
{
	if (over && covers(over->shades[i], p->shades[i]))
		return (unsigned char)level_of(over->shades[i], 2, 1);
	return (unsigned char)level_of(p->shades[i], over ? 2 : 1, 0);
}

/* Levels of all cells, or of the entries that have one, in base64. */
static json_t *levels(struct charts *charts, const struct ct_heatmap *p,
		      const struct ct_heatmap *over)
{
	static const char
		digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = p->cell_of ? p->n_cells : p->rows.n * p->columns.n;
	char *text = ct_arena_calloc(charts->memory, n / 3 * 4 + 5, 1), *to = text;

	for (size_t i = 0; text && i < n; i += 3, to += 4) {
		unsigned char b[3] = { 0 };
		uint32_t three;

		for (size_t k = 0; k < 3 && i + k < n; k++) {
			size_t cell = p->cell_of ? p->cell_of[i + k] : i + k;

			b[k] = cell == SIZE_MAX ? LEVEL_BLANK : level_at(p, over, cell);
		}
		three = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
		to[0] = digits[three >> 18];
		to[1] = digits[three >> 12 & 63];
		to[2] = i + 1 < n ? digits[three >> 6 & 63] : '=';
		to[3] = i + 2 < n ? digits[three & 63] : '=';
	}
	return ct_json_text(text);
}

/* { choice: { label: value } }, of the switches that lead to the view. */
static json_t *choice(const char *const words[][2])
{
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; words[i][0]; i++)
		ct_json_set(o, words[i][0], ct_json_text(words[i][1]), &failed);
	return ct_json_done(o, failed);
}

/* A view of the chart at hand; `like`: the view whose axes and cells it shares, or -1. */
static json_t *heatmap(struct charts *charts, const struct ct_heatmap *p,
		       const struct ct_heatmap *over, const char *const words[][2], int like)
{
	const struct ct_heatmap *const shown[] = { p, over };
	json_t *o = CT_JSON(
		{ "choice", choice(words) }, { "title", ct_json_text(p->title) },
		{ "summary", ct_json_text(p->summary) },
		{ "notes", ct_json_texts(p->notes, p->n_said) },
		{ "tips", tips(p->tips, p->n_tips) },
		{ "ramps", CT_JSON_ARRAY(i, over ? 2 : 1, legend(shown[i])) },
		{ "nothing", ct_json_text(p->has_nothing ? p->nothing : NULL) },
		{ "unknown", json_boolean(p->has_unknown) }, { "levels", levels(charts, p, over) },
		{ "square", json_boolean(p->columns.about && p->rows.n == p->columns.n) });
	int *failed = &charts->failed;

	if (like >= 0) {
		ct_json_set(o, "like", json_integer(like), failed);
	} else {
		ct_json_set(o, "rows", axis(&p->rows), failed);
		ct_json_set(o, "columns", axis(&p->columns), failed);
		ct_json_set(o, "cells", p->cell_of ? integers(p->cell_of, p->n_cells) : json_null(),
			    failed);
		ct_json_set(o, "spans", spans(&p->spans), failed);
		ct_json_set(o, "picks", ct_json_text(p->picks), failed);
	}
	ct_json_append(charts->views, o, failed);
	return o;
}

/* 0; CT_EMPTY: there is none of that kind, err->text says why. */
static int make(struct charts *charts, struct ct_heatmap_request request, struct ct_heatmap *p,
		struct ct_err *err)
{
	int st = ct_heatmap_make(charts->report, &request, charts->memory, p, err);

	if (st == CT_NOMEM)
		charts->failed = 1;
	return st;
}

static const char *layer_name(struct charts *charts, const struct ct_traffic_layer *l)
{
	if (strcmp(l->kind, "all") == 0)
		return "all traffic";
	if (strcmp(l->kind, "comm") != 0)
		return ct_arena_printf(charts->memory, "%s %s", l->kind, l->name ? l->name : "n/a");
	return ct_arena_printf(charts->memory, "%s%s%.60s%s%s%s", ct_comm_digits(l->comm_hash).s,
			       l->name ? " " : "", l->name ? l->name : "", l->backend ? " (" : "",
			       l->backend ? l->backend : "", l->backend ? ")" : "");
}

/* The views of a layer: one for each measure that it has. */
static void add_layer(struct charts *charts, const struct ct_traffic_layer *l, struct ct_err *err)
{
	static const struct {
		enum ct_heatmap_show show;
		const char *word;
	} shows[] = { { CT_SHOW_BYTES, "bytes" },
		      { CT_SHOW_COUNT, "count" },
		      { CT_SHOW_BANDWIDTH, "P2P bandwidth" } };
	int first = -1;

	for (size_t i = 0; i < 3; i++) {
		struct ct_heatmap p;
		struct ct_err ignored = { 0 };
		struct ct_heatmap_request request = { .of = CT_OF_TRAFFIC,
						      .show = shows[i].show,
						      .traffic_layer = l };
		const char *words[][2] = { { "Between",
					     strcmp(l->scope, "rank") == 0 ? "ranks" : "hosts" },
					   { "Of", layer_name(charts, l) },
					   { "Show", shows[i].word },
					   { NULL, NULL } };
		json_t *view;

		if (make(charts, request, &p, i ? &ignored : err) != CT_OK)
			continue;
		view = heatmap(charts, &p, NULL, (const char *const(*)[2])words, first);
		ct_json_set(view, "comm", ct_json_hex(l->comm_hash), &charts->failed);
		if (first < 0)
			first = (int)json_array_size(charts->views) - 1;
	}
}

/* What the heatmap command shows by itself comes first. */
static void add_traffic(struct charts *charts, struct ct_err *err)
{
	const struct ct_report_traffic *t = &charts->report->traffic;
	const char *first = "rank";

	for (size_t i = 0; i < t->n_layers && charts->report->n_ranks > CT_HEATMAP_MANY_RANKS;
	     i++) {
		if (strcmp(t->layers[i].scope, "host") == 0)
			first = "host";
	}
	if (!t->n_layers)
		ct_fail(err, CT_EMPTY, "%s", t->why ? t->why : "there is no traffic");
	for (int is_other = 0; is_other < 2; is_other++) {
		for (size_t i = 0; i < t->n_layers; i++) {
			if ((strcmp(t->layers[i].scope, first) != 0) == is_other)
				add_layer(charts, &t->layers[i], err);
		}
	}
}

/* Both, waits and lateness of one kind of columns; the first view's are those of all three. */
static void add_waits_by(struct charts *charts, int by_step, struct ct_err *err)
{
	const char *by = by_step ? "step" : "time";
	const char *const both[][2] = { { "By", by }, { "Show", "both" }, { NULL, NULL } };
	const char *const wait[][2] = { { "By", by }, { "Show", "waiting" }, { NULL, NULL } };
	const char *const late[][2] = { { "By", by }, { "Show", "lateness" }, { NULL, NULL } };
	const struct ct_heatmap_request waiting = { .of = CT_OF_WAITS,
						    .show = CT_SHOW_WAIT,
						    .by_step = by_step },
					lateness = { .of = CT_OF_WAITS,
						     .show = CT_SHOW_LATENESS,
						     .by_step = by_step };
	int first = (int)json_array_size(charts->views);
	struct ct_heatmap w, l, w_both;

	if (make(charts, waiting, &w, err) != CT_OK || make(charts, lateness, &l, err) != CT_OK)
		return;
	w_both = w;
	w_both.summary = l.summary;
	heatmap(charts, &w_both, &l, both, -1);
	heatmap(charts, &w, NULL, wait, first);
	heatmap(charts, &l, NULL, late, first);
}

/* The start and the end of the run, outside steps, are in the second. */
static void add_waits(struct charts *charts, struct ct_err *err)
{
	struct ct_err no_steps = { 0 };

	add_waits_by(charts, 1, &no_steps);
	add_waits_by(charts, 0, err);
}

static void add_steps(struct charts *charts, struct ct_err *err)
{
	static const char *const words[][2] = { { NULL, NULL } };
	struct ct_heatmap p;

	if (make(charts, (struct ct_heatmap_request){ .of = CT_OF_STEPS, .show = CT_SHOW_GAP }, &p,
		 err) == CT_OK)
		heatmap(charts, &p, NULL, words, -1);
}

static void add_slowdown(struct charts *charts, struct ct_err *err)
{
	static const char *const words[][2] = { { NULL, NULL } };
	struct ct_heatmap p;

	if (make(charts, (struct ct_heatmap_request){ .of = CT_OF_SLOWDOWN, .show = CT_SHOW_S_W },
		 &p, err) == CT_OK)
		heatmap(charts, &p, NULL, words, -1);
}

/* ---- plots ---- */

static json_t *plot_axis(const struct ct_plot_axis *a)
{
	return CT_JSON({ "title", ct_json_text(a->title) },
		       { "ticks", ticks(a->ticks.items, a->ticks.n) });
}

static json_t *series(const struct ct_plot *p)
{
	static const char *const looks[] = {
		[CT_LOOK_BAR] = "bar",	 [CT_LOOK_HATCH] = "hatch", [CT_LOOK_EDGE] = "edge",
		[CT_LOOK_LINE] = "line", [CT_LOOK_DASH] = "dash",   [CT_LOOK_DOT] = "dot",
	};
	const struct ct_plot_series *s = p->series;

	return CT_JSON_ARRAY(i, p->n_series,
			     CT_JSON({ "text", ct_json_text(s[i].text) },
				     { "look", json_string(looks[s[i].look]) },
				     { "colour", ct_json_text(s[i].colour) },
				     { "y", positions(s[i].y, p->n) }));
}

static void add_plot(struct charts *charts, const struct ct_plot *p, const char *const words[][2])
{
	ct_json_append(
		charts->views,
		CT_JSON({ "choice", choice(words) }, { "title", ct_json_text(p->title) },
			{ "summary", ct_json_text(p->summary) },
			{ "notes", ct_json_texts(p->notes, p->n_notes) },
			{ "tips", tips(p->tips, p->n_tips) }, { "x", plot_axis(&p->x) },
			{ "y", plot_axis(&p->y) }, { "at", positions(p->at, p->n) },
			{ "wide", json_real(p->wide) }, { "items", integers(p->item_of, p->n) },
			{ "series", series(p) }, { "picks", ct_json_text(p->picks) },
			{ "comm", ct_json_hex(p->comm_hash) }, { "spans", spans(&p->spans) }),
		&charts->failed);
}

static void add_curves(struct charts *charts, struct ct_err *err)
{
	for (size_t i = 0; i < charts->report->n_curves; i++) {
		struct ct_plot p;
		int st = ct_plot_curve(charts->report, i, charts->memory, &p);
		const char *words[][2] = { { "Of", p.title }, { NULL, NULL } };

		charts->failed |= st == CT_NOMEM;
		if (st == CT_OK)
			add_plot(charts, &p, (const char *const(*)[2])words);
	}
	if (!json_array_size(charts->views))
		ct_fail(err, CT_EMPTY, "no bandwidth is known by size");
}

static void add_exposed(struct charts *charts, struct ct_err *err)
{
	static const char *const words[][2][2] = {
		{ { "Show", "beside the step\u2019s time" }, { NULL, NULL } },
		{ { "Show", "exposed alone" }, { NULL, NULL } },
	};
	size_t known = 0;

	for (size_t i = 0; i < charts->report->steps.n_items; i++)
		known += charts->report->steps.items[i].exposed_ns != CT_UNKNOWN;
	for (int i = 0; i < 2 && known; i++) {
		struct ct_plot p;
		int st = ct_plot_exposed(charts->report, !i, charts->memory, &p);

		charts->failed |= st == CT_NOMEM;
		if (st == CT_OK)
			add_plot(charts, &p, words[i]);
	}
	if (json_array_size(charts->views))
		return;
	if (charts->report->steps.why)
		ct_fail(err, CT_EMPTY, "%s", charts->report->steps.why);
	else
		ct_fail(err, CT_EMPTY,
			"it is unknown in which steps compute waited for communication");
}

/* ---- all of them ---- */

static json_t *colours(enum ct_heatmap_ramp ramp, int is_dark)
{
	uint32_t all[CT_RAMP_COLOURS];
	size_t n = ct_heatmap_ramp(ramp, is_dark, all);

	return CT_JSON_ARRAY(i, n, json_sprintf("#%06x", all[i]));
}

static json_t *ramps(void)
{
	json_t *all = json_object();
	int failed = !all;

	for (unsigned r = 0; r < sizeof(ramp_names) / sizeof(ramp_names[0]); r++)
		ct_json_set(all, ramp_names[r],
			    CT_JSON({ "light", colours((enum ct_heatmap_ramp)r, 0) },
				    { "dark", colours((enum ct_heatmap_ramp)r, 1) }),
			    &failed);
	return ct_json_done(all, failed);
}

static const struct chart {
	const char *name, *title;
	void (*add)(struct charts *charts, struct ct_err *err);
} chart_table[] = {
	{ "traffic", "Traffic", add_traffic },
	{ "waits", "Waiting by rank and time", add_waits },
	{ "steps", "Time outside communication by rank and step", add_steps },
	{ "slowdown", "Slowdown by rank", add_slowdown },
	{ "curves", "Bandwidth by size", add_curves },
	{ "exposed", "Exposed communication by step", add_exposed },
};

json_t *ct_html_charts(const struct ct_report *report)
{
	json_t *list = json_array();
	struct charts charts = { .report = report, .memory = ct_arena_new() };

	charts.failed = !charts.memory || !list;
	for (size_t i = 0; !charts.failed && i < sizeof(chart_table) / sizeof(chart_table[0]);
	     i++) {
		struct ct_err err = { 0 };
		int is_empty;

		charts.views = json_array();
		chart_table[i].add(&charts, &err);
		is_empty = !json_array_size(charts.views);
		ct_json_append(list,
			       CT_JSON({ "name", json_string(chart_table[i].name) },
				       { "title", json_string(chart_table[i].title) },
				       { "why", is_empty ? ct_json_text(err.text) : json_null() },
				       { "views", charts.views }),
			       &charts.failed);
	}
	charts.failed |= charts.memory && ct_arena_failed(charts.memory);
	ct_arena_free(charts.memory);
	return CT_JSON({ "ramps", ramps() }, { "charts", ct_json_done(list, charts.failed) });
}
