/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that create communicators with unknown members. If every running rank is inside such a
 * call, or waits for one that is, then the missing members wait for these calls as well. */
#include "analyzer/hang/roots.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "trace/status.h"

/* Calls of unknown ranks, and of more than one communicator only if they are known to be different. */
static int is_of_meetings(const struct ct_waiting *w, const struct ct_root *root)
{
	const struct ct_hang_case *c = w->ix->c;

	if (root->code != CT_HANG_IS_UNKNOWN || root->circle || root->fresh)
		return 0;
	for (uint32_t k = 0; k < root->n_nodes; k++) {
		uint32_t comm;

		if (ct_wait_kind(w, root->nodes[k]) != CT_NODE_MEETING)
			return 0;
		comm = w->meetings[ct_wait_of(w, root->nodes[k])].comm;
		if (comm == CT_HANG_NONE || (!c->comms[comm].hash && root->n_nodes > 1))
			return 0;
		for (uint32_t j = 0; j < k && root->n_nodes > 1; j++)
			if (c->comms[w->meetings[ct_wait_of(w, root->nodes[j])].comm].hash ==
			    c->comms[comm].hash)
				return 0;
	}
	return 1;
}

int ct_roots_unknown_members(const struct ct_waiting *w, struct ct_roots *roots)
{
	const struct ct_hang_case *c = w->ix->c;

	for (uint32_t r = 0; r < roots->n; r++) {
		struct ct_root *root = &roots->all[r];
		uint32_t *all;

		/* Ranks and victims are disjoint, so they include all ranks if they are as many. */
		if (!is_of_meetings(w, root) || root->n_ranks + root->n_victims != c->n_ranks)
			continue;
		root->code = CT_HANG_IS_HOST_ORDER_DEADLOCK;
		root->soft = 1;
		root->unnamed = 1;
		if (root->n_nodes > 1)
			continue;
		all = ct_arena_calloc(w->ix->arena, c->n_ranks, sizeof(*all));
		if (!all)
			return CT_NOMEM;
		memcpy(all, root->ranks, root->n_ranks * sizeof(*all));
		memcpy(all + root->n_ranks, root->victims, root->n_victims * sizeof(*all));
		qsort(all, c->n_ranks, sizeof(*all), ct_by_u32);
		root->ranks = all;
		root->n_ranks = c->n_ranks;
		root->n_victims = 0;
	}
	return CT_OK;
}
