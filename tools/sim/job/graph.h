/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h — a rank that captures its communication into CUDA graphs, piece by piece, as inference
 * engines do: work between the pieces stays outside. The first step runs without graphs, which is
 * when buffers are made; a piece is captured when it comes for the first time after that, and
 * launched in every step. A piece that a fault has changed runs without its graph.
 *
 * A graph does the same at each launch, so what changes from step to step, numbers and durations,
 * is handed to its nodes in queues.
 */
#ifndef CT_TOOLS_SIM_JOB_GRAPH_H
#define CT_TOOLS_SIM_JOB_GRAPH_H

#include "tools/sim/job/rank.h"

struct simjob_graphs;

/* NULL: no memory. The rank's thread, like all of it. */
struct simjob_graphs *simjob_graphs_make(void);

/* 1: the action belongs to a piece and is dealt with, now or when the piece is whole. 0: what was
 * kept back of a piece has been put on its stream, and the action is the caller's. `act` does an
 * action without graphs. */
int simjob_graphs_take(struct simjob_rank *r, const struct ct_action *action,
		       void (*act)(struct simjob_rank *r, const struct ct_action *action));

#endif
