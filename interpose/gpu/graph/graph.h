/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — communication that is captured into CUDA graphs and carried out by their launches.
 *
 * An op whose stream is captured is recorded with CT_OP_CAPTURED: nothing runs now, nothing of ours
 * is put into the capture. It takes no number of the communicator's order: its `seq` is its
 * position in the capture, `launch` the number of the list that it is in (graph_table.h). Which
 * graph and which executable have that list follows from the calls on graphs (rows of
 * abi/cudart_calls.def). Every launch of an executable with communication in it is an op
 * GraphLaunch for each communicator: `seq` is the number of the first collective that it carries
 * out, `count` how many, `tag` the list; the communicator's order goes on behind them, and so do
 * the orders of its transfers. So ranks that have launched the same graphs agree on every number,
 * wherever and however often they have captured. With count 0 (transfers only) `seq` says what the
 * next collective will get. What could not be followed is CT_LOSS_GRAPH_LOST, each op or launch.
 *
 * Any thread, guard held. No allocation, no waiting; a launch that has nothing to do with
 * communication costs a look into a table.
 */
#ifndef CT_INTERPOSE_GPU_GRAPH_GRAPH_H
#define CT_INTERPOSE_GPU_GRAPH_GRAPH_H

#include <stdint.h>

#include "interpose/abi/cuda.h"
#include "interpose/gpu/graph/graph_table.h"
#include "interpose/recorder.h"
#include "trace/record.h"

struct ct_block;
struct ct_gpu_span;
struct ct_slot;

/* 0 or CT_NOMEM. If not `list`, captured ops are marked and launches pass. Before the gate opens. */
int ct_graph_init(int list);

/* The op is about to be captured from the stream: sets flags, launch and seq; a result of 0: it is
 * in no list, which is counted. `bytes` is what it moves. */
int ct_graph_op(struct ct_op *op, struct ct_traced_comm *comm, CUstream stream, uint64_t bytes);

/* One of the calls below, on its wrapper's stack. */
struct ct_graph_call {
	uintptr_t capture; /* its id; 0 none */
	int adds;	   /* to a graph that there is */
	uint32_t n;	   /* communicators of a launch */
	struct {
		struct ct_op_frame op;
		struct ct_gpu_span *span;
	} on[CT_GRAPH_PARTS];
};

void ct_graph_begun(CUstream stream, int into_graph);
void ct_graph_end(struct ct_graph_call *call, CUstream stream);
void ct_graph_ended(const struct ct_graph_call *call, CUgraph graph);
void ct_graph_end_failed(const struct ct_graph_call *call);

void ct_graph_cloned(CUgraph clone, CUgraph graph);
void ct_graph_child_added(CUgraph graph, CUgraph child);
void ct_graph_instantiated(CUgraphExec exec, CUgraph graph);
void ct_graph_updated(CUgraphExec exec, CUgraph graph);
void ct_graph_destroyed(CUgraph graph);
void ct_graph_exec_destroyed(CUgraphExec exec);

/* Around the launch; `symbol` is the name of the function. */
void ct_graph_launch(struct ct_graph_call *call, CUgraphExec exec, CUstream stream,
		     const char *symbol);
void ct_graph_launched(struct ct_graph_call *call, int result);

/* Write thread: GRAPH records of all lists that an executable may have. 0 or CT_NOMEM. */
int ct_graph_again(struct ct_block *block);

#endif
