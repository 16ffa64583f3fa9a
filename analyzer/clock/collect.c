/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/clock/collect.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/clock/points.h"
#include "analyzer/clock/solve.h"
#include "analyzer/stream/stream.h"

struct ct_clock_log {
	struct ct_clock_points points;
	struct ct_clocks *clocks; /* NULL: not all was read */
	uint32_t reference;
	struct ct_clock_member *members;
	uint32_t cap;
};

/* What the operation says of clocks; 0: nothing. A fence may let members pass, a graph computes
 * after it communicates, and a rank that moves nothing, or perhaps nothing, waits for no rank. */
static int kind_of(const struct ct_instance *i, enum ct_clock_kind *kind)
{
	const struct ct_member *first = &i->members[0];

	for (uint32_t m = 0; m < i->n && i->src < 0; m++) {
		if (i->members[m].varying ||
		    ((!i->members[m].count || i->members[m].count == UINT64_MAX) &&
		     first->op != CT_OP_Barrier))
			return 0;
	}
	switch (first->op) {
	case CT_OP_AllReduce:
	case CT_OP_AllGather:
	case CT_OP_ReduceScatter:
	case CT_OP_AllToAll:
	case CT_OP_Barrier:
		*kind = CT_CLOCK_SYNC;
		return 1;
	case CT_OP_Broadcast:
	case CT_OP_Scatter:
		*kind = CT_CLOCK_FROM_ONE;
		return first->root >= 0;
	case CT_OP_Reduce:
	case CT_OP_Gather:
		*kind = CT_CLOCK_TO_ONE;
		return first->root >= 0;
	case CT_OP_Send:
	case CT_OP_Recv:
		*kind = CT_CLOCK_FROM_ONE;
		return i->src >= 0;
	default:
		return 0;
	}
}

/* The member that has the part that is not the others': the root, the sender. */
static int is_one(const struct ct_instance *i, const struct ct_member *m)
{
	return i->src >= 0 ? m->index == 0 : m->root >= 0 && (uint32_t)m->root == m->index;
}

static int log2_of(uint64_t bytes)
{
	return bytes ? 64 - __builtin_clzll(bytes) : 0;
}

static int on_matched(void *arg, const struct ct_stream *stream, const struct ct_instance *i)
{
	struct ct_clock_log *c = arg;
	const struct ct_member *first = &i->members[0];
	struct ct_clock_event event = { .n = i->n, .one = UINT32_MAX };
	int posted = 0;

	if (!kind_of(i, &event.kind) || i->comm->clash || i->comm->shared_slot)
		return CT_OK;
	if (ct_grow(&c->members, &c->cap, i->n, sizeof(*c->members)))
		return CT_NOMEM;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *from = &i->members[m];

		c->members[m] = (struct ct_clock_member){ from->start_ns,
							  from->end_ns,
							  from->start_err_ns,
							  from->end_err_ns,
							  stream->model.host_of[from->slot],
							  from->slot };
		if (is_one(i, from))
			event.one = m;
		event.by_host |= !from->on_gpu;
		posted |= from->posted || from->shared;
	}
	if (event.one == UINT32_MAX) {
		if (event.kind != CT_CLOCK_SYNC)
			return CT_OK;
		event.one = 0;
	}
	event.members = c->members;
	/* That someone looked and found it ended says nothing of when the others did. */
	event.no_ends = posted;
	event.stratum = ct_mix((uint64_t)i->comm->index << 16 | (uint64_t)first->op << 8 |
			       (uint64_t)log2_of(first->bytes)) |
			1;
	return ct_clock_points_add(&c->points, &event);
}

/* Which rank is 0 may be known only now. */
static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_clock_log *c = arg;
	struct ct_model *model = &stream->model;
	int st;

	for (uint32_t s = 0; s < model->n_slots; s++) {
		if (model->slots[s].rank == 0)
			c->reference = model->host_of[s];
	}
	st = ct_clocks_solve(&c->points, c->reference, &c->clocks);
	if (st != CT_OK)
		return st;
	model->starts->clocks = c->clocks;
	ct_model_set_begin(model);
	return CT_OK;
}

/* How many hosts the start has, and that of its first process, or of the one that knows to be rank
 * 0. */
static uint32_t count_hosts(const struct ct_run *run, const struct ct_starts *starts, int restart,
			    uint32_t *first)
{
	uint32_t n = 0, seen = UINT32_MAX;

	*first = UINT32_MAX;
	for (size_t p = 0; p < run->n_processes; p++) {
		const struct ct_process_start *start = &starts->processes[p];

		if (start->restart != restart)
			continue;
		n += seen == UINT32_MAX || (n == 1 && start->host != seen);
		seen = start->host;
		if (*first == UINT32_MAX || run->processes[p].id.rank == 0)
			*first = start->host;
	}
	return n;
}

int ct_clock_log_new(const struct ct_run *run, const struct ct_starts *starts, int restart,
		     struct ct_clock_log **log)
{
	struct ct_clock_log *c;
	uint32_t reference;

	*log = NULL;
	if (count_hosts(run, starts, restart, &reference) < 2)
		return CT_OK;
	c = calloc(1, sizeof(*c));
	if (!c || ct_clock_points_init(&c->points, starts->n_hosts, reference) != CT_OK) {
		free(c);
		return CT_NOMEM;
	}
	c->reference = reference;
	*log = c;
	return CT_OK;
}

void ct_clock_log_observe(struct ct_clock_log *log, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .matched = on_matched, .end = on_end, .arg = log };
}

struct ct_clocks *ct_clock_log_free(struct ct_clock_log *log)
{
	struct ct_clocks *clocks = log ? log->clocks : NULL;

	if (!log)
		return NULL;
	ct_clock_points_fini(&log->points);
	free(log->members);
	free(log);
	return clocks;
}

int ct_clocks_of_run(const struct ct_run *run, struct ct_starts *starts, int restart,
		     const struct ct_stream_options *options, struct ct_clocks **clocks,
		     struct ct_err *err)
{
	struct ct_observer observer;
	const struct ct_stream_options mine = {
		.observers = &observer,
		.n_observers = 1,
		.only_matched = 1,
		.tasks = options->tasks,
		.progress = options->progress,
		.progress_arg = options->progress_arg,
	};
	struct ct_clock_log *log;
	struct ct_stream *stream;
	int st = ct_clock_log_new(run, starts, restart, &log);

	*clocks = NULL;
	if (!log)
		return st;
	ct_clock_log_observe(log, &observer);
	stream = calloc(1, sizeof(*stream));
	st = stream ? ct_stream_run(stream, run, starts, restart, &mine, err) : CT_NOMEM;
	if (stream)
		ct_stream_fini(stream);
	free(stream);
	*clocks = ct_clock_log_free(log);
	return st;
}
