/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/workload/strike.h"

#include "trace/ops.h"

static int is_struck(const struct ct_workload *w, const struct ct_fault *fault,
		     const struct ct_workload_op *op)
{
	if (fault->kind != CT_FAULT_SKIP_SEND)
		return op->index == fault->op;
	return op->index >= fault->op && op->op == CT_OP_Send &&
	       ct_workload_member(w, op->comm, op->peer) == fault->peer;
}

/* The first call of that kind: of a split the communicator that is split. */
static int is_call(const struct ct_fault *fault, const struct ct_action *action, int *comm)
{
	*comm = action->kind == CT_ACTION_SPLIT ? action->parent : action->comm;
	return action->kind == (fault->call == CT_CALL_init    ? CT_ACTION_INIT
				: fault->call == CT_CALL_split ? CT_ACTION_SPLIT
							       : CT_ACTION_FINALIZE);
}

int ct_workload_strike(const struct ct_workload *plain, const struct ct_fault *fault,
		       struct ct_workload_op *op)
{
	struct ct_workload_rank *it;
	const struct ct_action *action = NULL;
	const int calls = fault->kind == CT_FAULT_HOST_STALL && !ct_fault_has(fault, CT_KEY_op);
	int more, comm = 0, found = 0;

	if (!calls && !ct_fault_has(fault, CT_KEY_op))
		return 0;
	it = ct_workload_open(plain, fault->rank);
	if (!it)
		return -1;
	while (!found && (more = ct_workload_next(it, &action)) > 0)
		found = calls ? is_call(fault, action, &comm)
			      : action->kind == CT_ACTION_OP &&
					is_struck(plain, fault, &action->op);
	if (found)
		*op = calls ? (struct ct_workload_op){ .comm = comm, .peer = -1 } : action->op;
	ct_workload_close(it);
	return found ? 1 : more;
}

int64_t ct_workload_ops(const struct ct_workload *w, int rank)
{
	struct ct_workload_rank *it = ct_workload_open(w, rank);
	const struct ct_action *action = NULL;
	int64_t n = 0;
	int more = -1;

	while (it && (more = ct_workload_next(it, &action)) > 0)
		n += action->kind == CT_ACTION_OP;
	ct_workload_close(it);
	return more < 0 ? -1 : n;
}
