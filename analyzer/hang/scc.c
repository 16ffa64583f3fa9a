/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/scc.h"

#include "trace/status.h"

struct visit {
	uint32_t node, edge;
};

struct scc_search {
	const struct ct_waiting *w;
	struct ct_components *c;
	uint32_t *index, *low,
		*stack; /* by node: when it was reached, and the earliest node it reaches */
	uint32_t n_stack, next, n_nodes;
	struct visit *path;
	uint32_t n_path;
};

static void reach(struct scc_search *s, uint32_t node)
{
	s->index[node] = s->low[node] = ++s->next;
	s->stack[s->n_stack++] = node;
	s->path[s->n_path++] = (struct visit){ node, 0 };
}

/* All nodes above `node` on the stack form one component with it. */
static void close_component(struct scc_search *s, uint32_t node)
{
	struct ct_components *c = s->c;
	uint32_t member;

	c->first[c->n] = s->n_nodes;
	do {
		member = s->stack[--s->n_stack];
		c->of[member] = c->n;
		c->nodes[s->n_nodes++] = member;
	} while (member != node);
	c->n++;
	c->first[c->n] = s->n_nodes;
}

static void search_from(struct scc_search *s, uint32_t start)
{
	reach(s, start);
	while (s->n_path) {
		struct visit *v = &s->path[s->n_path - 1];
		const struct ct_wait_node *n = &s->w->nodes[v->node];

		if (v->edge < n->n) {
			uint32_t to = s->w->edges[n->first + v->edge++].to;

			if (!s->index[to])
				reach(s, to);
			else if (s->c->of[to] == CT_HANG_NONE && s->index[to] < s->low[v->node])
				s->low[v->node] = s->index[to];
			continue;
		}
		if (s->low[v->node] == s->index[v->node])
			close_component(s, v->node);
		s->n_path--;
		if (s->n_path) {
			uint32_t parent = s->path[s->n_path - 1].node;

			if (s->low[v->node] < s->low[parent])
				s->low[parent] = s->low[v->node];
		}
	}
}

static void find_sinks(const struct ct_waiting *w, struct ct_components *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->is_sink[i] = 1;
	for (uint32_t i = 0; i < w->n_found; i++) {
		const struct ct_wait_node *n = &w->nodes[w->found[i]];

		for (uint32_t e = n->first; e < n->first + n->n; e++)
			if (c->of[w->edges[e].to] != c->of[w->found[i]])
				c->is_sink[c->of[w->found[i]]] = 0;
	}
}

int ct_components_find(const struct ct_waiting *w, struct ct_components *c)
{
	struct ct_arena *a = w->ix->arena;
	size_t all = (size_t)w->base[CT_NODE_KINDS] + 1, found = (size_t)w->n_found + 1;
	struct scc_search s = { .w = w, .c = c };

	*c = (struct ct_components){ 0 };
	c->of = ct_arena_calloc(a, all, sizeof(*c->of));
	c->first = ct_arena_calloc(a, found + 1, sizeof(*c->first));
	c->nodes = ct_arena_calloc(a, found, sizeof(*c->nodes));
	c->is_sink = ct_arena_calloc(a, found, 1);
	s.index = ct_arena_calloc(a, all, sizeof(*s.index));
	s.low = ct_arena_calloc(a, all, sizeof(*s.low));
	s.stack = ct_arena_calloc(a, found, sizeof(*s.stack));
	s.path = ct_arena_calloc(a, found, sizeof(*s.path));
	if (!c->of || !c->first || !c->nodes || !c->is_sink || !s.index || !s.low || !s.stack ||
	    !s.path)
		return CT_NOMEM;
	for (size_t i = 0; i < all; i++)
		c->of[i] = CT_HANG_NONE;
	for (uint32_t i = 0; i < w->n_found; i++)
		if (!s.index[w->found[i]])
			search_from(&s, w->found[i]);
	find_sinks(w, c);
	return CT_OK;
}
