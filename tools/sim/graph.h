/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — graphs: work in an order, kept to be put on streams later, as often as the program
 * likes.
 *
 * graph.c has the graphs themselves, graph_capture.c what turns calls on streams into nodes,
 * graph_exec.c the executable ones. What a node runs is shared by its graph, the clones and the
 * executables (counted references), and informed that it is done with the last of them. The lock is
 * held for all of it.
 */
#ifndef CT_TOOLS_SIM_GRAPH_H
#define CT_TOOLS_SIM_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/sim/sim.h"

struct sim_context;
struct sim_event;
struct sim_mark;
struct sim_stream;

/* A kernel, copy or host function: as in stream.h, but run at each launch. */
struct sim_body {
	struct sim_kernel kernel;
	unsigned refs;
	bool starves;
	struct sim_body *next; /* of those whose end was not reported yet */
};

enum sim_node_kind {
	SIM_NODE_RUN,
	SIM_NODE_BUSY,
	SIM_NODE_RECORD, /* an event, at each launch */
	SIM_NODE_WAIT,	 /* for an event as it was last recorded before the launch */
	SIM_NODE_CHILD,
};

struct sim_node {
	enum sim_node_kind kind;
	CUgraphNode handle;
	struct sim_context *context;
	struct sim_body *body;	 /* RUN */
	uint64_t ns;		 /* BUSY */
	CUevent event;		 /* RECORD, WAIT */
	struct sim_graph *child; /* a copy */
	size_t *after, n_after;	 /* nodes of the same graph, before this one in it */
};

struct sim_graph {
	CUgraph handle; /* NULL: an executable's or a child's own copy */
	struct sim_node *nodes;
	size_t n, room;
};

/* Nodes of a capture's graph: what comes next on a stream comes after them. */
struct sim_capture;
struct sim_captured {
	struct sim_capture *capture; /* NULL: none */
	size_t *nodes, n;
};

/* graph.c */

struct sim_graph *sim_graph_new(void);
struct sim_graph *sim_graph_copy(const struct sim_graph *graph);
void sim_graph_free(struct sim_graph *graph);

/* A handle that is none: CUDA_ERROR_INVALID_VALUE, as CUDA says of graphs. */
CUresult sim_graph_get(CUgraph handle, struct sim_graph **graph);

/* Adds a copy of the node, its body or child taken over, behind `n_after` others. Its index. */
size_t sim_graph_add(struct sim_graph *graph, const struct sim_node *node, const size_t *after,
		     size_t n_after);

/* With the nodes of every child instead of it. */
struct sim_graph *sim_graph_flat(const struct sim_graph *graph);

struct sim_body *sim_body_new(const struct sim_kernel *kernel, bool starves);
void sim_body_drop(struct sim_body *body);

/* sim_leave(), then notifies what was dropped: that may call CUDA. */
CUresult sim_graph_leave(CUresult result);

/* graph_capture.c */

/* What is put on the stream now goes into a capture, *capture, or is run, NULL. Errors: the capture
 * was spoilt before, or the stream is the default one and would depend on a capture, which spoils
 * that. */
CUresult sim_capture_of(struct sim_stream *stream, struct sim_capture **capture);

/* Nodes behind all that is on the stream. The kernel's end is reported when the last graph with it
 * is gone. */
CUresult sim_capture_run(struct sim_stream *stream, const struct sim_kernel *kernel, bool starves);
CUresult sim_capture_busy(struct sim_stream *stream, uint64_t ns);
CUresult sim_capture_child(struct sim_stream *stream, const struct sim_graph *graph);

/* Events of captures. `external`: a node of its own. */
CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event, CUevent handle,
			    bool external);
CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event, CUevent handle,
			  bool external);

/* CUDA_ERROR_CAPTURED_EVENT if it was last recorded in a capture, which it spoils. */
CUresult sim_capture_event(const struct sim_event *event);

/* The call is one that CUDA counts as unsafe during captures: may this thread make it? If not, the
 * captures that forbid it are spoilt. */
CUresult sim_capture_unsafe(void);

/* The call queries the stream, or on all of the context's (NULL): a conflict with its capture. */
CUresult sim_capture_sync(const struct sim_stream *stream, const struct sim_context *context);

/* The call cannot be captured. */
CUresult sim_capture_refuse(struct sim_stream *stream, const char *why);

void sim_captured_clear(struct sim_captured *captured);

#endif
