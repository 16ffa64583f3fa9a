/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that was killed after others had already waited for it: they did not wait for the cause of
 * its death. */
#include "analyzer/hang/waits_for.h"

static int is_before(const struct ct_hang_index *ix, uint32_t rank, uint64_t due_ns,
		     const struct ct_hang_rank *dead)
{
	uint64_t err_ns = ix->c->ranks[rank].err_ns;

	return due_ns && err_ns < dead->ended_ns && dead->err_ns < dead->ended_ns - err_ns &&
	       due_ns < dead->ended_ns - err_ns - dead->err_ns;
}

/* Had a rank been in this for longer than a stall takes when that rank ended? */
static int was_overdue(const struct ct_waiting *w, uint32_t node, const struct ct_hang_rank *dead)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t of = ct_wait_of(w, node);

	if (ct_wait_kind(w, node) == CT_NODE_INSTANCE) {
		const struct ct_hang_instance *i = &ix->instances[of];

		for (uint32_t k = i->first; k < i->first + i->n; k++) {
			const struct ct_hang_op *op = &ix->c->ops[ix->parts[k]];

			if (op->stalled == 1 && is_before(ix, op->rank, op->due_ns, dead))
				return 1;
		}
	}
	for (uint32_t i = ct_wait_kind(w, node) == CT_NODE_MEETING ? w->meetings[of].call
								   : CT_HANG_NONE;
	     i != CT_HANG_NONE; i = w->next_of_meeting[i]) {
		const struct ct_hang_call *call = &ix->c->calls[i];

		if (call->stalled == 1 && is_before(ix, call->rank, call->due_ns, dead))
			return 1;
	}
	return 0;
}

void ct_waiting_killed(struct ct_waiting *w)
{
	for (uint32_t f = 0; f < w->n_found; f++) {
		const struct ct_wait_node *n = &w->nodes[w->found[f]];

		for (uint32_t e = n->first; e < n->first + n->n; e++) {
			uint32_t to = w->edges[e].to;
			const struct ct_hang_rank *rank;

			if (!(w->edges[e].flags & CT_EDGE_ABSENT) ||
			    ct_wait_kind(w, to) != CT_NODE_HOST ||
			    w->nodes[to].code != CT_HANG_IS_DEAD_RANK)
				continue;
			rank = &w->ix->c->ranks[ct_wait_of(w, to)];
			if (rank->killed && rank->ended_ns != CT_UNKNOWN &&
			    was_overdue(w, w->found[f], rank))
				w->nodes[to].code = CT_HANG_IS_NEVER_ENTERED;
		}
	}
}
