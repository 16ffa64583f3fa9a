/* SPDX-License-Identifier: Apache-2.0 */
/* graph_capture.c — stream capture: which thread captures which stream, which calls are then
 * forbidden to which thread, and what invalidates a capture.
 *
 * As in CUDA a capture begins on one stream, spreads to others through events that were recorded in
 * it, must be joined again before it ends, and is spoilt by whatever would not mean the same when
 * the graph is launched. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/device.h"
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/event.h"
#include "tools/sim/graph.h"
#include "tools/sim/handle.h"
#include "tools/sim/stream.h"

struct sim_capture {
	struct sim_graph *graph; /* NULL: it has ended */
	struct sim_stream *origin;
	const void *thread; /* that began it */
	CUstreamCaptureMode mode;
	uint64_t id;
	bool spoilt;
	unsigned refs; /* this list, streams and events */
	struct sim_capture *next;
};

static struct sim_capture *captures; /* that have not ended */
static uint64_t last_id;
static __thread CUstreamCaptureMode thread_mode; /* its address says which thread this is */
static __thread CUgraphNode *shown;		 /* what cuStreamGetCaptureInfo gave out last */

static void drop(struct sim_capture *c)
{
	if (!--c->refs)
		free(c);
}

void sim_captured_clear(struct sim_captured *at)
{
	if (at->capture)
		drop(at->capture);
	free(at->nodes);
	*at = (struct sim_captured){ 0 };
}

static void set(struct sim_captured *at, struct sim_capture *c, const size_t *nodes, size_t n)
{
	size_t *copy = sim_alloc((n + 1) * sizeof(*copy));

	if (n)
		memcpy(copy, nodes, n * sizeof(*copy));
	c->refs++;
	sim_captured_clear(at);
	*at = (struct sim_captured){ c, copy, n };
}

static void add(struct sim_captured *at, const struct sim_captured *more)
{
	at->nodes = realloc(at->nodes, (at->n + more->n + 1) * sizeof(*at->nodes));
	if (!at->nodes)
		abort();
	for (size_t i = 0; i < more->n; i++) {
		size_t k = 0;

		while (k < at->n && at->nodes[k] != more->nodes[i])
			k++;
		if (k == at->n)
			at->nodes[at->n++] = more->nodes[i];
	}
}

static CUresult spoil(struct sim_capture *c, CUresult result, const char *why)
{
	c->spoilt = true;
	return sim_misuse(result, why);
}

/* A stream of the capture that the context's default stream is in order with. */
static bool is_blocking(const struct sim_capture *c, const struct sim_context *context)
{
	for (const struct sim_stream *s = context->streams; s; s = s->next)
		if (s->captured.capture == c && !(s->flags & CU_STREAM_NON_BLOCKING))
			return true;
	return false;
}

static bool is_implicit(const struct sim_stream *s, bool spoils)
{
	bool found = false;

	for (struct sim_capture *c = captures; c && s == s->context->legacy; c = c->next) {
		if (!is_blocking(c, s->context))
			continue;
		found = true;
		c->spoilt |= spoils;
	}
	return found;
}

CUresult sim_capture_of(struct sim_stream *s, struct sim_capture **capture)
{
	*capture = s->captured.capture;
	if (is_implicit(s, true))
		return sim_misuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
				  "the default stream while another is captured");
	if (*capture && (*capture)->spoilt)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	return CUDA_SUCCESS;
}

/* Behind all that is on the stream, which from now on is the node. */
static CUresult put(struct sim_stream *s, const struct sim_node *model)
{
	struct sim_captured *at = &s->captured;
	struct sim_node node = *model;

	node.context = s->context;
	at->nodes[0] = sim_graph_add(at->capture->graph, &node, at->nodes, at->n);
	at->n = 1;
	return CUDA_SUCCESS;
}

CUresult sim_capture_run(struct sim_stream *s, const struct sim_kernel *kernel, bool starves)
{
	return put(s, &(struct sim_node){ .kind = SIM_NODE_RUN,
					  .body = sim_body_new(kernel, starves) });
}

CUresult sim_capture_busy(struct sim_stream *s, uint64_t ns)
{
	return put(s, &(struct sim_node){ .kind = SIM_NODE_BUSY, .ns = ns });
}

CUresult sim_capture_child(struct sim_stream *s, const struct sim_graph *graph)
{
	return put(s, &(struct sim_node){ .kind = SIM_NODE_CHILD, .child = sim_graph_copy(graph) });
}

CUresult sim_capture_record(struct sim_stream *s, struct sim_event *event, CUevent handle,
			    bool external)
{
	if (external)
		return put(s, &(struct sim_node){ .kind = SIM_NODE_RECORD, .event = handle });
	set(&event->captured, s->captured.capture, s->captured.nodes, s->captured.n);
	return CUDA_SUCCESS;
}

CUresult sim_capture_wait(struct sim_stream *s, struct sim_event *event, CUevent handle,
			  bool external)
{
	struct sim_capture *mine = s->captured.capture, *its = event->captured.capture;

	if (external)
		return put(s, &(struct sim_node){ .kind = SIM_NODE_WAIT, .event = handle });
	if (!its && event->mark)
		return spoil(mine, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
			     "an event from outside the capture");
	if (!its)
		return CUDA_SUCCESS;
	if (!its->graph)
		return sim_misuse(CUDA_ERROR_CAPTURED_EVENT, "an event of a capture that is over");
	if (its->spoilt)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (mine && mine != its) {
		its->spoilt = true;
		return spoil(mine, CUDA_ERROR_STREAM_CAPTURE_MERGE, "an event of another capture");
	}
	if (mine)
		add(&s->captured, &event->captured);
	else if (s == s->context->legacy)
		return spoil(its, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
			     "the default stream cannot be captured");
	else
		set(&s->captured, its, event->captured.nodes, event->captured.n);
	return CUDA_SUCCESS;
}

CUresult sim_capture_event(const struct sim_event *event)
{
	struct sim_capture *c = event->captured.capture;

	return c ? spoil(c, CUDA_ERROR_CAPTURED_EVENT, "an event that is a capture's")
		 : CUDA_SUCCESS;
}

CUresult sim_capture_unsafe(void)
{
	bool found = false;

	if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	for (struct sim_capture *c = captures; c; c = c->next) {
		bool mine = c->thread == &thread_mode && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;

		if (!mine && (thread_mode != CU_STREAM_CAPTURE_MODE_GLOBAL ||
			      c->mode != CU_STREAM_CAPTURE_MODE_GLOBAL))
			continue;
		c->spoilt = true;
		found = true;
	}
	return found ? sim_misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
				  "unsafe while a stream is captured")
		     : CUDA_SUCCESS;
}

CUresult sim_capture_sync(const struct sim_stream *stream, const struct sim_context *context)
{
	bool found = false;

	if (stream && is_implicit(stream, true))
		return sim_misuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
				  "the default stream while another is captured");
	for (const struct sim_stream *s = context->streams; s; s = s->next) {
		if (!s->captured.capture || (stream && s != stream))
			continue;
		s->captured.capture->spoilt = true;
		found = true;
	}
	return found ? sim_misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a captured stream")
		     : sim_capture_unsafe();
}

CUresult sim_capture_refuse(struct sim_stream *s, const char *why)
{
	return spoil(s->captured.capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, why);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUresult result = sim_enter(__func__);
	CUstreamCaptureMode old = thread_mode;

	if (result)
		return result;
	if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "not a mode"));
	thread_mode = *mode;
	*mode = old;
	return sim_leave(CUDA_SUCCESS);
}

/* Enter with a stream of the current thread's. */
static CUresult enter(const char *call, CUstream handle, struct sim_stream **stream)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(call, &c);

	if (result)
		return result;
	result = sim_stream_get(handle, c, stream);
	return result ? sim_leave(result) : CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	struct sim_stream *s;
	struct sim_capture *c;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "not a mode"));
	if (s == s->context->legacy)
		return sim_leave(sim_misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
					    "the default stream cannot be captured"));
	if (s->captured.capture)
		return sim_leave(spoil(s->captured.capture, CUDA_ERROR_ILLEGAL_STATE,
				       "the stream is captured already"));
	c = sim_alloc(sizeof(*c));
	*c = (struct sim_capture){ .graph = sim_graph_new(),
				   .origin = s,
				   .thread = &thread_mode,
				   .mode = mode,
				   .id = ++last_id,
				   .refs = 1,
				   .next = captures };
	c->graph->handle = sim_handle_new(SIM_GRAPH, c->graph);
	captures = c;
	set(&s->captured, c, NULL, 0);
	return sim_leave(CUDA_SUCCESS);
}

/* Does every node lead to where the stream is? */
static bool is_joined(const struct sim_capture *c)
{
	const struct sim_captured *at = &c->origin->captured;
	bool *reached = sim_alloc(c->graph->n + 1);
	bool all = true;

	for (size_t i = 0; i < at->n; i++)
		reached[at->nodes[i]] = true;
	for (size_t i = c->graph->n; i-- && all;) {
		const struct sim_node *node = &c->graph->nodes[i];

		all = reached[i];
		for (size_t k = 0; k < node->n_after; k++)
			reached[node->after[k]] = true;
	}
	free(reached);
	return all;
}

static void leave_capture(void *handle, void *object, void *capture)
{
	struct sim_context *context = object;

	(void)handle;
	for (struct sim_stream *s = context->streams; s; s = s->next)
		if (s->captured.capture == capture)
			sim_captured_clear(&s->captured);
}

/* No stream is captured by it any more; events keep that they were. */
static void end(struct sim_capture *c)
{
	struct sim_capture **p = &captures;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->graph = NULL;
	sim_handle_each(SIM_CONTEXT, leave_capture, c);
	drop(c);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	struct sim_stream *s;
	struct sim_capture *c;
	struct sim_graph *g;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	c = s->captured.capture;
	if (!graph)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	*graph = NULL;
	if (!c)
		return sim_leave(sim_misuse(CUDA_ERROR_ILLEGAL_STATE, "nothing is captured"));
	if (c->origin != s)
		return sim_leave(spoil(c, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
				       "the capture was begun on another stream"));
	if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != &thread_mode)
		return sim_leave(sim_misuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
					    "another thread began the capture"));
	if (c->spoilt)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined(c))
		result = sim_misuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "a fork was not joined");
	g = c->graph;
	end(c);
	if (!result) {
		*graph = g->handle;
		return sim_leave(CUDA_SUCCESS);
	}
	sim_handle_free(g->handle);
	sim_graph_free(g);
	return sim_graph_leave(result);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	return cuStreamGetCaptureInfo_v2(stream, status, NULL, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
				   CUgraph *graph, const CUgraphNode **after, size_t *n_after)
{
	struct sim_stream *s;
	const struct sim_captured *at;
	CUresult result = enter(__func__, stream, &s);

	if (result)
		return result;
	if (!status)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "NULL"));
	if (is_implicit(s, false))
		return sim_leave(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	at = &s->captured;
	*status = !at->capture		? CU_STREAM_CAPTURE_STATUS_NONE
		  : at->capture->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
					: CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return sim_leave(CUDA_SUCCESS);
	if (id)
		*id = at->capture->id;
	if (graph)
		*graph = at->capture->graph->handle;
	if (n_after)
		*n_after = at->n;
	if (after) {
		free(shown);
		shown = sim_alloc((at->n + 1) * sizeof(CUgraphNode));
		for (size_t i = 0; i < at->n; i++)
			shown[i] = at->capture->graph->nodes[at->nodes[i]].handle;
		*after = shown;
	}
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
				   CUgraph *graph, const CUgraphNode **after,
				   const struct CUgraphEdgeData_st **edges, size_t *n_after)
{
	if (edges)
		*edges = NULL;
	return cuStreamGetCaptureInfo_v2(stream, status, id, graph, after, n_after);
}
