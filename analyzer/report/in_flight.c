/* SPDX-License-Identifier: Apache-2.0 */
/* What each rank was in when it was heard of last. */
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/model/model.h"
#include "analyzer/report/fill.h"
#include "trace/ops.h"

CT_SORT_BY(by_age, struct ct_report_in_flight, CT_UP(since_at_ns) ?: CT_UP(rank))

static int fill_one(const struct ct_model *model, const struct ct_unreturned *from,
		    struct ct_report *report, struct ct_report_in_flight *op)
{
	const struct ct_process_facts *facts = &model->processes[from->process].facts;
	uint64_t alive = report->processes[from->process].last_heartbeat_ns;

	if (alive == CT_UNKNOWN || alive < facts->last_ns)
		alive = facts->last_ns;
	op->rank = model->slots[from->slot].rank;
	op->tid = from->op.tid;
	op->launched = from->launched;
	op->seq = from->op.seq;
	op->peer = from->op.peer;
	op->message = ct_op_class(from->op.op) != CT_CLASS_P2P ? CT_MESSAGE_NONE
		      : from->op.op == CT_OP_Send	       ? CT_MESSAGE_TO
							       : CT_MESSAGE_FROM;
	op->since_at_ns = ct_model_at(model, from->process, from->op.enter_ns);
	op->age_ns = alive > from->op.enter_ns ? alive - from->op.enter_ns : 0;
	if (!from->is_call) {
		op->op_name = ct_arena_printf(report->memory, "%s",
					      ct_op_names_get(&model->names, from->op.op));
		if (!op->op_name)
			return CT_NOMEM;
	}
	if (from->call || from->is_call) {
		op->call = ct_arena_printf(report->memory, "%s", from->call ? from->call : "?");
		if (!op->call)
			return CT_NOMEM;
	}
	if (!from->comm)
		return CT_OK;
	op->comm_hash = from->comm->hash;
	if (from->comm->name) {
		op->comm_name = ct_arena_printf(report->memory, "%s", from->comm->name);
		return op->comm_name ? CT_OK : CT_NOMEM;
	}
	return CT_OK;
}

int ct_fill_in_flight(const struct ct_model *model, struct ct_report *report)
{
	int st = CT_OK;

	report->n_in_flight = model->n_unreturned;
	report->open_launches = model->open_launches;
	report->in_flight = ct_arena_calloc(report->memory, report->n_in_flight,
					    sizeof(*report->in_flight));
	if (!report->in_flight)
		return CT_NOMEM;
	for (uint32_t i = 0; i < model->n_unreturned && st == CT_OK; i++)
		st = fill_one(model, &model->unreturned[i], report, &report->in_flight[i]);
	qsort(report->in_flight, report->n_in_flight, sizeof(*report->in_flight), by_age);
	return st;
}
