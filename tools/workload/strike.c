/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/workload/strike.h"

#include "trace/ops.h"

static int is_it(const struct ct_workload *w, const struct ct_fault *fault,
		 const struct ct_workload_op *op)
{
	if (fault->kind != CT_FAULT_SKIP_SEND)
		return op->index == fault->op;
	return op->index >= fault->op && op->op == CT_OP_Send &&
	       ct_workload_member(w, op->comm, op->peer) == fault->peer;
}

int ct_workload_strike(const struct ct_workload *plain, const struct ct_fault *fault,
		       struct ct_workload_op *op)
{
	struct ct_workload_rank *it;
	struct ct_action action;
	int more, found = 0;

	if (!ct_fault_has(fault, CT_KEY_op))
		return 0;
	it = ct_workload_open(plain, fault->rank);
	if (!it)
		return -1;
	while (!found && (more = ct_workload_next(it, &action)) > 0)
		found = action.kind == CT_ACTION_OP && is_it(plain, fault, &action.op);
	ct_workload_close(it);
	if (found)
		*op = action.op;
	return found ? 1 : more;
}

int64_t ct_workload_ops(const struct ct_workload *w, int rank)
{
	struct ct_workload_rank *it = ct_workload_open(w, rank);
	struct ct_action action;
	int64_t n = 0;
	int more = -1;

	while (it && (more = ct_workload_next(it, &action)) > 0)
		n += action.kind == CT_ACTION_OP;
	ct_workload_close(it);
	return more < 0 ? -1 : n;
}
