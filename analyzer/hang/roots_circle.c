/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/roots.h"

/* What a circle is made of. */
struct circle {
	int messages, collectives; /* instances */
	int missed_messages;	   /* ... that some rank has not come to */
	int missed;		   /* of anything */
	int inside, running, gave_up, errors;
	int beyond;  /* an instance whose other ranks are through with the call */
	int grouped; /* of those inside */
	int on_gpu;
};

static void see_kernel(const struct ct_waiting *w, uint32_t of, struct circle *circle)
{
	const struct ct_hang_kernel *k = &w->ix->kernels[of];

	circle->gave_up |= k->progress == CT_HANG_GAVE_UP;
	circle->inside |= k->progress == CT_HANG_INSIDE;
	circle->grouped |= k->grouped;
	circle->running |= k->progress != CT_HANG_INSIDE;
	circle->on_gpu |= !k->by_host;
}

static void see_instance(const struct ct_waiting *w, const struct ct_components *c, uint32_t node,
			 struct circle *circle)
{
	const struct ct_wait_node *n = &w->nodes[node];
	const struct ct_hang_instance *i = &w->ix->instances[ct_wait_of(w, node)];

	circle->messages |= i->p2p;
	circle->collectives |= !i->p2p;
	for (uint32_t k = i->first; k < i->first + i->n; k++)
		circle->beyond |= w->ix->kernels[w->ix->kernel_of[w->ix->parts[k]]].progress !=
				  CT_HANG_INSIDE;
	for (uint32_t e = n->first; e < n->first + n->n; e++) {
		if (!(w->edges[e].flags & CT_EDGE_ABSENT) || c->of[w->edges[e].to] != c->of[node])
			continue;
		circle->missed = 1;
		circle->missed_messages |= i->p2p;
	}
}

enum ct_hang_code ct_root_circle_code(const struct ct_waiting *w, const struct ct_components *c,
				      uint32_t component)
{
	struct circle circle = { 0 };

	for (uint32_t k = c->first[component]; k < c->first[component + 1]; k++) {
		switch (ct_wait_kind(w, c->nodes[k])) {
		case CT_NODE_KERNEL:
			see_kernel(w, ct_wait_of(w, c->nodes[k]), &circle);
			break;
		case CT_NODE_INSTANCE:
			see_instance(w, c, c->nodes[k], &circle);
			break;
		case CT_NODE_MEETING:
			circle.missed = 1;
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
	if (circle.missed_messages && !circle.on_gpu && !circle.collectives)
		return CT_HANG_IS_P2P_CYCLE;
	if (circle.missed_messages)
		return CT_HANG_IS_P2P_UNMATCHED;
	if (circle.missed || (circle.inside && circle.running))
		return CT_HANG_IS_HOST_ORDER_DEADLOCK;
	if (circle.inside && circle.beyond)
		return circle.grouped ? CT_HANG_IS_HOST_BLOCKED_CALL : CT_HANG_IS_INSIDE_LIBRARY;
	if (circle.inside)
		return CT_HANG_IS_HOST_CALL_STALL;
	return circle.collectives ? CT_HANG_IS_ORDER_DEADLOCK : CT_HANG_IS_P2P_CYCLE;
}
