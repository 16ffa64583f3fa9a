/* SPDX-License-Identifier: Apache-2.0 */
/* chart_exposed.c — exposed communication in each step, beside how long the step took. */
#include <inttypes.h>
#include <math.h>

#include "analyzer/charts/plot.h"
#include "trace/status.h"

#define TIMES 6u /* ticks at most */
#define STEPS 16u

struct exposed_chart {
	const struct ct_report_steps *steps;
	struct ct_arena *memory;
	struct ct_plot *plot;
	uint64_t high; /* of the vertical axis */
	int beside;
};

static uint64_t known(uint64_t value)
{
	return value == CT_UNKNOWN ? 0 : value;
}

static uint64_t highest(const struct ct_report_steps *steps, int beside)
{
	uint64_t high = 1;

	for (size_t i = 0; i < steps->n_items; i++) {
		const struct ct_report_step *c = &steps->items[i];
		const uint64_t values[] = { known(c->exposed_ns), known(c->wait_ns),
					    beside ? known(c->time_ns) : 0 };

		for (int k = 0; k < 3; k++)
			high = values[k] > high ? values[k] : high;
	}
	return high;
}

static int make_axes(const struct exposed_chart *m)
{
	const struct ct_report_step *items = m->steps->items;
	uint64_t first = items[0].index, last = items[m->steps->n_items - 1].index;
	struct ct_plot *plot = m->plot;

	plot->x.title = "step";
	plot->y.title = "time in a step";
	plot->n = m->steps->n_items;
	plot->wide = 1.0 / (double)(last + 1 - first);
	plot->at = ct_arena_calloc(m->memory, plot->n, sizeof(*plot->at));
	plot->item_of = ct_arena_calloc(m->memory, plot->n, sizeof(*plot->item_of));
	if (!plot->at || !plot->item_of)
		return CT_NOMEM;
	for (size_t i = 0; i < plot->n; i++) {
		plot->at[i] = (float)((double)(items[i].index - first) * plot->wide);
		plot->item_of[i] = i;
	}
	if (ct_ticks_round(m->memory, first, last + 1, STEPS, ct_text_count, &plot->x.ticks) !=
	    CT_OK)
		return CT_NOMEM;
	return ct_ticks_round(m->memory, 0, m->high, TIMES, ct_prose_ns, &plot->y.ticks);
}

enum which { TIME, UNKNOWN, EXPOSED, WAIT };

static uint64_t value_of(const struct exposed_chart *m, const struct ct_report_step *c,
			 enum which which)
{
	switch (which) {
	case TIME:
		return c->time_ns;
	case EXPOSED:
		return c->exposed_ns;
	case WAIT:
		return c->wait_ns;
	case UNKNOWN:
		break;
	}
	/* what is not known can be as high as this */
	if (c->exposed_ns != CT_UNKNOWN)
		return CT_UNKNOWN;
	return m->beside && c->time_ns != CT_UNKNOWN ? c->time_ns : m->high;
}

static int put(const struct exposed_chart *m, enum which which, const char *text,
	       enum ct_plot_look look, const char *colour)
{
	float *y = ct_arena_calloc(m->memory, m->plot->n, sizeof(*y));
	int is_there = 0;

	if (!y)
		return CT_NOMEM;
	for (size_t i = 0; i < m->plot->n; i++) {
		uint64_t value = value_of(m, &m->steps->items[i], which);

		y[i] = value == CT_UNKNOWN ? NAN : (float)((double)value / (double)m->high);
		is_there |= value != CT_UNKNOWN;
	}
	if (is_there)
		m->plot->series[m->plot->n_series++] = (struct ct_plot_series){ text, look, colour,
										y };
	return CT_OK;
}

static int put_series(const struct exposed_chart *m)
{
	if (m->beside && put(m, TIME, "the step", CT_LOOK_BAR, "span") != CT_OK)
		return CT_NOMEM;
	if (put(m, UNKNOWN, "not known", CT_LOOK_HATCH, "span") != CT_OK)
		return CT_NOMEM;
	if (put(m, EXPOSED, "exposed, of the rank with most", CT_LOOK_BAR, "blue") != CT_OK)
		return CT_NOMEM;
	return put(m, WAIT, "waiting for others, mean of ranks", CT_LOOK_EDGE, "orange");
}

/* ---- what is said ---- */

static int sum_up(const struct exposed_chart *m)
{
	const struct ct_report_step *most = NULL;

	for (size_t i = 0; i < m->steps->n_items; i++) {
		const struct ct_report_step *c = &m->steps->items[i];

		if (c->exposed_ns != CT_UNKNOWN && (!most || c->exposed_ns > most->exposed_ns))
			most = c;
	}
	m->plot->summary = most ? ct_arena_printf(m->memory,
						  "Step %" PRIu64
						  " has the most exposed communication: %s of %s.",
						  most->index, ct_prose_ns(most->exposed_ns).s,
						  ct_prose_ns(most->time_ns).s)
				: "How much of the communication was exposed is not known.";
	return m->plot->summary ? CT_OK : CT_NOMEM;
}

static int note(const struct exposed_chart *m)
{
	struct ct_plot *plot = m->plot;

	if (m->steps->n_items < m->steps->count)
		plot->notes[plot->n_notes++] = ct_arena_printf(
			m->memory, "Only steps on record are shown; the run has %s.",
			ct_text_count(m->steps->count).s);
	if (m->steps->note)
		plot->notes[plot->n_notes++] = ct_arena_printf(m->memory, "%s.", m->steps->note);
	for (size_t i = 0; i < plot->n_notes; i++) {
		if (!plot->notes[i])
			return CT_NOMEM;
	}
	return CT_OK;
}

static int mark(const struct exposed_chart *m, const struct ct_report *report)
{
	const struct ct_report_step *items = m->steps->items;
	const uint64_t first[] = { items[0].index };

	return ct_chart_spans_by_step(report, m->memory, first, 1,
				      items[m->steps->n_items - 1].index + 1, &m->plot->spans);
}

static const struct ct_chart_value tips[] = {
	{ "exposed, of the rank with most", "steps.items.{i}.exposed_ns", NULL, "ns" },
	{ "took", "steps.items.{i}.time_ns", "steps.err_ns", "ns" },
	{ "waiting, mean of ranks", "steps.items.{i}.wait_ns", NULL, "ns" },
	{ "waited for longest: rank", "steps.items.{i}.last_rank", NULL, "whole" },
	{ "step", "steps.items.{i}.index", NULL, "whole" },
	{ "begins", "steps.items.{i}.begin_ns", NULL, "ns" },
};

int ct_plot_exposed(const struct ct_report *report, int beside, struct ct_arena *memory,
		    struct ct_plot *plot)
{
	const struct exposed_chart m = { &report->steps, memory, plot,
					 highest(&report->steps, beside), beside };
	int st;

	*plot = (struct ct_plot){ .title = "Exposed communication by step",
				  .tips = tips,
				  .n_tips = sizeof(tips) / sizeof(tips[0]),
				  .picks = "steps.items.{i}.last_rank" };
	if (!report->steps.n_items)
		return CT_EMPTY;
	st = make_axes(&m) ?: put_series(&m) ?: sum_up(&m) ?: note(&m);
	return st == CT_OK ? mark(&m, report) : st;
}
