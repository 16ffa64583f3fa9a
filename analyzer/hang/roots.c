/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/roots.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "analyzer/base/union_find.h"
#include "trace/status.h"

/* Ranks that a root names, gathered. */
struct names {
	uint32_t *ranks;
	uint32_t n, cap;
};

static int name_rank(struct names *names, uint32_t rank)
{
	if (rank == CT_HANG_NONE)
		return CT_OK;
	if (ct_grow(&names->ranks, &names->cap, names->n + 1, sizeof(*names->ranks)))
		return CT_NOMEM;
	names->ranks[names->n++] = rank;
	return CT_OK;
}

static int name_parts(const struct ct_waiting *w, uint32_t at, struct names *names)
{
	const struct ct_hang_instance *i = &w->ix->instances[at];
	int rc = CT_OK;

	for (uint32_t k = i->first; k < i->first + i->n && rc == CT_OK; k++)
		if (w->ix->c->ops[w->ix->parts[k]].state != CT_STATE_FINISHED)
			rc = name_rank(names, w->ix->c->ops[w->ix->parts[k]].rank);
	return rc;
}

static int name_all(const uint32_t *ranks, uint32_t n, struct names *names)
{
	int rc = CT_OK;

	for (uint32_t k = 0; k < n && rc == CT_OK; k++)
		rc = name_rank(names, ranks[k]);
	return rc;
}

static int name_joint_call(const struct ct_waiting *w, uint32_t at, struct names *names)
{
	const struct ct_hang_case *c = w->ix->c;
	int rc = CT_OK;

	for (uint32_t i = w->joint_calls[at].call; i != CT_HANG_NONE && rc == CT_OK;
	     i = w->next_joint[i])
		if (!c->calls[i].returned)
			rc = name_rank(names, c->calls[i].rank);
	return rc;
}

/* The code of a leaf. */
static int name_of(const struct ct_waiting *w, uint32_t node, struct names *names)
{
	uint32_t of = ct_wait_of(w, node);

	switch (ct_wait_kind(w, node)) {
	case CT_NODE_INSTANCE:
		return name_parts(w, of, names);
	case CT_NODE_JOINT_CALL:
		return name_joint_call(w, of, names);
	case CT_NODE_MISMATCH:
		return name_all(w->mismatches[of]->culprits, w->mismatches[of]->n_culprits, names);
	case CT_NODE_MISMATCHED:
		return name_all(w->mismatched[of]->culprits, w->mismatched[of]->n_culprits, names);
	default:
		return name_rank(names, ct_wait_rank(w, node));
	}
}

/* A rank inside a call, with unknown counterpart. */
static int is_asking(const struct ct_waiting *w, uint32_t node)
{
	uint32_t about = w->nodes[node].about;

	return ct_wait_kind(w, node) == CT_NODE_HOST && about != CT_HANG_NONE &&
	       w->ix->c->calls[about].kind == CT_HOST_PEERS;
}

static int name_in_circle(const struct ct_waiting *w, const struct ct_root *root, uint32_t node,
			  struct names *names)
{
	uint32_t rank = ct_wait_rank(w, node);

	if (root->asks && root->code == CT_HANG_IS_UNKNOWN && !is_asking(w, node))
		return CT_OK;
	if (root->code == CT_HANG_IS_ASYNC_ERROR) {
		/* The ranks that failed, not those that they wait for. */
		if (ct_wait_kind(w, node) == CT_NODE_KERNEL
			    ? w->ix->kernels[ct_wait_of(w, node)].progress != CT_HANG_GAVE_UP
			    : rank == CT_HANG_NONE || !w->ix->c->ranks[rank].error)
			return CT_OK;
	}
	return name_rank(names, rank);
}

/* The ranks of an instance: those that wait in it or those it waits for, whichever are fewer; both
 * if they are equally many, or for a message. Returns 1 for both, 0, or CT_NOMEM. */
static int name_ends(const struct ct_waiting *w, uint32_t at, struct names *names)
{
	const struct ct_wait_node *n = &w->nodes[ct_wait_id(w, CT_NODE_INSTANCE, at)];
	uint32_t absent = 0, present = w->ix->instances[at].n;
	int rc = CT_OK;

	for (uint32_t e = n->first; e < n->first + n->n; e++)
		absent += (w->edges[e].flags & CT_EDGE_ABSENT) != 0;
	if (w->ix->instances[at].p2p)
		present = absent;
	if (present <= absent)
		rc = name_parts(w, at, names);
	for (uint32_t e = n->first; e < n->first + n->n && rc == CT_OK && absent <= present; e++)
		if (w->edges[e].flags & CT_EDGE_ABSENT)
			rc = name_rank(names, ct_wait_rank(w, w->edges[e].to));
	return rc == CT_OK ? present == absent : rc;
}

/* ---- which roots are one ---- */

/* Joins leaves with the same code for several ranks that one node waits for. */
static void join_by_waiters(const struct ct_waiting *w, const struct ct_components *c,
			    uint32_t *group)
{
	for (uint32_t i = 0; i < w->n_found; i++) {
		const struct ct_wait_node *n = &w->nodes[w->found[i]];
		enum ct_wait_kind kind = ct_wait_kind(w, w->found[i]);
		uint32_t first[CT_HANG_CODES];

		if (kind != CT_NODE_INSTANCE && kind != CT_NODE_JOINT_CALL &&
		    kind != CT_NODE_ERROR && kind != CT_NODE_HOST)
			continue;
		memset(first, 0xff, sizeof(first));
		for (uint32_t e = n->first; e < n->first + n->n; e++) {
			uint32_t to = w->edges[e].to;

			if (w->nodes[to].n || w->nodes[to].code == CT_HANG_CODES ||
			    (kind == CT_NODE_HOST && !(w->edges[e].flags & CT_EDGE_ANY)))
				continue;
			if (first[w->nodes[to].code] == CT_HANG_NONE)
				first[w->nodes[to].code] = to;
			else
				ct_group_join(group, c->of[first[w->nodes[to].code]], c->of[to]);
		}
	}
}

static int join_by_key(struct ct_table *seen, uint64_t key, uint32_t component, uint32_t *group)
{
	uintptr_t known = (uintptr_t)ct_table_get(seen, key);

	if (known) {
		ct_group_join(group, (uint32_t)known - 1, component);
		return CT_OK;
	}
	return ct_table_put(seen, key, (void *)((uintptr_t)component + 1));
}

/* Ops that do not go on by themselves: those of one communicator that have a rank in common, or of
 * the same ranks. */
static int join_instances(const struct ct_waiting *w, const struct ct_components *c,
			  uint32_t *group, const uint8_t *inverted)
{
	struct ct_table seen = { 0 };
	int rc = CT_OK;

	for (uint32_t f = 0; f < w->n_found && rc == CT_OK; f++) {
		uint32_t node = w->found[f], of = ct_wait_of(w, node);
		const struct ct_hang_instance *i;
		uint64_t all, code;

		if (ct_wait_kind(w, node) != CT_NODE_INSTANCE || w->nodes[node].n)
			continue;
		i = &w->ix->instances[of];
		code = inverted[c->of[node]] ? CT_HANG_IS_ORDER_DEADLOCK : w->nodes[node].code;
		all = ct_mix(code + 1);
		for (uint32_t k = i->first; k < i->first + i->n && rc == CT_OK; k++) {
			uint64_t rank = w->ix->c->ops[w->ix->parts[k]].rank;

			all = ct_mix(all ^ (rank + 1));
			rc = join_by_key(&seen, ct_mix(ct_mix(rank << 32 | i->comm) ^ (code + 1)),
					 c->of[node], group);
		}
		rc = rc ?: join_by_key(&seen, all, c->of[node], group);
	}
	ct_table_fini(&seen);
	return rc;
}

/* Joins leaves without a known cause. */
static void join_unknown(const struct ct_waiting *w, const struct ct_components *c, uint32_t *group,
			 const uint8_t *inverted)
{
	uint32_t first = CT_HANG_NONE;

	for (uint32_t f = 0; f < w->n_found; f++) {
		uint32_t node = w->found[f];

		if (w->nodes[node].n || w->nodes[node].code != CT_HANG_IS_UNKNOWN ||
		    inverted[c->of[node]])
			continue;
		if (first == CT_HANG_NONE)
			first = c->of[node];
		else
			ct_group_join(group, first, c->of[node]);
	}
}

/* ---- what a root is ---- */

static int is_long(const struct ct_waiting *w, uint32_t node)
{
	uint32_t of = ct_wait_of(w, node);
	const struct ct_hang_instance *i;

	switch (ct_wait_kind(w, node)) {
	case CT_NODE_KERNEL:
		return w->ix->kernels[of].stalled == 1;
	case CT_NODE_INSTANCE:
		i = &w->ix->instances[of];
		for (uint32_t k = i->first; k < i->first + i->n; k++)
			if (w->ix->kernels[w->ix->kernel_of[w->ix->parts[k]]].stalled == 1)
				return 1;
		return 0;
	case CT_NODE_JOINT_CALL:
		for (uint32_t k = w->joint_calls[of].call; k != CT_HANG_NONE; k = w->next_joint[k])
			if (w->ix->c->calls[k].stalled == 1)
				return 1;
		return 0;
	default:
		return w->nodes[node].start == 1;
	}
}

static int is_unseen(const struct ct_waiting *w, uint32_t node)
{
	uint32_t of = ct_wait_of(w, node);
	const struct ct_hang_instance *i;

	if (ct_wait_kind(w, node) == CT_NODE_KERNEL)
		return w->ix->kernels[of].progress == CT_HANG_MAY_RUN;
	if (ct_wait_kind(w, node) != CT_NODE_INSTANCE)
		return 0;
	i = &w->ix->instances[of];
	for (uint32_t k = i->first; k < i->first + i->n; k++)
		if (w->ix->kernels[w->ix->kernel_of[w->ix->parts[k]]].progress == CT_HANG_MAY_RUN)
			return 1;
	return 0;
}

static int keep_names(const struct ct_waiting *w, struct names *names, struct ct_root *root)
{
	uint32_t n = 0;

	if (names->n)
		qsort(names->ranks, names->n, sizeof(*names->ranks), ct_by_u32);
	for (uint32_t k = 0; k < names->n; k++)
		if (!k || names->ranks[k] != names->ranks[k - 1])
			names->ranks[n++] = names->ranks[k];
	root->ranks = ct_arena_calloc(w->ix->arena, (size_t)n + 1, sizeof(*root->ranks));
	if (!root->ranks)
		return CT_NOMEM;
	if (n)
		memcpy(root->ranks, names->ranks, n * sizeof(*names->ranks));
	root->n_ranks = n;
	return CT_OK;
}

/* Equally many ranks made either call, and a rank that would decide left no trace: the root is that
 * rank's missing trace. */
static int name_undecided(const struct ct_waiting *w, struct ct_root *root, struct names *names)
{
	uint32_t node = root->nodes[0], comm;
	const struct ct_hang_mismatch *m;
	int rc = CT_OK;

	if (ct_wait_kind(w, node) != CT_NODE_MISMATCH)
		return CT_OK;
	comm = ct_wait_of(w, node);
	m = w->mismatches[comm];
	root->tie = m->tie != 0;
	for (uint32_t k = w->ix->member_first[comm];
	     m->tie && k < w->ix->member_first[comm + 1] && rc == CT_OK; k++) {
		uint32_t rank = w->ix->members[k].rank;

		if (rank == CT_HANG_NONE || w->ix->c->ranks[rank].process != CT_PROCESS_NO_TRACE)
			continue;
		if (root->code != CT_HANG_IS_NO_TRACE)
			names->n = 0;
		root->code = CT_HANG_IS_NO_TRACE;
		rc = name_rank(names, rank);
	}
	return rc;
}

/* Operations that may be slow rather than stuck: no rank has waited in them for long. */
static void see_ages(const struct ct_waiting *w, struct ct_root *root)
{
	int aged = 0, is_any_long = 0;

	for (uint32_t k = 0; k < root->n_nodes; k++) {
		enum ct_wait_kind kind = ct_wait_kind(w, root->nodes[k]);

		root->unseen |= is_unseen(w, root->nodes[k]);
		if (kind != CT_NODE_KERNEL && kind != CT_NODE_INSTANCE &&
		    kind != CT_NODE_JOINT_CALL)
			continue;
		aged = 1;
		is_any_long |= is_long(w, root->nodes[k]);
	}
	root->fresh = aged && !is_any_long;
}

static void see_circle(const struct ct_waiting *w, const struct ct_components *c,
		       struct ct_root *root)
{
	root->circle = 1;
	for (uint32_t k = 0; k < root->n_nodes; k++) {
		const struct ct_wait_node *n = &w->nodes[root->nodes[k]];

		root->asks |= (uint8_t)is_asking(w, root->nodes[k]);
		for (uint32_t e = n->first; e < n->first + n->n; e++)
			if (c->of[w->edges[e].to] == c->of[root->nodes[k]])
				root->soft |= (w->edges[e].flags & CT_EDGE_SOFT) &&
					      !(w->edges[e].flags & CT_EDGE_FUSED);
	}
}

static int has_joint_call(const struct ct_waiting *w, const struct ct_root *root)
{
	for (uint32_t k = 0; k < root->n_nodes; k++)
		if (ct_wait_kind(w, root->nodes[k]) == CT_NODE_JOINT_CALL)
			return 1;
	return 0;
}

static int make(const struct ct_waiting *w, const struct ct_components *c, struct ct_root *root,
		struct names *names)
{
	uint32_t component = c->of[root->nodes[0]];
	uint32_t size = c->first[component + 1] - c->first[component];
	int circle = size > 1 || w->nodes[root->nodes[0]].n, rc = CT_OK;

	names->n = 0;
	root->first = CT_HANG_NONE;
	if (circle) {
		root->code = ct_root_circle_code(w, c, component, &root->first);
		see_circle(w, c, root);
		if (root->asks && root->code != CT_HANG_IS_ASYNC_ERROR) {
			root->code = CT_HANG_IS_UNKNOWN;
			root->first = CT_HANG_NONE;
		}
	} else {
		root->code = root->inverted ? CT_HANG_IS_ORDER_DEADLOCK
					    : (enum ct_hang_code)w->nodes[root->nodes[0]].code;
	}
	see_ages(w, root);
	if (root->first != CT_HANG_NONE) {
		rc = name_ends(w, root->first, names);
		root->tie = rc == 1 && root->code == CT_HANG_IS_MISMATCH_OP;
		rc = rc == 1 ? CT_OK : rc;
	}
	for (uint32_t k = 0; k < root->n_nodes && rc == CT_OK && root->first == CT_HANG_NONE; k++)
		rc = circle ? name_in_circle(w, root, root->nodes[k], names)
			    : name_of(w, root->nodes[k], names);
	if (rc == CT_OK && !circle)
		rc = name_undecided(w, root, names);
	if (root->fresh && root->code != CT_HANG_IS_NO_TRACE)
		root->code = CT_HANG_IS_UNKNOWN;
	rc = rc ?: keep_names(w, names, root);
	/* Where starts are unknown, a circle of many ranks along probable edges may have been
	 * closed by one rank that differs. */
	if (circle && root->soft && root->unseen && root->n_ranks > CT_LEAST_PEERS &&
	    root->code == CT_HANG_IS_HOST_ORDER_DEADLOCK && !has_joint_call(w, root))
		root->code = CT_HANG_IS_UNKNOWN;
	return rc;
}

/* Nodes of all components of a group side by side, groups one after the other. */
static int gather(const struct ct_waiting *w, const struct ct_components *c, uint32_t *group,
		  const uint8_t *inverted, struct ct_roots *roots)
{
	struct ct_arena *a = w->ix->arena;
	uint32_t *root_of = ct_arena_calloc(a, (size_t)c->n + 1, sizeof(*root_of)), at = 0;
	uint32_t *nodes;

	if (!root_of)
		return CT_NOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->is_sink[i] && ct_group_of(group, i) == i)
			root_of[i] = roots->n++;
	roots->all = ct_arena_calloc(a, (size_t)roots->n + 1, sizeof(*roots->all));
	nodes = ct_arena_calloc(a, (size_t)w->n_found + 1, sizeof(*nodes));
	if (!roots->all || !nodes)
		return CT_NOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->is_sink[i])
			roots->all[root_of[ct_group_of(group, i)]].n_nodes += c->first[i + 1] -
									      c->first[i];
	for (uint32_t r = 0; r < roots->n; r++) {
		roots->all[r].nodes = &nodes[at];
		at += roots->all[r].n_nodes;
		roots->all[r].n_nodes = 0;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		struct ct_root *root = &roots->all[root_of[ct_group_of(group, i)]];

		if (!c->is_sink[i])
			continue;
		root->inverted |= inverted[i];
		for (uint32_t k = c->first[i]; k < c->first[i + 1]; k++)
			root->nodes[root->n_nodes++] = c->nodes[k];
	}
	return CT_OK;
}

int ct_roots_find(const struct ct_waiting *w, const struct ct_components *c, struct ct_roots *roots)
{
	struct ct_arena *a = w->ix->arena;
	uint32_t *group = ct_arena_calloc(a, (size_t)c->n + 1, sizeof(*group));
	uint8_t *inverted = ct_arena_calloc(a, (size_t)c->n + 1, 1);
	struct names names = { 0 };
	int rc;

	*roots = (struct ct_roots){ 0 };
	if (!group || !inverted)
		return CT_NOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		group[i] = i;
	rc = ct_roots_inversions(w, c, group, inverted);
	rc = rc ?: join_instances(w, c, group, inverted);
	if (rc == CT_OK) {
		join_by_waiters(w, c, group);
		join_unknown(w, c, group, inverted);
		rc = gather(w, c, group, inverted, roots);
	}
	for (uint32_t r = 0; r < roots->n && rc == CT_OK; r++)
		rc = make(w, c, &roots->all[r], &names);
	free(names.ranks);
	return rc;
}

/* ---- calls of members that are not known ---- */

/* Calls of unknown ranks, and of more than one communicator only if they are known to be different.
 */
static int is_of_joint_calls(const struct ct_waiting *w, const struct ct_root *root)
{
	const struct ct_hang_case *c = w->ix->c;

	if (root->code != CT_HANG_IS_UNKNOWN || root->circle || root->fresh)
		return 0;
	for (uint32_t k = 0; k < root->n_nodes; k++) {
		uint32_t comm;

		if (ct_wait_kind(w, root->nodes[k]) != CT_NODE_JOINT_CALL)
			return 0;
		comm = w->joint_calls[ct_wait_of(w, root->nodes[k])].comm;
		if (comm == CT_HANG_NONE || (!c->comms[comm].hash && root->n_nodes > 1))
			return 0;
		for (uint32_t j = 0; j < k && root->n_nodes > 1; j++)
			if (c->comms[w->joint_calls[ct_wait_of(w, root->nodes[j])].comm].hash ==
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
		if (!is_of_joint_calls(w, root) || root->n_ranks + root->n_victims != c->n_ranks)
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
