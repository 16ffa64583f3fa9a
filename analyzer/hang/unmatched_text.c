/* SPDX-License-Identifier: Apache-2.0 */
/* A receive that waits while a message with another tag has come, or a send while the other rank waits for another tag: the two
 * may be meant for each other. */
#include "analyzer/hang/verdict_text.h"

static uint32_t rank_at(const struct ct_hang_index *ix, uint32_t comm, int32_t comm_rank)
{
	const struct ct_hang_member *member = ct_hang_member_at(ix, comm, comm_rank);

	return member ? member->rank : CT_HANG_NONE;
}

uint32_t ct_hang_unmatched_op(const struct ct_verdict_text *s)
{
	const struct ct_hang_index *ix = s->w->ix;
	uint32_t at = s->v->op == CT_HANG_NONE ? CT_HANG_NONE : ix->instance_of[s->v->op];
	const struct ct_hang_instance *waits;
	const struct ct_hang_op *op;
	uint32_t other;

	if (at == CT_HANG_NONE)
		return CT_HANG_NONE;
	waits = &ix->instances[at];
	op = &ix->c->ops[s->v->op];
	if (!waits->p2p || (waits->sent && waits->taken) || op->state == CT_STATE_FINISHED ||
	    ix->c->ranks[op->rank].cut)
		return CT_HANG_NONE;
	other = rank_at(ix, op->comm, op->peer);
	for (uint32_t k = 0; k < ix->n_instances; k++) {
		const struct ct_hang_instance *i = &ix->instances[k];
		int32_t own_end = waits->sent ? i->src : i->dst;
		uint32_t from = rank_at(ix, i->comm, waits->sent ? i->dst : i->src);

		if (!i->p2p || (waits->sent ? i->sent || !i->taken : !i->sent || i->taken) ||
		    (i->comm == op->comm && i->tag == op->tag) ||
		    rank_at(ix, i->comm, own_end) != op->rank)
			continue;
		if (from != CT_HANG_NONE && (other == CT_HANG_NONE || from == other))
			return ct_hang_part(ix, i, from, waits->sent ? CT_OP_Recv : CT_OP_Send);
	}
	return CT_HANG_NONE;
}
