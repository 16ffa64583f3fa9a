/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/step_blame.h"
#include "analyzer/model/model.h"
#include "trace/ops.h"
#include "trace/status.h"

/* The value that `share` of n sorted ones do not exceed. */
static uint64_t quantile(const uint64_t *sorted, uint32_t n, double share)
{
	uint32_t at = (uint32_t)(share * n);

	return sorted[at < n ? at : n - 1];
}

static int fill_times(const struct ct_steps *steps, struct ct_report_steps *to)
{
	uint64_t *times = malloc((size_t)steps->n * sizeof(*times));

	if (!times)
		return CT_NOMEM;
	for (uint32_t k = 0; k < steps->n; k++)
		times[k] = steps->cut_ns[k + 1] - steps->cut_ns[k];
	qsort(times, steps->n, sizeof(*times), ct_by_u64);
	to->time_p50_ns = quantile(times, steps->n, 0.5);
	to->time_p99_ns = quantile(times, steps->n, 0.99);
	free(times);
	return CT_OK;
}

static const char *op_name(const struct ct_model *model, const struct ct_sequence_kind *kind)
{
	return ct_op_names_get(&model->names, kind->op);
}

/* Names of operations live as long as the model, if it learnt them. */
static const char *kept_name(const struct ct_model *model, const struct ct_sequence_kind *kind,
			     struct ct_arena *memory)
{
	const char *known = ct_op_name(kind->op);

	return known ? known : ct_arena_printf(memory, "%s", op_name(model, kind));
}

static int fill_recurring(const struct ct_model *model, const struct ct_steps *steps,
			  struct ct_report *report)
{
	struct ct_report_steps *to = &report->steps;

	to->recurring = ct_arena_calloc(report->memory, steps->n_recurring + 1,
					sizeof(*to->recurring));
	if (!to->recurring)
		return CT_NOMEM;
	for (uint32_t k = 0; k < steps->n_recurring; k++) {
		const struct ct_recurring *from = &steps->recurring[k];
		struct ct_report_recurring *row = &to->recurring[to->n_recurring++];

		row->comm_hash = from->kind.comm->hash;
		row->op_name = kept_name(model, &from->kind, report->memory);
		row->bytes = from->kind.is_sized ? from->kind.bytes : CT_UNKNOWN;
		row->every = from->every;
		row->count = from->n;
		if (!row->op_name)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* The rank that the others waited for longest in each step; charges are sorted by it. */
static int last_of(const struct ct_model *model, const struct ct_step_blame *blame, uint32_t step,
		   uint32_t *at)
{
	const struct ct_step_charge *most = NULL;

	while (*at < blame->n && blame->all[*at].step < step)
		(*at)++;
	for (; *at < blame->n && blame->all[*at].step == step; (*at)++) {
		if (!most || blame->all[*at].charged_ns > most->charged_ns)
			most = &blame->all[*at];
	}
	return most ? model->slots[most->slot].rank : -1;
}

static int fill_items(const struct ct_model *model, const struct ct_steps *steps,
		      const struct ct_step_blame *blame, struct ct_report *report)
{
	struct ct_report_steps *to = &report->steps;
	uint32_t n = steps->n < CT_STEPS_LISTED ? steps->n : CT_STEPS_LISTED, at = 0;

	to->items = ct_arena_calloc(report->memory, n + 1, sizeof(*to->items));
	if (!to->items)
		return CT_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (uint32_t)((uint64_t)i * steps->n / n);
		struct ct_report_step *item = &to->items[to->n_items++];

		item->index = steps->first + k;
		item->begin_at_ns = steps->cut_ns[k];
		item->time_ns = steps->cut_ns[k + 1] - steps->cut_ns[k];
		item->exposed_ns = CT_UNKNOWN;
		item->wait_ns = blame->kept[k] && model->n_slots
					? blame->wait_ns[k] / model->n_slots
					: CT_UNKNOWN;
		item->last_rank = last_of(model, blame, k, &at);
	}
	return CT_OK;
}

int ct_steps_fill(const struct ct_model *model, const struct ct_steps *steps,
		  const struct ct_step_blame *blame, struct ct_report *report)
{
	struct ct_report_steps *to = &report->steps;

	to->why = steps->why;
	to->covered_pct = NAN;
	to->skipped = steps->first;
	if (!steps->n)
		return CT_OK;
	if (model->duration_ns)
		to->covered_pct = 100 * (double)(steps->cut_ns[steps->n] - steps->cut_ns[0]) /
				  (double)model->duration_ns;
	to->note = steps->may_be_parts ? "an operation or two each, of uneven times: a step may "
					 "have several; --step-anchor names where it begins"
				       : NULL;
	if (steps->marker) {
		to->marker = ct_arena_text(report->memory, steps->marker, strlen(steps->marker));
	} else {
		to->anchor_comm_key = steps->anchor.comm->hash;
		to->anchor_op = kept_name(model, &steps->anchor, report->memory);
		to->anchor_bytes = steps->anchor.is_sized ? steps->anchor.bytes : CT_UNKNOWN;
	}
	to->count = steps->n;
	to->err_ns = steps->err_ns;
	if ((!to->marker && !to->anchor_op) || fill_times(steps, to) ||
	    fill_recurring(model, steps, report))
		return CT_NOMEM;
	return fill_items(model, steps, blame, report);
}
