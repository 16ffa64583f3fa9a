/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/load/graphs.h"
#include "analyzer/stream/stream.h"
#include "trace/call_name.h"
#include "trace/ops.h"

/* How often a process launched a graph. */
struct launches {
	struct launches *next; /* of the process */
	const struct ct_graph *graph;
	struct ct_traffic_flow *flow;
	uint64_t n;
};

static void note_gap(struct ct_traffic *t, enum ct_traffic_gap gap)
{
	t->gaps |= 1u << gap;
}

static struct ct_traffic_comm *entry_of(struct ct_traffic *t, const struct ct_comm *comm)
{
	if (ct_grow_zeroed(&t->by_comm, &t->n_comms, comm->index + 1, sizeof(*t->by_comm)))
		return NULL;
	return &t->by_comm[comm->index];
}

static struct ct_traffic_flow *flow_of(struct ct_traffic *t, struct ct_load_comm *at,
				       const struct ct_comm *comm)
{
	struct ct_traffic_comm *entry;
	struct ct_traffic_flow *flow;

	if (at->flow)
		return at->flow;
	entry = entry_of(t, comm);
	flow = entry ? ct_arena_calloc(t->memory, 1, sizeof(*flow)) : NULL;
	if (!flow)
		return NULL;
	flow->comm = comm;
	flow->member = (uint32_t)at->rec.rank;
	flow->next = entry->flows;
	entry->flows = flow;
	at->flow = flow;
	return flow;
}

/* ---- pairs ---- */

static struct ct_traffic_pair *make_pair(struct ct_traffic *t, uint64_t key,
					 struct ct_traffic_pair *same_key,
					 const struct ct_comm *comm,
					 const struct ct_flow_pair *between)
{
	struct ct_traffic_comm *entry = entry_of(t, comm);
	struct ct_traffic_pair *pair = entry ? ct_arena_calloc(t->memory, 1, sizeof(*pair)) : NULL;

	if (!pair || ct_table_put(&t->by_pair, key, pair) != CT_OK)
		return NULL;
	pair->next = entry->pairs;
	pair->same_key = same_key;
	pair->comm = comm;
	pair->from = between->from;
	pair->to = between->to;
	entry->pairs = pair;
	t->n_pairs++;
	return pair;
}

static int add_pair(struct ct_traffic *t, const struct ct_comm *comm,
		    const struct ct_flow_pair *between, enum ct_traffic_kind kind, uint64_t bytes,
		    uint64_t n)
{
	uint64_t key = ct_mix(ct_mix(comm->index) ^ ((uint64_t)between->from << 32 | between->to));
	struct ct_traffic_pair *first = ct_table_get(&t->by_pair, key), *pair = first;

	while (pair &&
	       (pair->comm != comm || pair->from != between->from || pair->to != between->to))
		pair = pair->same_key;
	if (!pair && t->n_pairs >= CT_TRAFFIC_PAIRS) {
		note_gap(t, CT_TRAFFIC_GAP_TOO_MANY);
		return CT_OK;
	}
	if (!pair)
		pair = make_pair(t, key, first, comm, between);
	if (!pair)
		return CT_NOMEM;
	pair->sums[kind].bytes = ct_flow_plus(pair->sums[kind].bytes, bytes);
	pair->sums[kind].n = ct_flow_plus(pair->sums[kind].n, n);
	return CT_OK;
}

/* ---- operations ---- */

static int take_op(struct ct_traffic *t, struct ct_traffic_flow *flow, const struct ct_flow_op *op)
{
	enum ct_op_class class = ct_op_class(op->op);
	struct ct_flow_pair between;

	switch (ct_flow_take(&flow->flow, flow->comm->nranks, flow->member, op, &between)) {
	case CT_FLOW_TAKEN:
		break;
	case CT_FLOW_UNKNOWN:
		note_gap(t, class == CT_CLASS_P2P || class == CT_CLASS_ROOTED
				    ? CT_TRAFFIC_GAP_NO_PEER
				    : CT_TRAFFIC_GAP_NO_MODEL);
		break;
	case CT_FLOW_IS_PAIR:
		return add_pair(t, flow->comm, &between,
				class == CT_CLASS_ROOTED ? CT_TRAFFIC_ROOTED : CT_TRAFFIC_SENT,
				ct_flow_times(op->bytes, op->times), op->times);
	}
	return CT_OK;
}

/* The content of a graph is processed once, when its process has been read. */
static int count_launch(struct ct_traffic *t, uint32_t process, const struct ct_graph *graph,
			struct ct_traffic_flow *flow)
{
	uint64_t key = ct_mix((uintptr_t)graph);
	struct launches *l = ct_table_get(&t->by_graph, key);

	if (!l) {
		l = ct_arena_calloc(t->memory, 1, sizeof(*l));
		if (!l || ct_table_put(&t->by_graph, key, l) != CT_OK)
			return CT_NOMEM;
		l->graph = graph;
		l->flow = flow;
		l->next = ct_table_get(&t->by_process, process);
		if (ct_table_put(&t->by_process, process, l) != CT_OK)
			return CT_NOMEM;
	}
	l->n++;
	return CT_OK;
}

/* MPI_Get_accumulate and the like: what they fetch comes back beside what they bring. */
static int fetches(const struct ct_joined_op *j)
{
	return j->op->op == CT_OP_Accumulate && j->call && !strstr(j->call, "MPI_Accumulate") &&
	       !strstr(j->call, "MPI_Raccumulate");
}

/* Most operations of a member are the same call, and texts of a process have one address each. */
static int splits_evenly(struct ct_traffic_flow *flow, const char *call)
{
	if (!flow->call || flow->call != call)
		flow->splits_evenly = ct_call_splits_evenly(call);
	flow->call = call;
	return flow->splits_evenly;
}

int ct_traffic_op(struct ct_traffic *t, uint32_t process, const struct ct_load_op *op,
		  const struct ct_comm *comm, int varying)
{
	const struct ct_joined_op *j = &op->joined;
	struct ct_flow_op what = { .op = j->op->op,
				   .root = j->op->peer,
				   .bytes = j->bytes,
				   .times = 1,
				   .varying = varying };
	struct ct_traffic_flow *flow;

	if (!comm) {
		note_gap(t, CT_TRAFFIC_GAP_NO_COMM);
		return CT_OK;
	}
	/* what failed or was cancelled was never sent */
	if (comm->nranks < 2 || j->state == CT_STATE_ERROR || j->state == CT_STATE_ABORTED) {
		if (j->state == CT_STATE_ABORTED && j->backend != CT_BACKEND_MPI)
			note_gap(t, CT_TRAFFIC_GAP_ABORTED);
		return CT_OK;
	}
	flow = flow_of(t, op->comm, comm);
	if (!flow)
		return CT_NOMEM;
	if (what.op == CT_OP_GraphLaunch) {
		if (j->graph)
			return count_launch(t, process, j->graph, flow);
		note_gap(t, CT_TRAFFIC_GAP_NO_GRAPH);
		return CT_OK;
	}
	if (j->backend == CT_BACKEND_GLOO && ct_op_class(what.op) != CT_CLASS_P2P) {
		/* a rank that has completed one has sent or received something */
		if (j->state != CT_STATE_FINISHED)
			return CT_OK;
		flow->counts = 1;
	}
	if (j->op->flags & CT_OP_UNSIZED) {
		if (what.op != CT_OP_Recv)
			note_gap(t, CT_TRAFFIC_GAP_NO_SIZE);
		return CT_OK;
	}
	if (fetches(j))
		note_gap(t, CT_TRAFFIC_GAP_FETCHED);
	what.splits_unknown = what.op == CT_OP_AllToAll && !splits_evenly(flow, j->call);
	return take_op(t, flow, &what);
}

/* ---- at the end of a process ---- */

struct graph_run {
	struct ct_traffic *traffic;
	const struct launches *launches;
};

static int take_run(void *arg, const struct ct_graph_rec *rec)
{
	const struct graph_run *run = arg;
	const struct ct_flow_op what = { .op = rec->op,
					 .root = rec->peer,
					 .bytes = ct_flow_times(rec->count,
								ct_dtype_bytes(rec->dtype)),
					 .times = ct_flow_times(rec->n, run->launches->n) };

	return take_op(run->traffic, run->launches->flow, &what);
}

static int take_graphs(struct ct_traffic *t, uint32_t process)
{
	const struct launches *l = ct_table_remove(&t->by_process, process);

	for (; l; l = l->next) {
		struct graph_run run = { t, l };

		ct_table_remove(&t->by_graph, ct_mix((uintptr_t)l->graph));
		if (l->graph->n_known != l->graph->n_ops)
			note_gap(t, CT_TRAFFIC_GAP_NO_GRAPH);
		if (ct_graph_each_run(l->graph, take_run, &run) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

int ct_traffic_process(struct ct_traffic *t, uint32_t process, const struct ct_load *load)
{
	const struct ct_load_traffic *has_counts = ct_load_traffic(load);

	for (; has_counts; has_counts = has_counts->next) {
		const struct ct_traffic_rec *rec = &has_counts->rec;
		const struct ct_comm *known = has_counts->comm ? has_counts->comm->user : NULL;
		struct ct_traffic_flow *flow;
		struct ct_flow_pair between;

		if (!known) {
			note_gap(t, CT_TRAFFIC_GAP_NO_COMM);
			continue;
		}
		flow = flow_of(t, has_counts->comm, known);
		if (!flow)
			return CT_NOMEM;
		flow->has_counts = 1;
		/* the sender's account is the one that counts */
		if (rec->received)
			continue;
		if (rec->peer < 0 || (uint32_t)rec->peer >= known->nranks) {
			note_gap(t, CT_TRAFFIC_GAP_NO_PEER);
			continue;
		}
		between = (struct ct_flow_pair){ flow->member, (uint32_t)rec->peer };
		if (add_pair(t, known, &between, CT_TRAFFIC_SENT, rec->bytes, rec->messages) !=
		    CT_OK)
			return CT_NOMEM;
	}
	return take_graphs(t, process);
}

void ct_traffic_fini(struct ct_traffic *t)
{
	ct_table_fini(&t->by_pair);
	ct_table_fini(&t->by_graph);
	ct_table_fini(&t->by_process);
	free(t->by_comm);
	*t = (struct ct_traffic){ 0 };
}

/* ---- of a stream ---- */

static int on_begin(void *arg, struct ct_stream *stream)
{
	struct ct_traffic *traffic = arg;

	traffic->memory = stream->model.memory;
	return CT_OK;
}

static int on_op(void *traffic, const struct ct_stream *stream, const struct ct_op_event *event)
{
	(void)stream;
	return event->member->captured ? CT_OK
				       : ct_traffic_op(traffic, event->process, event->op,
						       event->comm, event->member->varying);
}

static int on_block(void *traffic, const struct ct_stream *stream, uint32_t process,
		    const struct ct_load *load, int ended)
{
	(void)stream;
	return ended ? ct_traffic_process(traffic, process, load) : CT_OK;
}

void ct_traffic_observe(struct ct_traffic *traffic, struct ct_observer *observer)
{
	*observer = (struct ct_observer){
		.begin = on_begin,
		.op = on_op,
		.block = on_block,
		.arg = traffic,
	};
}
