/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that NCCL makes of messages share connections with the program's own messages: an
 * unmatched message of the program blocks such a collective between its two ends. */
#include "analyzer/hang/waits_for.h"

#include "trace/ops.h"

/* size: more ranks than this that have not ended it are not looked at one by one. */
#define CT_TALLY_RANKS 16u

static int is_made_of_messages(unsigned op)
{
	return op == CT_OP_AllToAll || op == CT_OP_Gather || op == CT_OP_Scatter;
}

/* How many messages of one direction a rank had issued to or from a peer by a given time; 0: none
 * is listed. */
static uint64_t issued(const struct ct_hang_index *ix, const struct ct_hang_op *until, unsigned op,
		       uint32_t peer)
{
	uint64_t n = 0;

	for (uint32_t k = ix->rank_kernels[until->rank]; k < ix->rank_kernels[until->rank + 1]; k++)
		for (uint32_t o = 0; o < ix->kernels[k].n; o++) {
			const struct ct_hang_op
				*m = &ix->c->ops[ix->kernel_ops[ix->kernels[k].first + o]];

			if (m->op == op && m->comm == until->comm && m->peer == (int32_t)peer &&
			    m->enter_ns <= until->enter_ns && m->seq + 1 > n)
				n = m->seq + 1;
		}
	return n;
}

int ct_waiting_messages_differ(const struct ct_waiting *w, const struct ct_hang_instance *i)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t open = 0;

	if (i->p2p || !is_made_of_messages(ix->c->ops[ix->parts[i->first]].op) ||
	    ix->c->comms[i->comm].backend != CT_BACKEND_NCCL)
		return 0;
	for (uint32_t k = i->first; k < i->first + i->n; k++) {
		const struct ct_hang_op *op = &ix->c->ops[ix->parts[k]];
		uint32_t comm_rank = ix->members[ix->member_of[ix->parts[k]]].comm_rank;

		if (op->state == CT_STATE_FINISHED)
			continue;
		if (++open > CT_TALLY_RANKS)
			return 1;
		for (uint32_t p = i->first; p < i->first + i->n; p++) {
			const struct ct_hang_op *other = &ix->c->ops[ix->parts[p]];
			uint32_t peer = ix->members[ix->member_of[ix->parts[p]]].comm_rank;

			if (issued(ix, op, CT_OP_Send, peer) !=
				    issued(ix, other, CT_OP_Recv, comm_rank) ||
			    issued(ix, op, CT_OP_Recv, peer) !=
				    issued(ix, other, CT_OP_Send, comm_rank))
				return 1;
		}
	}
	return 0;
}
