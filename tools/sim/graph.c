/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/graph.h"

#include <stdlib.h>
#include <string.h>

#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/handle.h"

static struct sim_body *dropped;

struct sim_body *sim_body_new(const struct sim_kernel *kernel, bool starves)
{
	struct sim_body *body = sim_alloc(sizeof(*body));

	body->kernel = *kernel;
	body->starves = starves;
	body->refs = 1;
	return body;
}

void sim_body_drop(struct sim_body *body)
{
	if (--body->refs)
		return;
	body->next = dropped;
	dropped = body;
}

CUresult sim_graph_leave(CUresult result)
{
	struct sim_body *list = dropped, *next;

	dropped = NULL;
	result = sim_leave(result);
	for (struct sim_body *body = list; body; body = next) {
		next = body->next;
		if (body->kernel.done)
			body->kernel.done(body->kernel.arg);
		free(body);
	}
	return result;
}

struct sim_graph *sim_graph_new(void)
{
	return sim_alloc(sizeof(struct sim_graph));
}

void sim_graph_free(struct sim_graph *graph)
{
	for (size_t i = 0; i < graph->n; i++) {
		struct sim_node *node = &graph->nodes[i];

		sim_handle_free(node->handle);
		if (node->body)
			sim_body_drop(node->body);
		if (node->child)
			sim_graph_free(node->child);
		free(node->after);
	}
	free(graph->nodes);
	free(graph);
}

CUresult sim_graph_get(CUgraph handle, struct sim_graph **graph)
{
	*graph = sim_handle_get(SIM_GRAPH, handle);
	return *graph ? CUDA_SUCCESS
		      : sim_misuse(CUDA_ERROR_INVALID_VALUE, "not a graph, or destroyed");
}

size_t sim_graph_add(struct sim_graph *graph, const struct sim_node *node, const size_t *after,
		     size_t n_after)
{
	struct sim_node *to;

	if (graph->n == graph->room) {
		graph->room = graph->room ? 2 * graph->room : 16;
		graph->nodes = realloc(graph->nodes, graph->room * sizeof(*graph->nodes));
		if (!graph->nodes)
			abort();
	}
	to = &graph->nodes[graph->n];
	*to = *node;
	/* the number is all that a node's handle stands for, and a node may move */
	to->handle = sim_handle_new(SIM_GRAPH_NODE, graph);
	to->after = sim_alloc((n_after + 1) * sizeof(*after));
	to->n_after = n_after;
	if (n_after)
		memcpy(to->after, after, n_after * sizeof(*after));
	return graph->n++;
}

static void add_copy(struct sim_graph *to, const struct sim_node *node, const size_t *after,
		     size_t n_after)
{
	struct sim_node copy = *node;

	if (copy.body)
		copy.body->refs++;
	if (copy.child)
		copy.child = sim_graph_copy(copy.child);
	sim_graph_add(to, &copy, after, n_after);
}

struct sim_graph *sim_graph_copy(const struct sim_graph *graph)
{
	struct sim_graph *copy = sim_graph_new();

	for (size_t i = 0; i < graph->n; i++)
		add_copy(copy, &graph->nodes[i], graph->nodes[i].after, graph->nodes[i].n_after);
	return copy;
}

/* A set of nodes. */
struct node_set {
	size_t *nodes, n;
};

static void add_to_set(struct node_set *set, size_t node)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->nodes[i] == node)
			return;
	set->nodes = realloc(set->nodes, (set->n + 1) * sizeof(*set->nodes));
	if (!set->nodes)
		abort();
	set->nodes[set->n++] = node;
}

static void join(struct node_set *set, const struct node_set *other)
{
	for (size_t i = 0; i < other->n; i++)
		add_to_set(set, other->nodes[i]);
}

/* Appends the graph's nodes behind `begin`; its ends, which are `begin` if it has none, come into
 * `ends`. */
static void flatten(struct sim_graph *flat, const struct sim_graph *graph,
		    const struct node_set *begin, struct node_set *ends)
{
	/* what stands for each node: itself, or the ends of a child */
	struct node_set *as = sim_alloc((graph->n + 1) * sizeof(*as));
	bool *is_inner = sim_alloc(graph->n + 1);

	for (size_t i = 0; i < graph->n; i++) {
		const struct sim_node *node = &graph->nodes[i];
		struct node_set after = { NULL, 0 };

		for (size_t k = 0; k < node->n_after; k++) {
			join(&after, &as[node->after[k]]);
			is_inner[node->after[k]] = true;
		}
		if (!node->n_after)
			join(&after, begin);
		if (node->kind == SIM_NODE_CHILD) {
			flatten(flat, node->child, &after, &as[i]);
		} else {
			add_to_set(&as[i], flat->n);
			add_copy(flat, node, after.nodes, after.n);
		}
		free(after.nodes);
	}
	for (size_t i = 0; i < graph->n; i++) {
		if (!is_inner[i])
			join(ends, &as[i]);
	}
	if (!graph->n)
		join(ends, begin);
	for (size_t i = 0; i < graph->n; i++)
		free(as[i].nodes);
	free(as);
	free(is_inner);
}

struct sim_graph *sim_graph_flat(const struct sim_graph *graph)
{
	struct sim_graph *flat = sim_graph_new();
	struct node_set begin = { NULL, 0 }, ends = { NULL, 0 };

	flatten(flat, graph, &begin, &ends);
	free(ends.nodes);
	return flat;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	struct sim_graph *g;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	if (!graph || flags)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, or NULL"));
	g = sim_graph_new();
	*graph = g->handle = sim_handle_new(SIM_GRAPH, g);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph graph)
{
	struct sim_graph *g;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = sim_graph_get(graph, &g);
	if (result)
		return sim_leave(result);
	sim_handle_free(graph);
	sim_graph_free(g);
	return sim_graph_leave(CUDA_SUCCESS);
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
	struct sim_graph *g, *copy;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = sim_graph_get(graph, &g);
	if (!result && !clone)
		result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	if (result)
		return sim_leave(result);
	copy = sim_graph_copy(g);
	*clone = copy->handle = sim_handle_new(SIM_GRAPH, copy);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	struct sim_graph *g;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = sim_graph_get(graph, &g);
	if (!result && !n)
		result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	if (result)
		return sim_leave(result);
	for (size_t i = 0; nodes && i < *n; i++)
		nodes[i] = i < g->n ? g->nodes[i].handle : NULL;
	if (!nodes || *n > g->n)
		*n = g->n;
	return sim_leave(CUDA_SUCCESS);
}

static bool find_node(const struct sim_graph *g, CUgraphNode handle, size_t *node)
{
	for (*node = 0; *node < g->n; ++*node)
		if (g->nodes[*node].handle == handle)
			return true;
	return false;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				  size_t n_after, CUgraph child)
{
	struct sim_graph *g, *c;
	size_t *indices;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = sim_graph_get(graph, &g);
	if (!result)
		result = sim_graph_get(child, &c);
	if (!result && (!node || g == c || (n_after && !after)))
		result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL, or a graph inside itself");
	if (result)
		return sim_leave(result);
	indices = sim_alloc((n_after + 1) * sizeof(*indices));
	for (size_t i = 0; i < n_after && !result; i++)
		if (!find_node(g, after[i], &indices[i]))
			result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "a node of another graph");
	if (!result) {
		const struct sim_node it = { .kind = SIM_NODE_CHILD, .child = sim_graph_copy(c) };
		size_t at = sim_graph_add(g, &it, indices, n_after);

		*node = g->nodes[at].handle;
	}
	free(indices);
	return sim_leave(result);
}
