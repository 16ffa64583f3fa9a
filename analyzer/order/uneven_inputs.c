/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/uneven_inputs.h"

#include "analyzer/load/joined_op.h"
#include "analyzer/model/model.h"
#include "analyzer/model/process_exit.h"
#include "trace/ops.h"

static int is_known(const struct ct_comm *comm, uint32_t member)
{
	return comm->slots[member] != 0;
}

int ct_uneven_ends(const struct ct_order *order, uint8_t *set, uint64_t *seq, uint64_t *more)
{
	const struct ct_comm *comm = order->comm;
	uint64_t least = UINT64_MAX, next = UINT64_MAX;

	if (order->has_graphs || comm->clash || comm->shared_slot)
		return 0;
	for (uint32_t m = 0; m < comm->nranks; m++) {
		if (is_known(comm, m) && comm->reached[m] < least)
			least = comm->reached[m];
	}
	for (uint32_t m = 0; m < comm->nranks; m++) {
		set[m] = !is_known(comm, m)	    ? CT_DIVERGENCE_UNSEEN
			 : comm->reached[m] > least ? CT_DIVERGENCE_USUAL
						    : CT_DIVERGENCE_ODD;
		if (set[m] == CT_DIVERGENCE_USUAL && comm->reached[m] < next)
			next = comm->reached[m];
	}
	*seq = least;
	*more = next - least;
	/* a member without any call on it did not stop there */
	return next != UINT64_MAX && least > comm->first_seq;
}

/* The members with more calls, or the others, may be the odd ones; only sites can show where they
 * diverged. */
int ct_uneven_apart(const struct ct_order *order, uint8_t *set, struct ct_divergence *out)
{
	uint32_t nranks = order->comm->nranks, odd = 0, usual = 0;
	uint64_t seq, more;
	int64_t by;

	if (!ct_uneven_ends(order, set, &seq, &more))
		return 0;
	for (uint32_t m = 0; m < nranks; m++) {
		odd += set[m] == CT_DIVERGENCE_ODD;
		usual += set[m] == CT_DIVERGENCE_USUAL;
	}
	by = more <= CT_DIVERGENCE_MOST ? -(int64_t)more : 0;
	for (uint32_t m = 0; m < nranks && usual <= odd; m++)
		set[m] = set[m] == CT_DIVERGENCE_ODD	 ? CT_DIVERGENCE_USUAL
			 : set[m] == CT_DIVERGENCE_USUAL ? CT_DIVERGENCE_ODD
							 : CT_DIVERGENCE_UNSEEN;
	return ct_divergence_by_site(order, seq, set, usual <= odd ? -by : by, out);
}

/* ---- those that stopped ---- */

int ct_uneven_is_complete(const struct ct_model *model, uint32_t slot)
{
	const struct ct_model_process *process = &model->processes[model->slots[slot].process];

	for (unsigned reason = 1; reason < CT_LOSS_MAX; reason++) {
		if (ct_loss_is_of_records(reason) &&
		    (process->gaps.losses[reason] || process->facts.losses[reason].records))
			return 0;
	}
	return !process->gaps.missing_blocks && !process->gaps.damage.skipped_bytes;
}

static struct ct_exit exit_of(const struct ct_model *model, uint32_t slot)
{
	struct ct_exit_facts facts = ct_model_exit_facts(model, model->slots[slot].process);

	return ct_exit_of(&facts);
}

int ct_uneven_exited_cleanly(const struct ct_model *model, uint32_t slot)
{
	struct ct_exit exit = exit_of(model, slot);

	return ct_exit_in_order(&exit);
}

int ct_uneven_is_done(const struct ct_model *model, uint32_t slot)
{
	struct ct_exit exit = exit_of(model, slot);

	return ct_exit_in_order(&exit) && exit.facts.end.how != CT_END_EXIT;
}

/* By a signal of unknown origin, or with a failure. */
static int died_by_itself(const struct ct_model *model, uint32_t slot)
{
	struct ct_exit exit = exit_of(model, slot);

	return ct_exit_is_death(&exit);
}

static int is_inside(const struct ct_model *model, const struct ct_comm *comm, uint32_t slot)
{
	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		const struct ct_unreturned *u = &model->unreturned[i];

		if (u->comm == comm && u->slot == slot)
			return 1;
	}
	return 0;
}

static int stopped_in_order(const struct ct_model *model, const struct ct_order *order,
			    uint32_t member, int *by_leaving)
{
	uint32_t slot = order->comm->slots[member] - 1;
	int has_left = (order->left && order->left[member]) || model->slots[slot].leaves;
	int has_ended = ct_uneven_is_done(model, slot);

	if (!ct_uneven_is_complete(model, slot) || is_inside(model, order->comm, slot))
		return 0;
	*by_leaving &= !has_ended;
	return has_ended || (has_left && !died_by_itself(model, slot));
}

/* ---- those that wait ---- */

static int waits_long(const struct ct_model *model, const struct ct_comm *comm, uint32_t member,
		      uint64_t seq)
{
	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		const struct ct_unreturned *u = &model->unreturned[i];

		if (u->comm == comm && u->slot + 1 == comm->slots[member] && u->op.seq == seq &&
		    !u->is_call && ct_op_class(u->op.op) != CT_CLASS_P2P)
			return u->stuck != CT_STUCK_NOT;
	}
	return 0;
}

static int is_synchronising(const struct ct_order *order, uint32_t member)
{
	const struct ct_order_call *call = ct_order_at(order, order->trouble, member);

	return !call || ct_op_class(call->op) == CT_CLASS_SYNC;
}

int ct_uneven_find(const struct ct_model *model, const struct ct_order *order, uint8_t *set,
		   struct ct_uneven *out)
{
	const struct ct_comm *comm = order->comm;
	uint32_t waiting = 0;
	uint64_t more;

	*out = (struct ct_uneven){ .by_leaving = 1 };
	if (comm->first_difference != UINT64_MAX || !order->states ||
	    !ct_uneven_ends(order, set, &out->seq, &more) || order->trouble != out->seq)
		return 0;
	for (uint32_t m = 0; m < comm->nranks; m++) {
		enum ct_op_state state = order->states[m];
		uint64_t beyond = comm->reached[m] - out->seq;

		if (set[m] == CT_DIVERGENCE_UNSEEN) {
			out->n_unseen++;
			continue;
		}
		if (set[m] == CT_DIVERGENCE_ODD) {
			out->n_stopped++;
			if (!stopped_in_order(model, order, m, &out->by_leaving))
				return 0;
			continue;
		}
		out->n_waiting++;
		out->most = beyond > out->most ? beyond : out->most;
		/* an operation of all ranks does not complete without them: they took part, without
		 * a record */
		if (!state || (state == CT_STATE_FINISHED && is_synchronising(order, m)))
			return 0;
		if (state == CT_STATE_ERROR || state == CT_STATE_ABORTED)
			out->failed = 1;
		else if (state != CT_STATE_FINISHED)
			waiting += (uint32_t)waits_long(model, comm, m, out->seq);
	}
	return waiting || out->failed;
}
