/* SPDX-License-Identifier: Apache-2.0 */
/* graph_exec.c — executable graphs: each launch puts the nodes on the stream that it is launched on
 * and, where they do not depend on one another, on streams of its own. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/event.h"
#include "tools/sim/graph.h"
#include "tools/sim/graph_structs.h"
#include "tools/sim/handle.h"
#include "tools/sim/stream.h"

#define FLAGS 15ull /* CUDA's, without a meaning here */

struct exec {
	struct sim_graph *graph; /* flat */
	struct sim_stream **lanes;
	size_t n_lanes;
	struct sim_mark *last; /* the end of the last launch: the next one comes after it */
};

/* One launch: lane 0 is the stream that it is on. */
struct graph_launch {
	struct exec *exec;
	struct sim_stream *stream;
	struct sim_mark *begin;
	size_t *lane_of, *last_on, n_lanes; /* by node, by lane: the node that was put there last */
	struct sim_mark **ends;		    /* by node */
};

#define NO_NODE SIZE_MAX

static CUresult get(CUgraphExec handle, struct exec **exec)
{
	*exec = sim_handle_get(SIM_GRAPH_EXEC, handle);
	return *exec ? CUDA_SUCCESS
		     : sim_misuse(CUDA_ERROR_INVALID_VALUE,
				  "not an executable graph, or destroyed");
}

static struct sim_stream *lane(const struct graph_launch *l, size_t i)
{
	return i ? l->exec->lanes[i - 1] : l->stream;
}

/* One of the context's that this launch does not use yet. */
static CUresult open_lane(struct graph_launch *l, struct sim_context *context, size_t *number)
{
	struct exec *e = l->exec;
	size_t i = l->n_lanes;

	while (i - 1 < e->n_lanes && e->lanes[i - 1]->context != context)
		i++;
	if (i - 1 == e->n_lanes) {
		e->lanes = realloc(e->lanes, (e->n_lanes + 1) * sizeof(struct sim_stream *));
		if (!e->lanes)
			abort();
		e->lanes[e->n_lanes++] = sim_stream_new(context, CU_STREAM_NON_BLOCKING, 0);
	}
	if (i != l->n_lanes) {
		struct sim_stream *other = e->lanes[l->n_lanes - 1];

		e->lanes[l->n_lanes - 1] = e->lanes[i - 1];
		e->lanes[i - 1] = other;
	}
	*number = l->n_lanes++;
	l->last_on[*number] = NO_NODE;
	return sim_stream_wait(lane(l, *number), l->begin);
}

/* Right behind one that it depends on, if nothing else is there yet. */
static CUresult choose_lane(struct graph_launch *l, const struct sim_node *node, size_t *number)
{
	for (size_t k = 0; k < node->n_after; k++) {
		*number = l->lane_of[node->after[k]];
		if (l->last_on[*number] == node->after[k] &&
		    lane(l, *number)->context == node->context)
			return CUDA_SUCCESS;
	}
	*number = 0;
	if (!node->n_after && l->last_on[0] == NO_NODE && l->stream->context == node->context)
		return CUDA_SUCCESS;
	return open_lane(l, node->context, number);
}

static uint64_t run_body(void *arg, uint64_t start_ns, CUresult *error)
{
	struct sim_body *body = arg;

	return body->kernel.run(body->kernel.arg, start_ns, error);
}

/* The last one of a graph that is gone says so; that may call CUDA. */
static void body_done(void *arg)
{
	sim_inside_work(false);
	sim_lock();
	sim_body_drop(arg);
	sim_graph_leave(CUDA_SUCCESS);
	sim_inside_work(true);
}

static CUresult put(struct graph_launch *l, const struct sim_node *node, struct sim_stream *s)
{
	struct sim_event *event;
	CUresult result = CUDA_SUCCESS;

	switch (node->kind) {
	case SIM_NODE_RUN:
		node->body->refs++;
		result = sim_stream_run(s, &(struct sim_kernel){ run_body, body_done, node->body },
					node->body->starves);
		if (result)
			node->body->refs--;
		break;
	case SIM_NODE_BUSY:
		result = sim_stream_busy(s, simTiming() ? node->ns : 0);
		break;
	case SIM_NODE_RECORD:
		result = sim_event_get(node->event, &event);
		if (!result)
			sim_event_set(event, sim_stream_tail(s));
		break;
	case SIM_NODE_WAIT:
		result = sim_event_get(node->event, &event);
		if (!result && event->mark)
			result = sim_stream_wait(s, event->mark);
		break;
	case SIM_NODE_CHILD: /* flat graphs have none */
		break;
	}
	(void)l;
	return result;
}

static CUresult launch_node(struct graph_launch *l, size_t i)
{
	const struct sim_node *node = &l->exec->graph->nodes[i];
	size_t number;
	CUresult result = choose_lane(l, node, &number);

	for (size_t k = 0; k < node->n_after && !result; k++)
		if (l->lane_of[node->after[k]] != number)
			result = sim_stream_wait(lane(l, number), l->ends[node->after[k]]);
	if (!result)
		result = put(l, node, lane(l, number));
	if (result)
		return result;
	l->lane_of[i] = number;
	l->last_on[number] = i;
	l->ends[i] = sim_stream_tail(lane(l, number));
	return CUDA_SUCCESS;
}

static CUresult launch(struct exec *e, struct sim_stream *s)
{
	const size_t n = e->graph->n;
	struct graph_launch l = { .exec = e, .stream = s, .n_lanes = 1 };
	CUresult result = e->last ? sim_stream_wait(s, e->last) : CUDA_SUCCESS;

	l.begin = result ? NULL : sim_stream_mark(s);
	if (!l.begin)
		return result ? result : CUDA_ERROR_OUT_OF_MEMORY;
	l.lane_of = sim_alloc((n + 1) * sizeof(*l.lane_of));
	l.last_on = sim_alloc((n + 2) * sizeof(*l.last_on));
	l.ends = sim_alloc((n + 1) * sizeof(struct sim_mark *));
	l.last_on[0] = NO_NODE;
	for (size_t i = 0; i < n && !result; i++)
		result = launch_node(&l, i);
	for (size_t i = 1; i < l.n_lanes && !result; i++)
		if (l.last_on[i] != NO_NODE)
			result = sim_stream_wait(s, l.ends[l.last_on[i]]);
	sim_mark_drop(e->last);
	e->last = sim_stream_tail(s);
	sim_mark_drop(l.begin);
	for (size_t i = 0; i < n; i++)
		sim_mark_drop(l.ends[i]);
	free(l.lane_of);
	free(l.last_on);
	free(l.ends);
	return result;
}

/* Those that a capture put into the graph, not those in it that wait outside. */
static CUresult instantiate(const char *call, CUgraphExec *exec, CUgraph graph,
			    unsigned long long flags)
{
	struct sim_graph *g;
	struct exec *e;
	CUresult result = sim_enter(call);

	if (result)
		return result;
	result = sim_graph_get(graph, &g);
	if (!result && (!exec || flags & ~FLAGS))
		result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags, or NULL");
	if (result)
		return sim_leave(result);
	e = sim_alloc(sizeof(*e));
	e->graph = sim_graph_flat(g);
	*exec = sim_handle_new(SIM_GRAPH_EXEC, e);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	return instantiate(__func__, exec, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
				      struct CUDA_GRAPH_INSTANTIATE_PARAMS_st *params)
{
	CUresult result = instantiate(__func__, exec, graph, params ? params->flags : FLAGS + 1);

	if (!result)
		params->result_out = 0;
	return result;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	struct exec *e;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = get(exec, &e);
	if (result)
		return sim_leave(result);
	sim_handle_free(exec);
	for (size_t i = 0; i < e->n_lanes; i++)
		sim_stream_retire(e->lanes[i]);
	sim_graph_free(e->graph);
	sim_mark_drop(e->last);
	free(e->lanes);
	free(e);
	return sim_graph_leave(CUDA_SUCCESS);
}

static bool same_order(const struct sim_graph *a, const struct sim_graph *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; i < a->n && same; i++) {
		const struct sim_node *x = &a->nodes[i], *y = &b->nodes[i];

		same = x->kind == y->kind && x->context == y->context && x->n_after == y->n_after &&
		       !memcmp(x->after, y->after, x->n_after * sizeof(*x->after));
	}
	return same;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
			      struct CUgraphExecUpdateResultInfo_st *info)
{
	struct sim_graph *g, *flat;
	struct exec *e;
	CUresult result = sim_enter(__func__);

	if (result)
		return result;
	result = get(exec, &e);
	if (!result)
		result = sim_graph_get(graph, &g);
	if (!result && !info)
		result = sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL");
	if (result)
		return sim_leave(result);
	*info = (struct CUgraphExecUpdateResultInfo_st){ 0 };
	flat = sim_graph_flat(g);
	if (same_order(e->graph, flat)) {
		sim_graph_free(e->graph);
		e->graph = flat;
		return sim_graph_leave(CUDA_SUCCESS);
	}
	sim_graph_free(flat);
	info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	return sim_graph_leave(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

/* Enter with both. */
static CUresult enter(const char *call, CUgraphExec handle, CUstream stream, struct exec **exec,
		      struct sim_stream **s)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(call, &c);

	if (result)
		return result;
	result = sim_stream_get(stream, c, s);
	if (!result)
		result = get(handle, exec);
	return result ? sim_leave(result) : CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	struct exec *e;
	struct sim_stream *s;
	CUresult result = enter(__func__, exec, stream, &e, &s);

	return result ? result : sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	struct exec *e;
	struct sim_stream *s;
	struct sim_capture *capture;
	CUresult result = enter(__func__, exec, stream, &e, &s);

	if (result)
		return result;
	result = sim_capture_of(s, &capture);
	if (!result)
		result = capture ? sim_capture_child(s, e->graph) : launch(e, s);
	if (!result && !capture)
		sim_stream_pushed(s);
	return sim_leave(result);
}
