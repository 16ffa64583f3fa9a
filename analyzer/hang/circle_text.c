/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/verdict_text.h"

/* size: stations of a circle that are spelled out. */
#define CT_STATIONS 6u

/* The shortest path from `start` back to it within its component; `from` has the predecessor of
 * each node. 0: out of memory. */
static int find_way(const struct ct_verdict_text *s, uint32_t start, uint32_t *way, uint32_t *n)
{
	const struct ct_waiting *w = s->w;
	struct ct_arena *a = w->ix->arena;
	uint32_t done = 0, reached = 0, at;
	uint32_t *queue = ct_arena_calloc(a, (size_t)s->root->n_nodes + 1, sizeof(*queue));
	uint32_t *from = ct_arena_calloc(a, (size_t)w->base[CT_NODE_KINDS] + 1, sizeof(*from));

	if (!queue || !from)
		return 0;
	queue[reached++] = start;
	while (done < reached && !from[start]) {
		uint32_t node = queue[done++];
		const struct ct_wait_node *k = &w->nodes[node];

		for (uint32_t e = k->first; e < k->first + k->n; e++) {
			uint32_t to = w->edges[e].to;

			if (s->c->of[to] != s->c->of[start] || from[to])
				continue;
			from[to] = node + 1;
			queue[reached++] = to;
		}
	}
	/* The path is known from its end. */
	for (at = start, *n = 0; from[start] && (!*n || at != start); ++*n)
		at = from[at] - 1;
	for (uint32_t k = *n; k-- > 0;)
		way[k] = at = from[at] - 1;
	return 1;
}

/* The text of a node for a rank: its own end of a message. */
static const char *own_text(const struct ct_waiting *w, uint32_t node, uint32_t rank)
{
	uint32_t op = CT_HANG_NONE;

	if (ct_wait_kind(w, node) == CT_NODE_INSTANCE)
		op = ct_hang_part(w->ix, &w->ix->instances[ct_wait_of(w, node)], rank, 0);
	return op == CT_HANG_NONE ? ct_hang_node_text(w, node, CT_NAME_FULL)
				  : ct_hang_op_text(w->ix, op, CT_NAME_FULL);
}

static const char *station_text(const struct ct_verdict_text *s, uint32_t rank, const char *what,
				uint32_t next)
{
	const struct ct_word words[] = {
		{ "{a}", ct_hang_rank_indices_text(s->w->ix, &rank, 1) },
		{ "{op}", what },
		{ "{b}", ct_hang_rank_indices_text(s->w->ix, &next, 1) },
	};

	return ct_template_fill(s->w->ix->arena, ct_hang_text_of(CT_HANG_TEXT_STATION), words,
				sizeof(words) / sizeof(words[0]));
}

const char *ct_hang_circle_text(const struct ct_verdict_text *s)
{
	const struct ct_waiting *w = s->w;
	const struct ct_hang_index *ix = w->ix;
	uint32_t start = CT_HANG_NONE, n = 0, stations = 0, last = CT_HANG_NONE;
	uint32_t *way = ct_arena_calloc(ix->arena, (size_t)s->root->n_nodes + 1, sizeof(*way));
	const char *text = "";

	if (!way)
		return "";
	/* Starts at the lowest rank, so that the text of a circle is unique. */
	for (uint32_t k = 0; k < s->root->n_nodes; k++) {
		uint32_t rank = ct_wait_rank(w, s->root->nodes[k]);

		if (rank != CT_HANG_NONE &&
		    (start == CT_HANG_NONE || rank < ct_wait_rank(w, start) ||
		     (rank == ct_wait_rank(w, start) && s->root->nodes[k] < start)))
			start = s->root->nodes[k];
	}
	if (start == CT_HANG_NONE || !find_way(s, start, way, &n))
		return "";
	/* Per rank: the instance or joint call that it waits in, for the next rank. */
	for (uint32_t k = 0; k < n && stations < CT_STATIONS; k++) {
		uint32_t rank = ct_wait_rank(w, way[k]), next = CT_HANG_NONE, in = CT_HANG_NONE;

		if (rank == CT_HANG_NONE)
			continue;
		for (uint32_t j = k + 1; j <= n && next == CT_HANG_NONE; j++) {
			uint32_t node = way[j % n];
			enum ct_wait_kind kind = ct_wait_kind(w, node);

			if (kind == CT_NODE_INSTANCE || kind == CT_NODE_JOINT_CALL ||
			    (kind == CT_NODE_KERNEL && in == CT_HANG_NONE))
				in = node;
			/* the path continues from the call of the rank */
			if (in == CT_HANG_NONE && ct_wait_rank(w, node) != rank &&
			    ct_wait_kind(w, way[k]) == CT_NODE_HOST)
				in = way[k];
			if (ct_wait_rank(w, node) != CT_HANG_NONE && ct_wait_rank(w, node) != rank)
				next = ct_wait_rank(w, node);
		}
		if (next == CT_HANG_NONE || rank == last || in == CT_HANG_NONE ||
		    ct_wait_kind(w, in) == CT_NODE_KERNEL)
			continue;
		/* Only the last node before the next rank has a text. */
		if (ct_wait_rank(w, way[(k + 1) % n]) == rank)
			continue;
		text = ct_arena_printf(ix->arena, "%s%s%s", text, stations++ ? ", " : "",
				       station_text(s, rank, own_text(w, in, rank), next));
		last = rank;
	}
	return text;
}
