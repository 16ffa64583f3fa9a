/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that leads to a root: the graph walked backwards. */
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/hang/roots.h"
#include "trace/status.h"

struct back {
	const struct ct_waiting *w;
	uint32_t *first; /* by node, n + 1: edges that lead to it */
	uint32_t *from;
	uint32_t *flags;
	uint32_t *seen, *seen_hard; /* by node: 1 + the root that it was last reached from */
	uint32_t *rank_seen;
	uint32_t *queue;
	uint8_t *lacks; /* by node: leads to a rank without a trace */
};

static int turn_round(struct back *b)
{
	const struct ct_waiting *w = b->w;
	struct ct_arena *a = w->ix->arena;
	size_t all = (size_t)w->base[CT_NODE_KINDS] + 2;
	uint32_t *at;

	b->first = ct_arena_calloc(a, all + 1, sizeof(*b->first));
	b->from = ct_arena_calloc(a, (size_t)w->n_edges + 1, sizeof(*b->from));
	b->flags = ct_arena_calloc(a, (size_t)w->n_edges + 1, sizeof(*b->flags));
	b->seen = ct_arena_calloc(a, all, sizeof(*b->seen));
	b->seen_hard = ct_arena_calloc(a, all, sizeof(*b->seen_hard));
	b->rank_seen = ct_arena_calloc(a, (size_t)w->ix->c->n_ranks + 1, sizeof(*b->rank_seen));
	b->queue = ct_arena_calloc(a, (size_t)w->n_found + 1, sizeof(*b->queue));
	b->lacks = ct_arena_calloc(a, all, 1);
	if (!b->first || !b->from || !b->flags || !b->seen || !b->seen_hard || !b->rank_seen ||
	    !b->queue || !b->lacks)
		return CT_NOMEM;
	at = b->first + 1;
	for (uint32_t i = 0; i < w->n_found; i++) {
		const struct ct_wait_node *n = &w->nodes[w->found[i]];

		for (uint32_t e = n->first; e < n->first + n->n; e++)
			at[w->edges[e].to + 1]++;
	}
	for (size_t i = 0; i + 2 < all; i++)
		at[i + 1] += at[i];
	for (uint32_t i = 0; i < w->n_found; i++) {
		const struct ct_wait_node *n = &w->nodes[w->found[i]];

		for (uint32_t e = n->first; e < n->first + n->n; e++) {
			uint32_t slot = at[w->edges[e].to]++;

			b->from[slot] = w->found[i];
			b->flags[slot] = w->edges[e].flags;
		}
	}
	return CT_OK;
}

static void mark_lacking(struct back *b)
{
	const struct ct_waiting *w = b->w;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_found; i++) {
		uint32_t node = w->found[i];

		if (w->nodes[node].n || w->nodes[node].code != CT_HANG_IS_NO_TRACE)
			continue;
		b->lacks[node] = 1;
		b->queue[n++] = node;
	}
	while (n) {
		uint32_t node = b->queue[--n];

		for (uint32_t e = b->first[node]; e < b->first[node + 1]; e++) {
			if (b->lacks[b->from[e]])
				continue;
			b->lacks[b->from[e]] = 1;
			b->queue[n++] = b->from[e];
		}
	}
}

/* Walks back from a root, not along edges with a flag in `avoid`. Returns 1 if it reached a node
 * that is stalled by itself, plus 2 if it reached one that is stalled only since a process died. */
static int walk(struct back *b, const struct ct_root *root, uint32_t *seen, uint32_t stamp,
		uint32_t avoid, uint32_t *n_reached)
{
	const struct ct_waiting *w = b->w;
	uint32_t n = 0, done = 0;
	int stalled = 0;

	for (uint32_t k = 0; k < root->n_nodes; k++) {
		seen[root->nodes[k]] = stamp;
		b->queue[n++] = root->nodes[k];
	}
	while (done < n) {
		uint32_t node = b->queue[done++];

		stalled |= w->nodes[node].start;
		for (uint32_t e = b->first[node]; e < b->first[node + 1]; e++) {
			if (seen[b->from[e]] == stamp || (b->flags[e] & avoid))
				continue;
			seen[b->from[e]] = stamp;
			b->queue[n++] = b->from[e];
		}
	}
	*n_reached = n;
	return stalled;
}

/* Ranks of what was reached, without those that the root names. */
static int keep_victims(struct back *b, struct ct_root *root, uint32_t stamp, uint32_t n_reached)
{
	const struct ct_waiting *w = b->w;
	uint32_t n = 0, *list = NULL;

	for (uint32_t k = 0; k < root->n_ranks; k++)
		b->rank_seen[root->ranks[k]] = stamp;
	/* First pass: count; second pass: keep. A kept rank is marked with the stamp. */
	for (int keep = 0; keep < 2; keep++) {
		n = 0;
		for (uint32_t k = 0; k < n_reached; k++) {
			uint32_t rank = ct_wait_rank(w, b->queue[k]);

			if (rank == CT_HANG_NONE || b->rank_seen[rank] == stamp ||
			    w->ix->c->ranks[rank].process == CT_PROCESS_NO_TRACE)
				continue;
			if (keep) {
				list[n] = rank;
				b->rank_seen[rank] = stamp;
			}
			n++;
		}
		if (!keep) {
			list = ct_arena_calloc(w->ix->arena, (size_t)n + 1, sizeof(*list));
			if (!list)
				return CT_NOMEM;
		}
	}
	qsort(list, n, sizeof(*list), ct_by_u32);
	root->victims = list;
	root->n_victims = n;
	return CT_OK;
}

/* Where its victims wait first: the instance or joint call right before it that began first. */
static void find_met(const struct back *b, struct ct_root *root)
{
	const struct ct_waiting *w = b->w;
	uint64_t first = UINT64_MAX;

	root->met = root->first == CT_HANG_NONE ? CT_HANG_NONE
						: ct_wait_id(w, CT_NODE_INSTANCE, root->first);
	if (root->met != CT_HANG_NONE)
		return;
	for (uint32_t k = 0; k < root->n_nodes; k++) {
		uint32_t node = root->nodes[k];
		enum ct_wait_kind kind = ct_wait_kind(w, node);

		if (kind == CT_NODE_INSTANCE || kind == CT_NODE_JOINT_CALL) {
			if (root->met == CT_HANG_NONE)
				root->met = node;
			continue;
		}
		for (uint32_t e = b->first[node]; e < b->first[node + 1]; e++) {
			uint32_t from = b->from[e];
			uint64_t ns = UINT64_MAX;

			if (ct_wait_kind(w, from) == CT_NODE_INSTANCE)
				ns = w->ix->instances[ct_wait_of(w, from)].begin_ns;
			else if (ct_wait_kind(w, from) != CT_NODE_JOINT_CALL)
				continue;
			if (root->met == CT_HANG_NONE || ns < first) {
				root->met = from;
				first = ns;
			}
		}
	}
}

int ct_roots_victims(const struct ct_waiting *w, struct ct_roots *roots)
{
	struct back b = { .w = w };
	uint32_t n = 0;
	int rc = turn_round(&b);

	if (rc != CT_OK)
		return rc;
	mark_lacking(&b);
	for (uint32_t r = 0; r < roots->n && rc == CT_OK; r++) {
		struct ct_root *root = &roots->all[r];
		int hard;

		hard = walk(&b, root, b.seen_hard, r + 1, CT_EDGE_SOFT, &n);
		root->by_any = !walk(&b, root, b.seen_hard, roots->n + r + 1, CT_EDGE_ANY, &n);
		root->died_first = !(walk(&b, root, b.seen, r + 1, 0, &n) & 1);
		root->hard = (hard & 1) || (root->died_first && hard);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t node = b.queue[k];

			root->lacks |= b.lacks[node];
			root->killed |= ct_wait_kind(w, node) == CT_NODE_HOST &&
					w->ix->c->ranks[ct_wait_of(w, node)].process ==
						CT_PROCESS_DEAD &&
					w->nodes[node].code != CT_HANG_IS_DEAD_RANK;
			if (ct_wait_kind(w, node) == CT_NODE_KERNEL)
				root->graph |= w->ix->kernels[ct_wait_of(w, node)].graph;
		}
		rc = keep_victims(&b, root, r + 1, n);
		find_met(&b, root);
	}
	return rc;
}
