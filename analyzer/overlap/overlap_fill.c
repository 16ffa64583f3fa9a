/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report_rows.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/overlap_observe.h"

static const char *method_of(const struct ct_overlap_row *row)
{
	if (!row->measured)
		return "n/a";
	if (row->by_host)
		return "host-waits";
	return row->same_stream == row->measured ? "same-stream" : "stream-waits";
}

static int fill_row(const struct ct_model *model, const struct ct_overlap_row *from,
		    struct ct_arena *memory, struct ct_report_overlap *row)
{
	int known = from->measured > 0;
	uint64_t exposed = from->exposed_ns < from->comm_ns ? from->exposed_ns : from->comm_ns;

	row->rank = model->slots[from->slot].rank;
	row->comm_hash = from->comm->hash;
	row->launches = from->launches;
	row->measured = from->measured;
	row->comm_ns = known ? from->comm_ns : CT_UNKNOWN;
	row->exposed_ns = known ? exposed : CT_UNKNOWN;
	row->hidden_ns = known ? from->comm_ns - exposed : CT_UNKNOWN;
	row->err_ns = known ? from->err_ns : CT_UNKNOWN;
	row->overlap_ratio = known && from->comm_ns ? 1 - (double)exposed / (double)from->comm_ns
						    : NAN;
	row->method = method_of(from);
	if (from->comm->name) {
		row->comm_name = ct_arena_printf(memory, "%s", from->comm->name);
		return row->comm_name ? CT_OK : CT_NOMEM;
	}
	return CT_OK;
}

CT_SORT_BY(by_rank, struct ct_report_overlap,
	   CT_CMP((unsigned)x->rank, (unsigned)y->rank) ?: CT_UP(comm_hash))

static void fill_rank(const struct ct_exposed *sum, struct ct_report_rank *rank)
{
	rank->exposed_ns = sum->is_known ? sum->exposed_ns : CT_UNKNOWN;
	rank->exposed_err_ns = sum->is_known ? sum->err_ns : CT_UNKNOWN;
}

/* Are the waits of any of its members known? Members that act alike have equal waits. */
static int is_known(const struct ct_model *model, const struct ct_overlap_class *c)
{
	for (uint32_t r = 0; c->by_host && r < c->comm->nranks; r++) {
		uint32_t slot = c->comm->slots[r];

		if (slot && ct_rank_knows_waits(&model->slots[slot - 1], c->comm->backend))
			return 1;
	}
	return !c->by_host;
}

static void fill_ops(const struct ct_model *model, const struct ct_overlap *overlap,
		     struct ct_report *report)
{
	const struct ct_overlap_class *all;
	size_t n;

	all = ct_overlap_classes(overlap, &n);
	for (size_t k = 0; k < report->n_ops; k++)
		report->ops[k].exposed_ns = report->ops[k].exposed_err_ns = CT_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		const struct ct_overlap_class *c = &all[i];
		struct ct_report_op **rows;
		size_t n_rows;

		if ((double)c->measured < CT_NEARLY_ALL * (double)c->launches ||
		    !is_known(model, c))
			continue;
		rows = ct_report_rows_of_op(report, c->comm->hash, c->op, c->dtype, c->size_range,
					    &n_rows);
		for (size_t k = 0; k < n_rows; k++) {
			rows[k]->exposed_ns = c->exposed_ns;
			rows[k]->exposed_err_ns = c->err_ns;
		}
	}
}

int ct_fill_overlap(const struct ct_model *model, const struct ct_overlap *overlap,
		    struct ct_report *report)
{
	const struct ct_overlap_row *rows;
	size_t n;
	int st = CT_OK;

	rows = ct_overlap_rows(overlap, &n);
	report->overlap = ct_arena_calloc(report->memory, n, sizeof(*report->overlap));
	if (!report->overlap)
		return CT_NOMEM;
	for (size_t i = 0; i < n && st == CT_OK; i++) {
		if (ct_overlap_is_known(&model->slots[rows[i].slot], &rows[i]))
			st = fill_row(model, &rows[i], report->memory,
				      &report->overlap[report->n_overlap++]);
	}
	qsort(report->overlap, report->n_overlap, sizeof(*report->overlap), by_rank);
	for (uint32_t s = 0; s < model->n_slots; s++)
		fill_rank(&model->slots[s].exposed, &report->ranks[s]);
	fill_ops(model, overlap, report);
	return st;
}
