/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/charts/heatmap_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond it a ratio is just very different from 1. */
#define RATIO_LIMIT 2.0

const char *ct_heatmap_layers(enum ct_heatmap_of of)
{
	static const char *const layers[] = {
		[CT_OF_TRAFFIC] = "bytes count bandwidth",
		[CT_OF_WAITS] = "wait lateness",
		[CT_OF_STEPS] = "gap",
		[CT_OF_SLOWDOWN] = "s_w",
	};

	return layers[of];
}

/* ---- making one ---- */

int ct_heatmap_size(const struct ct_heatmap_make *make, size_t rows, size_t columns)
{
	struct ct_heatmap *p = make->heatmap;

	if (!rows || !columns)
		return CT_EMPTY;
	if (rows > CT_HEATMAP_CELLS || columns > CT_HEATMAP_CELLS / rows)
		return ct_fail(make->err, CT_RANGE, "%zu rows and %zu columns are too many", rows,
			       columns);
	p->rows.n = rows;
	p->columns.n = columns;
	p->rows.names = ct_arena_calloc(make->memory, 2 * rows, sizeof(*p->rows.names));
	p->columns.names = ct_arena_calloc(make->memory, 2 * columns, sizeof(*p->columns.names));
	p->values = ct_arena_calloc(make->memory, rows * columns, sizeof(*p->values));
	p->shades = ct_arena_calloc(make->memory, rows * columns, sizeof(*p->shades));
	if (!p->rows.names || !p->columns.names || !p->values || !p->shades)
		return CT_NOMEM;
	p->rows.keys = p->rows.names + rows;
	p->columns.keys = p->columns.names + columns;
	for (size_t i = 0; i < rows * columns; i++)
		p->values[i] = CT_HEATMAP_NOTHING;
	return CT_OK;
}

int ct_heatmap_name(struct ct_heatmap_axis *axis, size_t i, const char *name, const char *key)
{
	axis->names[i] = name;
	axis->keys[i] = key ? key : name;
	return name ? CT_OK : CT_NOMEM;
}

void ct_heatmap_note(struct ct_heatmap *heatmap, const char *text)
{
	if (text && heatmap->n_notes < CT_HEATMAP_NOTES)
		heatmap->notes[heatmap->n_notes++] = text;
}

static int is_value(uint64_t value)
{
	return value < CT_HEATMAP_NOTHING;
}

static size_t cells(const struct ct_heatmap *p)
{
	return p->rows.n * p->columns.n;
}

static void mark(struct ct_heatmap *p, double at, const char *text)
{
	if (p->n_marks < CT_HEATMAP_MARKS)
		p->marks[p->n_marks++] = (struct ct_tick){ at, text };
}

/* Marks are powers of it: 16 KiB, 256 KiB, 4 MiB; and 10, 100. */
static double base_of(const struct ct_heatmap *p)
{
	return p->unit == CT_HEATMAP_BYTES ? 16 : 10;
}

/* From the power at or below the smallest value to the largest, `base` times it at least. */
static double low_end(const struct ct_heatmap *p, double base, double *high)
{
	double least = INFINITY;

	*high = 0;
	for (size_t i = 0; i < cells(p); i++) {
		double v = (double)p->values[i];

		if (!is_value(p->values[i]) || v <= 0)
			continue;
		least = v < least ? v : least;
		*high = v > *high ? v : *high;
	}
	return pow(base, floor(log2(fmin(least, *high / base)) / log2(base)));
}

int ct_heatmap_scale_log(const struct ct_heatmap_make *make)
{
	struct ct_heatmap *p = make->heatmap;
	double base = base_of(p), high, low = low_end(p, base, &high), span = log(high / low);
	unsigned powers = high > 0 ? (unsigned)ceil(log2(high / low) / log2(base)) : 0;
	/* every power, every other, every third: so many fit, and the largest value */
	unsigned step = (powers + CT_HEATMAP_MARKS - 3) / (CT_HEATMAP_MARKS - 2);

	for (size_t i = 0; i < cells(p); i++) {
		double v = (double)p->values[i];

		p->shades[i] = v <= low || high <= 0 ? 0 : (float)(log(v / low) / span);
	}
	for (double v = low; powers && v <= high / 4; v *= pow(base, step)) {
		const char *text = ct_arena_printf(
			make->memory, "%s", ct_text_round(ct_heatmap_value_text(p, (uint64_t)v)).s);

		if (!text)
			return CT_NOMEM;
		if (v >= 1)
			mark(p, log(v / low) / span, text);
	}
	if (powers) {
		const char *text = ct_arena_printf(make->memory, "%s",
						   ct_heatmap_value_text(p, (uint64_t)high).s);

		if (!text)
			return CT_NOMEM;
		mark(p, 1, text);
	}
	return CT_OK;
}

int ct_heatmap_scale_share(const struct ct_heatmap_make *make, uint64_t whole)
{
	static const double marks[] = { 0, 1, 10, 25, 50, 100 };
	struct ct_heatmap *p = make->heatmap;

	for (size_t i = 0; i < cells(p); i++) {
		double share = whole ? (double)p->values[i] / (double)whole : 0;

		p->shades[i] = (float)sqrt(fmin(share, 1));
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *text = ct_arena_printf(make->memory, "%s",
						   ct_text_round(ct_prose_pct(marks[i])).s);

		if (!text)
			return CT_NOMEM;
		mark(p, sqrt(marks[i] / 100), text);
	}
	return CT_OK;
}

static double shade_of_ratio(double ratio)
{
	double x = fmax(-1, fmin(1, log(fmax(ratio, 1e-12)) / log(RATIO_LIMIT)));

	return 0.5 + copysign(sqrt(fabs(x)), x) / 2;
}

void ct_heatmap_scale_ratio(struct ct_heatmap *p, const double *ratios)
{
	static const struct {
		double ratio;
		const char *text;
	} marks[] = {
		{ 0.5, "half" }, { 0.9, "0.9" }, { 1, "1" }, { 1.1, "1.1" }, { 2, "twice" },
	};

	for (size_t i = 0; i < cells(p); i++)
		p->shades[i] = isnan(ratios[i]) ? NAN : (float)shade_of_ratio(ratios[i]);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		mark(p, shade_of_ratio(marks[i].ratio), marks[i].text);
}

/* Values that are none have no position on the scale, but one in the legend. */
static void take_out(struct ct_heatmap *p)
{
	for (size_t i = 0; i < cells(p); i++) {
		int is_nothing = p->values[i] == CT_HEATMAP_NOTHING ||
				 (p->zero_is_nothing && !p->values[i]);

		if (p->values[i] == CT_HEATMAP_UNKNOWN)
			p->shades[i] = NAN;
		else if (is_nothing)
			p->shades[i] = CT_HEATMAP_BLANK;
		p->has_unknown |= isnan(p->shades[i]);
		p->has_nothing |= is_nothing;
	}
}

const char *ct_heatmap_cell_text(const struct ct_heatmap *p, struct ct_arena *memory, size_t r,
				 size_t c)
{
	size_t cell = r * p->columns.n + c;
	const char *name = p->cell_names ? p->cell_names[cell] : NULL;

	return ct_arena_printf(memory, "%s %s, %s %s%s%s%s: %s", p->rows.word, p->rows.names[r],
			       p->columns.word, p->columns.names[c], name ? " (" : "",
			       name ? name : "", name ? ")" : "",
			       ct_heatmap_value_text(p, p->values[cell]).s);
}

/* A rank closer to the median of its column is not remarkable: one of many is always slightly above
 * it. */
#define WORTH_NAMING 1.1

/* Scales end, at twice the median or at a whole step, and several cells can lie beyond: of these
 * the one with the largest value is named. */
static int is_further(const struct ct_heatmap *p, size_t i, size_t than)
{
	if (isnan(p->shades[than]) || p->shades[i] > p->shades[than])
		return 1;
	return p->shades[i] == p->shades[than] && p->values[i] > p->values[than];
}

static size_t furthest(const struct ct_heatmap *p, size_t from, size_t to)
{
	size_t most = from;

	for (size_t i = from + 1; i < to; i++) {
		if (is_further(p, i, most))
			most = i;
	}
	return most;
}

/* The row of the rank, or of the one host, that the verdict is about; SIZE_MAX: there is none. */
static size_t row_of_verdict(const struct ct_heatmap_make *make)
{
	const struct ct_finding *about = make->report->verdict.about;
	const struct ct_heatmap_axis *rows = &make->heatmap->rows;
	int by_host = strcmp(rows->title, "host") == 0;
	char rank[16];

	if (!about ||
	    (about->kind != CT_FINDING_STRAGGLER && about->kind != CT_FINDING_STRAGGLER_HOST) ||
	    (by_host ? about->n_hosts : about->n_ranks) != 1)
		return SIZE_MAX;
	snprintf(rank, sizeof(rank), "%d", by_host ? -1 : about->ranks[0]);
	for (size_t r = 0; r < rows->n; r++) {
		if (strcmp(rows->names[r], by_host ? about->hosts[0] : rank) == 0)
			return r;
	}
	return SIZE_MAX;
}

/* The sentence names the cell that is furthest along the scale. A rank that the verdict does not
 * accuse may have had the one longest step: then the accused one comes first. */
static int sum_up(const struct ct_heatmap_make *make)
{
	struct ct_heatmap *p = make->heatmap;
	size_t columns = p->columns.n, most = furthest(p, 0, cells(p));
	size_t row = make->request->of == CT_OF_STEPS ? row_of_verdict(make) : SIZE_MAX;
	size_t own = row == SIZE_MAX ? most : furthest(p, row * columns, (row + 1) * columns);

	if (!(p->shades[most] >= 0))
		p->summary = p->has_unknown ? "No value is known." : "There is nothing to show.";
	else if (p->ramp == CT_RAMP_RATIO && p->unit != CT_HEATMAP_RATIO &&
		 p->shades[most] < (float)(shade_of_ratio(WORTH_NAMING) - 1e-6))
		p->summary = ct_arena_printf(make->memory, "No %s is far above the median.",
					     p->rows.title);
	else if (own / columns != most / columns && p->shades[own] >= 0)
		p->summary = ct_arena_printf(
			make->memory, "Maximum of the verdict's %s: %s; of all: %s.", p->rows.word,
			ct_heatmap_cell_text(p, make->memory, row, own % columns),
			ct_heatmap_cell_text(p, make->memory, most / columns, most % columns));
	else
		p->summary = ct_arena_printf(make->memory, "Maximum: %s.",
					     ct_heatmap_cell_text(p, make->memory, most / columns,
								  most % columns));
	return p->summary ? CT_OK : CT_NOMEM;
}

/* Of which run. */
static int say_run(const struct ct_heatmap_make *make)
{
	const struct ct_report_run *run = &make->report->run;
	const char *text = ct_arena_printf(
		make->memory, "%s%.80s%s%" PRIu64 " of %s ranks on %zu host%s, %s.",
		run->job ? "Job " : "", run->job ? run->job : "", run->job ? ": " : "",
		run->ranks_seen, run->ranks_expected ? ct_text_count(run->ranks_expected).s : "n/a",
		run->n_hosts, run->n_hosts == 1 ? "" : "s", ct_prose_ns(run->duration_ns).s);

	ct_heatmap_note(make->heatmap, text);
	if (text && make->report->steps.skipped) {
		text = ct_arena_printf(make->memory, "Without the first %s steps.",
				       ct_text_count(make->report->steps.skipped).s);
		ct_heatmap_note(make->heatmap, text);
	}
	return text ? CT_OK : CT_NOMEM;
}

int ct_heatmap_make(const struct ct_report *report, const struct ct_heatmap_request *request,
		    struct ct_arena *memory, struct ct_heatmap *heatmap, struct ct_err *err)
{
	static int (*const makers[])(const struct ct_heatmap_make *make) = {
		[CT_OF_TRAFFIC] = ct_heatmap_traffic,
		[CT_OF_WAITS] = ct_heatmap_waits,
		[CT_OF_STEPS] = ct_heatmap_steps,
		[CT_OF_SLOWDOWN] = ct_heatmap_slowdown,
	};
	const struct ct_heatmap_make make = { report, request, memory, heatmap, err };
	int st;

	*heatmap = (struct ct_heatmap){ .nothing = "nothing" };
	st = makers[request->of](&make);
	if (st == CT_OK) {
		take_out(heatmap);
		st = sum_up(&make);
	}
	if (st == CT_OK) {
		heatmap->n_said = heatmap->n_notes;
		st = say_run(&make);
	}
	if (st == CT_OK && ct_arena_failed(memory))
		st = CT_NOMEM;
	if (st == CT_EMPTY && !err->text[0])
		ct_fail(err, st, "there is none on record");
	return st;
}

/* ---- how it is said and coloured ---- */

struct ct_unit_text ct_heatmap_value_text(const struct ct_heatmap *p, uint64_t value)
{
	struct ct_unit_text text;

	if (value == CT_HEATMAP_NOTHING) {
		snprintf(text.s, sizeof(text.s), "%s", p->nothing);
		return text;
	}
	switch (p->unit) {
	case CT_HEATMAP_BYTES:
		return ct_prose_bytes(value);
	case CT_HEATMAP_NS:
		return ct_prose_ns(value);
	case CT_HEATMAP_BPS:
		return ct_prose_Bps(value);
	case CT_HEATMAP_RATIO:
		if (value == CT_HEATMAP_UNKNOWN)
			return ct_text_count(value);
		snprintf(text.s, sizeof(text.s), "%.3g", (double)value / CT_HEATMAP_PARTS);
		return text;
	case CT_HEATMAP_COUNT:
		break;
	}
	return ct_text_count(value);
}

const char *ct_heatmap_unit(const struct ct_heatmap *p)
{
	static const char *const units[] = {
		[CT_HEATMAP_BYTES] = "bytes",	       [CT_HEATMAP_NS] = "ns",
		[CT_HEATMAP_BPS] = "bytes per second", [CT_HEATMAP_COUNT] = "count",
		[CT_HEATMAP_RATIO] = "ratio",
	};

	return units[p->unit];
}

/* On a light and on a dark ground. Lightness shows the values, independent of color vision; on a
 * dark ground larger values are lighter. AMOUNT on light is like ColorBrewer's YlGnBu, on dark
 * matplotlib's viridis (CC0) from its second tenth on. */
static const struct ramp {
	unsigned n;
	uint32_t at[CT_RAMP_COLOURS];
} ramps[][2] = {
	[CT_RAMP_AMOUNT] = { { 10,
			       { 0xdff0b0, 0xb9e2b1, 0x86cfb9, 0x55bcc2, 0x329fbf, 0x227fb4,
				 0x235fa6, 0x24418f, 0x182a6e, 0x08194d } },
			     { 11,
			       { 0x46337f, 0x414487, 0x365d8d, 0x2a788e, 0x21918c, 0x22a884,
				 0x44bf70, 0x7ad151, 0xbddf26, 0xe2e418, 0xfde725 } } },
	[CT_RAMP_WAIT] = { { 9,
			     { 0xf1f6fc, 0xd3e4f5, 0xa9cdea, 0x74b0dd, 0x4592cc, 0x2274b6, 0x0f5699,
			       0x083a73, 0x06264f } },
			   { 9,
			     { 0x1b2430, 0x1c3148, 0x1c4467, 0x1f5c8c, 0x2b78b3, 0x4a97d3, 0x78b5e8,
			       0xabd4f6, 0xdef0ff } } },
	[CT_RAMP_LATE] = { { 7,
			     { 0xfdd9b0, 0xfdba78, 0xf8953f, 0xea7315, 0xcc5a08, 0xa54306,
			       0x7a2f05 } },
			   { 7,
			     { 0x6b3208, 0x8f430a, 0xb4560e, 0xd76d17, 0xee8b34, 0xf9ad66,
			       0xffd09f } } },
	[CT_RAMP_RATIO] = { { 9,
			      { 0x0b4a8f, 0x2274b6, 0x74b0dd, 0xc6dcf0, 0xf4f5f7, 0xfbd9b5,
				0xf39a4a, 0xcc5a08, 0x7f3204 } },
			    { 9,
			      { 0xa8d3f8, 0x5fa6e0, 0x2b6fa8, 0x1f3f5e, 0x232932, 0x5e3a18,
				0xb4600f, 0xf39a4a, 0xffd3a6 } } },
};

size_t ct_heatmap_ramp(enum ct_heatmap_ramp ramp, int is_dark, uint32_t colours[CT_RAMP_COLOURS])
{
	const struct ramp *r = &ramps[ramp][!!is_dark];

	memcpy(colours, r->at, sizeof(r->at));
	return r->n;
}

uint32_t ct_heatmap_colour(enum ct_heatmap_ramp ramp, double shade)
{
	const struct ramp *r = &ramps[ramp][0];
	double at = fmax(0, fmin(1, shade)) * (r->n - 1);
	unsigned low = at < r->n - 2 ? (unsigned)at : r->n - 2;
	uint32_t colour = 0;

	for (int bits = 16; bits >= 0; bits -= 8) {
		double a = r->at[low] >> bits & 0xff, b = r->at[low + 1] >> bits & 0xff;

		colour |= (uint32_t)lround(a + (b - a) * (at - low)) << bits;
	}
	return colour;
}
