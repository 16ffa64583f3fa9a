/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/charts/heat_rows.h"
#include "analyzer/charts/step_gaps.h"
#include "analyzer/model/model.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"

/* What the heatmap is made of before ranks become rows. */
struct step_gaps_chart {
	const struct ct_model *model;
	const struct ct_exposures *exposures;
	const struct ct_instance_log *log;
	const struct ct_steps *steps;
	struct ct_report *report;
	struct ct_heat_layout layout;
	uint32_t each, columns;
	uint64_t *of_slots;	    /* gaps, slot x column; CT_UNKNOWN */
	uint64_t *waits, *lateness; /* likewise */
	uint64_t *medians;	    /* by column; CT_UNKNOWN */
	uint64_t known, all;	    /* steps of ranks */
};

static void forget(struct ct_heat_gap *gap)
{
	gap->outside_comm_ns = gap->wait_ns = gap->late_ns = CT_UNKNOWN;
}

/* Steps of the slot in which its process may have lost records. */
static void forget_lost(const struct step_gaps_chart *p, uint32_t slot, struct ct_heat_gap *gaps)
{
	const struct ct_report *report = p->report;

	for (size_t l = 0; l < report->n_dropped; l++) {
		const struct ct_report_dropped *loss = &report->dropped[l];
		uint64_t from = loss->begin_at_ns, to = loss->end_at_ns;
		int is_dated = from != CT_UNKNOWN && to != CT_UNKNOWN;

		if (!loss->is_loss_of_records ||
		    loss->rank != report->processes[p->model->slots[slot].process].rank)
			continue;
		for (uint32_t k = 0; k < p->steps->n; k++) {
			if (!is_dated ||
			    (p->steps->cut_ns[k] <= to && from <= p->steps->cut_ns[k + 1]))
				forget(&gaps[k]);
		}
	}
}

/* The fields of a gap that cells are made of. */
struct measure {
	size_t value, err;
};
#define MEASURE(value, err)                                                                        \
	((struct measure){ offsetof(struct ct_heat_gap, value), offsetof(struct ct_heat_gap, err) })

static uint64_t field(const struct ct_heat_gap *gap, size_t at)
{
	return *(const uint64_t *)((const char *)gap + at);
}

/* The mean of the steps of each column that are known, into the slot's row of `cells`; *most_ns:
 * the largest error of one. */
static void fill_slot(const struct step_gaps_chart *p, uint32_t slot,
		      const struct ct_heat_gap *gaps, struct measure of, uint64_t *cells,
		      uint64_t *most_ns)
{
	for (uint32_t c = 0; c < p->columns; c++) {
		uint64_t sum = 0, err = 0, n = 0;

		for (uint32_t k = c * p->each; k < (c + 1) * p->each && k < p->steps->n; k++) {
			if (field(&gaps[k], of.value) == CT_UNKNOWN)
				continue;
			sum += field(&gaps[k], of.value);
			err += field(&gaps[k], of.err);
			n++;
		}
		cells[(size_t)slot * p->columns + c] = n ? sum / n : CT_UNKNOWN;
		if (n && err / n > *most_ns)
			*most_ns = err / n;
	}
}

static int fill_slots(struct step_gaps_chart *p, struct ct_report_heat_steps *out)
{
	struct ct_heat_gap *gaps = malloc(p->steps->n * sizeof(*gaps));

	if (!gaps)
		return CT_NOMEM;
	out->err_ns = out->wait_err_ns = out->lateness_err_ns = 0;
	for (uint32_t s = 0; s < p->model->n_slots; s++) {
		ct_heat_gaps(p->model, p->exposures, p->log, p->steps, s, gaps);
		forget_lost(p, s, gaps);
		for (uint32_t k = 0; p->model->slots[s].muddled && k < p->steps->n; k++)
			forget(&gaps[k]);
		for (uint32_t k = 0; p->layout.row_of[s] != CT_HEAT_NO_ROW && k < p->steps->n;
		     k++) {
			p->known += gaps[k].outside_comm_ns != CT_UNKNOWN;
			p->all++;
		}
		fill_slot(p, s, gaps, MEASURE(outside_comm_ns, err_ns), p->of_slots, &out->err_ns);
		fill_slot(p, s, gaps, MEASURE(wait_ns, wait_err_ns), p->waits, &out->wait_err_ns);
		fill_slot(p, s, gaps, MEASURE(late_ns, late_err_ns), p->lateness,
			  &out->lateness_err_ns);
	}
	free(gaps);
	return CT_OK;
}

/* The median of each column's ranks; of an even number the lower one. Returns how many columns have
 * one; CT_NOMEM. */
static int find_medians(const struct step_gaps_chart *p)
{
	uint64_t *known = malloc(((size_t)p->model->n_slots + 1) * sizeof(*known));
	int found = 0;

	if (!known)
		return CT_NOMEM;
	for (uint32_t c = 0; c < p->columns; c++) {
		uint32_t n = 0;

		for (uint32_t s = 0; s < p->model->n_slots; s++) {
			uint64_t gap = p->of_slots[(size_t)s * p->columns + c];

			if (gap != CT_UNKNOWN && p->layout.row_of[s] != CT_HEAT_NO_ROW)
				known[n++] = gap;
		}
		qsort(known, n, sizeof(*known), ct_by_u64);
		p->medians[c] = n ? known[(n - 1) / 2] : CT_UNKNOWN;
		found += n > 0;
	}
	free(known);
	return found;
}

static int fold(const struct step_gaps_chart *p, struct ct_report_heat_steps *out)
{
	struct ct_arena *memory = p->report->memory;
	size_t n = p->layout.rows.n * p->columns;

	out->rows = p->layout.rows;
	out->steps_each = p->each;
	out->columns = p->columns;
	out->first_step = ct_arena_calloc(memory, p->columns, sizeof(*out->first_step));
	out->outside_comm_ns = ct_heat_fold(&p->layout, p->of_slots, p->model->n_slots, p->columns,
					    memory);
	out->outside_comm_ratio = ct_arena_calloc(memory, n, sizeof(*out->outside_comm_ratio));
	out->wait_ns = ct_heat_fold(&p->layout, p->waits, p->model->n_slots, p->columns, memory);
	out->lateness_ns = ct_heat_fold(&p->layout, p->lateness, p->model->n_slots, p->columns,
					memory);
	if (!out->first_step || !out->outside_comm_ns || !out->outside_comm_ratio ||
	    !out->wait_ns || !out->lateness_ns)
		return CT_NOMEM;
	for (uint32_t c = 0; c < p->columns; c++)
		out->first_step[c] = p->steps->first + (uint64_t)c * p->each;
	for (size_t i = 0; i < n; i++) {
		uint64_t gap = out->outside_comm_ns[i], median = p->medians[i % p->columns];

		out->outside_comm_ratio[i] = gap != CT_UNKNOWN && median
						     ? (double)gap / (double)median
						     : NAN;
	}
	return CT_OK;
}

static int paint(struct step_gaps_chart *p, struct ct_report_heat_steps *out)
{
	size_t cells;
	int st = ct_heat_layout_make(p->model, p->report, &p->layout);

	if (st != CT_OK)
		return st;
	p->each = (p->steps->n - 1) / p->layout.most_columns + 1;
	p->columns = (p->steps->n - 1) / p->each + 1;
	cells = (size_t)p->model->n_slots * p->columns + 1;
	p->of_slots = malloc(cells * sizeof(*p->of_slots));
	p->waits = malloc(cells * sizeof(*p->waits));
	p->lateness = malloc(cells * sizeof(*p->lateness));
	p->medians = malloc(p->columns * sizeof(*p->medians));
	if (!p->of_slots || !p->waits || !p->lateness || !p->medians)
		return CT_NOMEM;
	st = fill_slots(p, out) ?: find_medians(p);
	if (st < 0)
		return st;
	if (!st) {
		out->why = "of no step is it known for how long ranks were in no communication";
		out->err_ns = out->wait_err_ns = out->lateness_err_ns = CT_UNKNOWN;
		return CT_OK;
	}
	if (p->known < p->all) {
		double share = 100 * (double)p->known / (double)p->all;

		out->why = ct_arena_printf(p->report->memory,
					   "gaps are known of %.3g %% of the steps of ranks",
					   share < 99.9 ? share : 99.9);
		if (!out->why)
			return CT_NOMEM;
	}
	return fold(p, out);
}

int ct_heat_fill_steps(const struct ct_model *model, const struct ct_exposures *exposures,
		       const struct ct_instance_log *log, const struct ct_steps *steps,
		       struct ct_report *report)
{
	struct step_gaps_chart p = {
		.model = model, .exposures = exposures, .log = log, .steps = steps, .report = report
	};
	struct ct_report_heat_steps *out = &report->heat.steps;
	int st = CT_OK;

	*out = (struct ct_report_heat_steps){ .err_ns = CT_UNKNOWN,
					      .wait_err_ns = CT_UNKNOWN,
					      .lateness_err_ns = CT_UNKNOWN,
					      .steps_each = CT_UNKNOWN };
	if (steps->n)
		st = paint(&p, out);
	else
		out->why = steps->why;
	ct_heat_layout_fini(&p.layout);
	free(p.of_slots);
	free(p.waits);
	free(p.lateness);
	free(p.medians);
	return st;
}
