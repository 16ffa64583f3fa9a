/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h — the communication in the executable CUDA graphs of one process, for each communicator,
 * from its GRAPH records. Owned by a ct_load; results live as long. One thread. */
#ifndef CT_ANALYZER_LOAD_GRAPHS_H
#define CT_ANALYZER_LOAD_GRAPHS_H

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "trace/format.h"

struct ct_graph_part;

/* One list on one communicator. */
struct ct_graph {
	uint32_t list, comm;
	uint32_t n_ops, n_colls;
	uint64_t bytes;	      /* elements as passed to the calls times their size */
	uint64_t total_bytes; /* of the whole operations; `bytes` as long as not all runs are known */
	const char *text; /* "32 AllReduce bf16 x8192, AllGather f32 x128"; what is known of it */
	struct ct_graph_part *first, *last;
	uint32_t n_known; /* ops in the runs that are known ... */
	uint32_t n_sync;  /* ... and those of them that synchronise all ranks */
	uint32_t nranks;  /* total_bytes and text are for so many, and n_shown ops */
	uint32_t n_shown;
	struct ct_graph *same_key;
};

struct ct_graphs {
	struct ct_table by_key;
	struct ct_arena *memory; /* borrowed */
};

void ct_graphs_fini(struct ct_graphs *graphs);

/* A record, perhaps one that is known. 0 or CT_NOMEM. */
int ct_graphs_add(struct ct_graphs *graphs, const struct ct_graph_rec *rec);

/* What is known of it, run by run. Nonzero stops and is returned; else 0. */
int ct_graph_each_run(const struct ct_graph *graph,
		      int (*each)(void *arg, const struct ct_graph_rec *run), void *arg);

/* NULL: not on record, or no memory. `nranks` of the communicator. */
const struct ct_graph *ct_graphs_get(const struct ct_graphs *graphs, uint32_t list, uint32_t comm,
				     uint32_t nranks);

#endif
