/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/charts/chart_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/status.h"

/* ---- ticks ---- */

struct ct_unit_text ct_text_round(struct ct_unit_text text)
{
	char *point = strchr(text.s, '.'), *end = point, *keep;

	if (text.s[0] == '0' && (text.s[1] < '0' || text.s[1] > '9') && !point) {
		snprintf(text.s, sizeof(text.s), "0");
		return text;
	}
	if (!point)
		return text;
	for (end = point + 1; *end >= '0' && *end <= '9';)
		end++;
	for (keep = end; keep[-1] == '0';)
		keep--;
	if (keep[-1] == '.')
		keep--;
	memmove(keep, end, strlen(end) + 1);
	return text;
}

static int add(struct ct_arena *memory, struct ct_ticks *ticks, double at, uint64_t value,
	       struct ct_unit_text (*text)(uint64_t))
{
	const char *copy = ct_arena_printf(memory, "%s", ct_text_round(text(value)).s);

	ticks->items[ticks->n++] = (struct ct_tick){ at, copy };
	return copy ? CT_OK : CT_NOMEM;
}

int ct_ticks_round(struct ct_arena *memory, uint64_t low, uint64_t high, unsigned most,
		   struct ct_unit_text (*text)(uint64_t), struct ct_ticks *ticks)
{
	static const unsigned factors[] = { 1, 2, 5 };
	uint64_t step = 1, power = 1;
	int st = CT_OK;

	*ticks = (struct ct_ticks){ ct_arena_calloc(memory, most + 2, sizeof(*ticks->items)), 0 };
	if (!ticks->items)
		return CT_NOMEM;
	for (unsigned i = 0; (high - low) / step >= most; i++) {
		if (i && i % 3 == 0)
			power *= 10;
		step = factors[i % 3] * power;
	}
	for (uint64_t v = (low + step - 1) / step * step; v <= high && ticks->n <= most && !st;
	     v += step)
		st = add(memory, ticks, high > low ? (double)(v - low) / (double)(high - low) : 0.0,
			 v, text);
	return st;
}

int ct_ticks_log(struct ct_arena *memory, double *low, double *high, unsigned most,
		 struct ct_unit_text (*text)(uint64_t), struct ct_ticks *ticks)
{
	static const double factors[] = { 1, 2, 5 };
	double values[128], wanted_low = *low, wanted_high = *high, span;
	size_t n = 0;
	int first = (int)floor(log10(wanted_low)) - 1, st = CT_OK, every = 0;

	for (int p = first < 0 ? 0 : first; p < 20; p++) {
		for (int f = 0; f < 3 && n < sizeof(values) / sizeof(values[0]); f++) {
			double v = factors[f] * pow(10, p);

			if (n == 1 && v <= wanted_low)
				n = 0;
			if (n && values[n - 1] >= wanted_high)
				continue;
			values[n++] = v;
		}
	}
	*low = values[0];
	*high = values[n - 1];
	span = log(*high / *low);
	every = n > most;
	*ticks = (struct ct_ticks){ ct_arena_calloc(memory, n, sizeof(*ticks->items)), 0 };
	if (!ticks->items)
		return CT_NOMEM;
	for (size_t i = 0; i < n && !st; i++) {
		double power = round(log10(values[i]));

		if (!every || fabs(values[i] - pow(10, power)) < values[i] / 100)
			st = add(memory, ticks, span > 0 ? log(values[i] / *low) / span : 0.0,
				 (uint64_t)llround(values[i]), text);
	}
	return st;
}

int ct_ticks_sizes(struct ct_arena *memory, double *low, double *high, unsigned most,
		   struct ct_ticks *ticks)
{
	static const int steps[] = { 1, 2, 4, 10 };
	const int n_steps = sizeof(steps) / sizeof(steps[0]);
	int first, last, step, st = CT_OK;

	for (int s = 0; s < n_steps; s++) {
		step = steps[s];
		first = (int)floor(log2(fmax(*low, 1)) / step) * step;
		last = (int)ceil(log2(fmax(*high, 2)) / step) * step;
		if ((last - first) / step < (int)most)
			break;
	}
	*low = exp2(first);
	*high = exp2(last);
	*ticks = (struct ct_ticks){
		ct_arena_calloc(memory, (size_t)(last - first) / step + 1, sizeof(*ticks->items)), 0
	};
	if (!ticks->items)
		return CT_NOMEM;
	for (int p = first; p <= last && p < 64 && !st; p += step)
		st = add(memory, ticks, (double)(p - first) / (last - first), 1ull << p,
			 ct_prose_bytes);
	return st;
}

/* ---- findings ---- */

static int new_spans(const struct ct_report *report, struct ct_arena *memory,
		     struct ct_chart_spans *spans)
{
	spans->n = 0;
	spans->items = ct_arena_calloc(memory, report->n_findings + 1, sizeof(*spans->items));
	return spans->items ? CT_OK : CT_NOMEM;
}

static void put(struct ct_chart_spans *spans, int id, double from, double to)
{
	from = fmax(from, 0);
	to = fmin(to, 1);
	if (from <= to)
		spans->items[spans->n++] = (struct ct_chart_span){ id, from, to };
}

int ct_chart_spans_by_time(const struct ct_report *report, struct ct_arena *memory,
			   uint64_t begin_ns, uint64_t end_ns, struct ct_chart_spans *spans)
{
	double wide = (double)(end_ns - begin_ns);

	if (new_spans(report, memory, spans) != CT_OK)
		return CT_NOMEM;
	for (size_t i = 0; i < report->n_findings && wide > 0; i++) {
		const struct ct_finding *f = &report->findings[i];

		if (f->begin_at_ns != CT_UNKNOWN && f->end_at_ns != CT_UNKNOWN)
			put(spans, f->id, ((double)f->begin_at_ns - (double)begin_ns) / wide,
			    ((double)f->end_at_ns - (double)begin_ns) / wide);
	}
	return CT_OK;
}

/* Where a step begins, in columns. */
static double position_of_step(uint64_t step, const uint64_t *first, size_t n, uint64_t end)
{
	size_t c = 0;
	uint64_t next;

	while (c + 1 < n && first[c + 1] <= step)
		c++;
	next = c + 1 < n ? first[c + 1] : end;
	if (step <= first[c] || next <= first[c])
		return (double)c;
	return (double)c + fmin((double)(step - first[c]) / (double)(next - first[c]), 1);
}

int ct_chart_spans_by_step(const struct ct_report *report, struct ct_arena *memory,
			   const uint64_t *first, size_t n, uint64_t end,
			   struct ct_chart_spans *spans)
{
	if (new_spans(report, memory, spans) != CT_OK)
		return CT_NOMEM;
	for (size_t i = 0; i < report->n_findings && n; i++) {
		const struct ct_finding *f = &report->findings[i];

		if (f->step_first == CT_UNKNOWN || f->step_last == CT_UNKNOWN)
			continue;
		put(spans, f->id, position_of_step(f->step_first, first, n, end) / (double)n,
		    position_of_step(f->step_last + 1, first, n, end) / (double)n);
	}
	return CT_OK;
}
