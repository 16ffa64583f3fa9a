/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/roots.h"

#include <string.h>

/* Classifies a circle of the wait-for graph. */
struct circle {
	int messages, collectives; /* instances */
	int missed_messages;	   /* ... that some rank has not entered */
	int missed;		   /* of any kind */
	uint32_t n_missed;	   /* instances that some rank has not entered */
	int inside, running, gave_up, errors;
	int beyond;  /* an instance whose other ranks have left the call */
	int grouped; /* of the ranks inside it */
	int on_gpu;
	int joint_calls;
	int by_itself; /* blocked by more than the other ops of its launches */
	int unseen;
	int unlisted;	    /* a message whose other end is complete and not listed */
	int open_ends;	    /* a message that neither end has finished */
	int crossed;	    /* a send and a receive between the same two that do not fit */
	int swapped;	    /* two collectives of the same ranks on two communicators */
	uint32_t message;   /* of messages, the one that began first */
	uint64_t second_ns; /* when the next one was */
	uint32_t first;	    /* the instance that began first and that some rank has not entered */
};

static void see_kernel(const struct ct_waiting *w, uint32_t of, struct circle *circle)
{
	const struct ct_hang_kernel *k = &w->ix->kernels[of];

	circle->gave_up |= k->progress == CT_HANG_GAVE_UP;
	circle->inside |= k->progress == CT_HANG_INSIDE;
	circle->grouped |= k->grouped;
	circle->running |= k->progress != CT_HANG_INSIDE;
	circle->on_gpu |= !k->by_host;
	circle->unseen |= k->progress == CT_HANG_MAY_RUN;
}

/* Two collectives of the same ranks, each on a communicator of its own. */
static int is_swap(const struct ct_waiting *w, const struct ct_hang_instance *a,
		   const struct ct_hang_instance *b)
{
	const struct ct_hang_comm *x = &w->ix->c->comms[a->comm], *y = &w->ix->c->comms[b->comm];

	return !a->p2p && !b->p2p && x != y && x->n == y->n &&
	       memcmp(x->ranks, y->ranks, x->n * sizeof(*x->ranks)) == 0;
}

/* At equal times a message comes first: fewer ranks call it than a collective. */
static void see_missed(const struct ct_waiting *w, uint32_t at, struct circle *circle)
{
	const struct ct_hang_instance *i = &w->ix->instances[at], *first;
	uint64_t later = i->begin_ns;

	if (i->p2p && (circle->message == CT_HANG_NONE ||
		       i->begin_ns < w->ix->instances[circle->message].begin_ns))
		circle->message = at;
	if (circle->first == at)
		return;
	if (circle->first != CT_HANG_NONE) {
		circle->swapped |= is_swap(w, i, &w->ix->instances[circle->first]);
		first = &w->ix->instances[circle->first];
		if (i->begin_ns < first->begin_ns ||
		    (i->begin_ns == first->begin_ns && i->p2p && !first->p2p)) {
			later = first->begin_ns;
			circle->first = at;
		}
		if (later < circle->second_ns)
			circle->second_ns = later;
		return;
	}
	circle->first = at;
}

/* A collective that began, within clock error, before all others that some rank has not entered (or
 * the only one), and that few of many ranks, or all but few, entered: those few took another path.
 * If the same ranks share two communicators, a different call order is as likely, and which rank is
 * wrong is unknown. */
static int began_it(const struct ct_waiting *w, const struct circle *circle)
{
	const struct ct_hang_instance *i;
	uint64_t err = 0;

	if (circle->first == CT_HANG_NONE || circle->swapped)
		return 0;
	i = &w->ix->instances[circle->first];
	for (uint32_t k = i->first; k < i->first + i->n; k++) {
		uint64_t own = w->ix->c->ranks[w->ix->c->ops[w->ix->parts[k]].rank].err_ns;

		if (own > err)
			err = own;
	}
	if (i->p2p || i->n == w->ix->c->comms[i->comm].n - i->n || w->ix->c->comms[i->comm].n <= 2)
		return 0;
	if (circle->n_missed == 1 && !circle->unseen)
		return 1;
	return i->begin_ns != CT_UNKNOWN && err < circle->second_ns &&
	       circle->second_ns != CT_UNKNOWN && i->begin_ns < circle->second_ns - err;
}

/* Is there, between the ends of a message that was not sent, one that was not received? */
static int is_crossed(const struct ct_waiting *w, const struct ct_components *c, uint32_t component)
{
	const struct ct_hang_index *ix = w->ix;

	for (uint32_t k = c->first[component]; k < c->first[component + 1]; k++) {
		const struct ct_hang_instance *i;

		if (ct_wait_kind(w, c->nodes[k]) != CT_NODE_INSTANCE)
			continue;
		i = &ix->instances[ct_wait_of(w, c->nodes[k])];
		/* Messages between the same two lie side by side, by tag. */
		for (const struct ct_hang_instance *o = i - 1;
		     i->p2p && !i->sent && o >= ix->instances && o->comm == i->comm && o->p2p &&
		     !o->any && o->src == i->src && o->dst == i->dst;
		     o--)
			if (!o->taken)
				return 1;
		for (const struct ct_hang_instance *o = i + 1;
		     i->p2p && !i->sent && o < ix->instances + ix->n_instances &&
		     o->comm == i->comm && o->p2p && !o->any && o->src == i->src &&
		     o->dst == i->dst;
		     o++)
			if (!o->taken)
				return 1;
	}
	return 0;
}

static uint32_t count_open(const struct ct_waiting *w, const struct ct_hang_instance *i)
{
	uint32_t n = 0;

	if (i->p2p && i->src == i->dst) /* both ends are of one rank */
		return 1;
	for (uint32_t k = i->first; k < i->first + i->n; k++)
		n += w->ix->c->ops[w->ix->parts[k]].state != CT_STATE_FINISHED;
	return n;
}

static void see_instance(const struct ct_waiting *w, const struct ct_components *c, uint32_t node,
			 struct circle *circle)
{
	const struct ct_wait_node *n = &w->nodes[node];
	const struct ct_hang_instance *i = &w->ix->instances[ct_wait_of(w, node)];
	int missed = 0;

	circle->by_itself |= !n->fused;
	circle->open_ends |= count_open(w, i) > 1;
	circle->unlisted |= i->p2p && !i->any && !i->taken_by_any && i->n < 2 && i->sent &&
			    i->taken;
	circle->messages |= i->p2p;
	circle->collectives |= !i->p2p;
	for (uint32_t k = i->first; k < i->first + i->n; k++)
		circle->beyond |= w->ix->kernels[w->ix->kernel_of[w->ix->parts[k]]].progress !=
				  CT_HANG_INSIDE;
	for (uint32_t e = n->first; e < n->first + n->n; e++) {
		if (!(w->edges[e].flags & CT_EDGE_ABSENT) || c->of[w->edges[e].to] != c->of[node])
			continue;
		missed = 1;
		circle->missed_messages |= i->p2p;
		see_missed(w, ct_wait_of(w, node), circle);
	}
	circle->missed |= missed;
	circle->n_missed += (uint32_t)missed;
}

enum ct_hang_code ct_root_circle_code(const struct ct_waiting *w, const struct ct_components *c,
				      uint32_t component, uint32_t *first)
{
	struct circle circle = { .first = CT_HANG_NONE,
				 .message = CT_HANG_NONE,
				 .second_ns = CT_UNKNOWN };

	*first = CT_HANG_NONE;
	for (uint32_t k = c->first[component]; k < c->first[component + 1]; k++) {
		switch (ct_wait_kind(w, c->nodes[k])) {
		case CT_NODE_KERNEL:
			see_kernel(w, ct_wait_of(w, c->nodes[k]), &circle);
			break;
		case CT_NODE_INSTANCE:
			see_instance(w, c, c->nodes[k], &circle);
			break;
		case CT_NODE_JOINT_CALL:
			circle.missed = circle.joint_calls = 1;
			break;
		case CT_NODE_ERROR:
			circle.errors = 1;
			break;
		default:
			break;
		}
	}
	if (circle.errors || (circle.gave_up && !circle.missed))
		return CT_HANG_IS_ASYNC_ERROR;
	if (circle.joint_calls)
		return CT_HANG_IS_HOST_ORDER_DEADLOCK;
	circle.crossed = circle.missed_messages && is_crossed(w, c, component);
	if (circle.missed_messages && !circle.on_gpu && !circle.collectives && !circle.crossed)
		return CT_HANG_IS_P2P_CYCLE;
	if (circle.missed_messages) {
		/* The others follow from the one that was waited for first. */
		*first = circle.first;
		/* Among more than two ranks, which one is wrong is unknown; for a message, its
		 * ends. */
		if (w->ix->c->comms[w->ix->instances[circle.first].comm].n > 2)
			*first = circle.message;
		return w->ix->instances[*first].p2p ? CT_HANG_IS_P2P_UNMATCHED
						    : CT_HANG_IS_MISMATCH_OP;
	}
	if (circle.missed && began_it(w, &circle)) {
		*first = circle.first;
		return CT_HANG_IS_MISMATCH_OP;
	}
	/* Only two communicators of the same ranks show the order: elsewhere a skipped or an extra
	 * operation looks the same. */
	if (circle.missed && !circle.swapped)
		return CT_HANG_IS_UNKNOWN;
	if (circle.missed || (circle.inside && circle.running))
		return CT_HANG_IS_HOST_ORDER_DEADLOCK;
	if (circle.inside && circle.beyond)
		return circle.grouped ? CT_HANG_IS_HOST_BLOCKED_CALL : CT_HANG_IS_INSIDE_LIBRARY;
	if (circle.inside)
		return CT_HANG_IS_HOST_CALL_STALL;
	if (!circle.by_itself && (circle.unseen || circle.unlisted))
		return CT_HANG_IS_UNKNOWN;
	if (!circle.by_itself)
		return circle.open_ends ? CT_HANG_IS_TRANSPORT_STALL : CT_HANG_IS_PARTIAL_COMPLETE;
	return circle.collectives ? CT_HANG_IS_ORDER_DEADLOCK : CT_HANG_IS_P2P_CYCLE;
}
