/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/charts/heat.h"
#include "analyzer/charts/heat_rows.h"
#include "analyzer/model/model.h"

/* The data of the chart before ranks are grouped into rows. */
struct waits_chart {
	const struct ct_model *model;
	struct ct_heat *heat;
	struct ct_report *report;
	struct ct_heat_layout layout;
	uint64_t *waits, *lateness; /* slot x column; CT_UNKNOWN */
	uint8_t *lost;		    /* by column: records of the slot may be missing */
	uint32_t columns;
	uint64_t width_ns;
};

/* ---- waits ---- */

/* Is the loss one of this slot's process? It is listed at that process's first rank. */
static int is_of(const struct waits_chart *p, const struct ct_report_dropped *loss, uint32_t slot)
{
	return loss->is_loss_of_records &&
	       loss->rank == p->report->processes[p->model->slots[slot].process].rank;
}

/* Columns in which records of the slot may be missing: they must not show that nothing happened
 * there. */
static void find_lost(struct waits_chart *p, uint32_t slot)
{
	for (uint32_t c = 0; c < p->columns; c++)
		p->lost[c] = 0;
	for (size_t l = 0; l < p->report->n_dropped; l++) {
		const struct ct_report_dropped *loss = &p->report->dropped[l];
		int is_dated = loss->begin_at_ns != CT_UNKNOWN && loss->end_at_ns != CT_UNKNOWN;
		uint64_t from = is_dated ? loss->begin_at_ns / p->width_ns : 0;
		uint64_t to = is_dated ? loss->end_at_ns / p->width_ns : p->columns - 1;

		for (uint64_t c = from; is_of(p, loss, slot) && c <= to && c < p->columns; c++)
			p->lost[c] = 1;
	}
}

static int is_known(const struct ct_heat_row *row, uint32_t c)
{
	return row->seen[c] & CT_HEAT_KNOWN || row->wait_ns[c];
}

/* Known are cells in which the slot was in an operation whose waits are known, and those between
 * two such ones in which it was in none at all. */
static void settle_waits(const struct waits_chart *p, const struct ct_heat_row *row,
			 uint64_t *cells)
{
	uint32_t next = 0; /* behind the latest column that is known; 0: none was */

	for (uint32_t c = 0; c < p->columns; c++) {
		cells[c] = CT_UNKNOWN;
		if (is_known(row, c)) {
			/* If a host's clock is corrected between two waits, they may overlap
			 * slightly. */
			cells[c] = row->wait_ns[c] < p->width_ns ? row->wait_ns[c] : p->width_ns;
			for (; next && next < c; next++)
				cells[next] = p->lost[next] ? CT_UNKNOWN : 0;
			next = c + 1;
		} else if (row->seen[c]) {
			next = 0;
		}
	}
}

/* A cell whose error is as wide as itself says nothing. Returns the largest error of the others. */
static uint64_t forget_vague(const struct waits_chart *p, const struct ct_heat_row *row,
			     uint64_t *cells)
{
	uint64_t most = 0;

	for (uint32_t c = 0; c < p->columns; c++) {
		if (row->err_ns[c] >= p->width_ns)
			cells[c] = CT_UNKNOWN;
		else if (cells[c] != CT_UNKNOWN)
			most = row->err_ns[c] > most ? row->err_ns[c] : most;
	}
	return most;
}

/* Returns the largest error of a cell. */
static uint64_t fill_slots(struct waits_chart *p)
{
	const struct ct_heat *heat = p->heat;
	uint64_t most = 0;

	for (uint32_t s = 0; s < p->model->n_slots; s++) {
		uint64_t *cells = &p->waits[(size_t)s * p->columns], err;

		for (uint32_t c = 0; c < p->columns; c++)
			cells[c] = CT_UNKNOWN;
		if (s >= heat->n_rows || !heat->rows[s] || p->model->slots[s].muddled)
			continue;
		find_lost(p, s);
		settle_waits(p, heat->rows[s], cells);
		err = forget_vague(p, heat->rows[s], cells);
		most = err > most ? err : most;
	}
	return most;
}

/* ---- lateness ---- */

/* No rank was late where it is known that no rank was waited for. Returns the largest error of a
 * cell. */
static uint64_t fill_lateness(struct waits_chart *p)
{
	const struct ct_heat *heat = p->heat;
	uint32_t most = 0;

	for (uint32_t s = 0; s < p->model->n_slots; s++) {
		const struct ct_heat_row *row = s < heat->n_rows && !p->model->slots[s].muddled
							? heat->rows[s]
							: NULL;

		for (uint32_t c = 0; c < p->columns; c++) {
			size_t cell = (size_t)s * p->columns + c;
			uint64_t late = row ? row->late_ns[c] : 0;

			p->lateness[cell] = !late && p->waits[cell] == CT_UNKNOWN ? CT_UNKNOWN
					    : late < p->width_ns		  ? late
										  : p->width_ns;
			if (row && row->late_err_ns[c] > most)
				most = row->late_err_ns[c];
		}
	}
	return most;
}

/* ---- the heatmap ---- */

static const char *why_not(const struct ct_heat *heat, struct ct_arena *memory, int *failed)
{
	const char *why = NULL;
	double share = 100 * (double)heat->known / (double)(heat->known + heat->unknown);

	if (!heat->known)
		why = ct_arena_printf(memory,
				      "of no operation is it known how long ranks waited in it");
	else if (heat->unknown)
		why = ct_arena_printf(memory, "waits are known of %.3g %% of the operations",
				      share < 99.9 ? share : 99.9);
	else
		return NULL;
	*failed |= !why;
	return why;
}

static int fold(struct waits_chart *p, struct ct_report_heat_waits *out)
{
	struct ct_arena *memory = p->report->memory;

	out->rows = p->layout.rows;
	out->columns = p->columns;
	out->column_ns = p->width_ns;
	out->wait_ns = ct_heat_fold(&p->layout, p->waits, p->model->n_slots, p->columns, memory);
	out->lateness_ns = ct_heat_fold(&p->layout, p->lateness, p->model->n_slots, p->columns,
					memory);
	return out->wait_ns && out->lateness_ns ? CT_OK : CT_NOMEM;
}

static int paint(struct waits_chart *p, struct ct_report_heat_waits *out)
{
	size_t n;
	int st = ct_heat_layout_make(p->model, p->report, &p->layout);

	if (st != CT_OK || !p->layout.rows.n)
		return st;
	p->columns = ct_heat_level(p->heat, p->model->end_ns, p->layout.most_columns, &p->width_ns);
	n = (size_t)p->model->n_slots * p->columns;
	p->waits = malloc(n * sizeof(*p->waits));
	p->lateness = malloc(n * sizeof(*p->lateness));
	p->lost = malloc(p->columns);
	if (!p->waits || !p->lateness || !p->lost)
		return CT_NOMEM;
	out->err_ns = fill_slots(p);
	out->lateness_err_ns = fill_lateness(p);
	return fold(p, out);
}

int ct_heat_fill_waits(const struct ct_model *model, struct ct_heat *heat, struct ct_report *report)
{
	struct waits_chart p = { .model = model, .heat = heat, .report = report };
	struct ct_report_heat_waits *out = &report->heat.waits;
	int failed = 0, st = CT_OK;

	*out = (struct ct_report_heat_waits){ .err_ns = CT_UNKNOWN,
					      .lateness_err_ns = CT_UNKNOWN,
					      .column_ns = CT_UNKNOWN };
	out->why = why_not(heat, report->memory, &failed);
	if (heat->known)
		st = paint(&p, out);
	ct_heat_layout_fini(&p.layout);
	free(p.waits);
	free(p.lateness);
	free(p.lost);
	return failed ? CT_NOMEM : st;
}
