/* SPDX-License-Identifier: Apache-2.0 */
/* The ops and calls of a case, and which of them are stalled. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/hang/gather.h"
#include "analyzer/model/call_kind.h"
#include "trace/ops.h"

struct filling {
	struct ct_gather *g;
	struct ct_hang_run *out;
	uint32_t n, cap;
};

static uint64_t member_key(const struct ct_comm *comm, uint32_t rank)
{
	return (uint64_t)comm->index << 32 | rank;
}

const struct ct_rank_history *ct_gather_member(const struct ct_gather *g,
					       const struct ct_comm *comm, int64_t rank)
{
	if (rank < 0 || rank >= comm->nranks)
		return NULL;
	return ct_table_get(&g->members, member_key(comm, (uint32_t)rank));
}

int ct_gather_list_members(struct ct_gather *g)
{
	int st = CT_OK;

	for (struct ct_rank_history *k = g->histories; k && st == CT_OK; k = k->next) {
		uint64_t key = member_key(k->comm, (uint32_t)k->me);
		struct ct_rank_history *other = ct_table_get(&g->members, key);

		if (!other || other->issued < k->issued)
			st = ct_table_put(&g->members, key, k);
	}
	return st;
}

/* ---- for how long ---- */

/* How long before the last heartbeat of its process an op on a GPU was last polled: its progress
 * since then is unknown. */
static uint64_t not_looked_at(const struct ct_gather *g, uint32_t process,
			      const struct ct_history_op *op)
{
	uint64_t looked_ns = g->run->processes[process].looked_ns;
	uint64_t until = g->processes[process].last_heartbeat_ns;

	return op->op.by_host || op->failed || !looked_ns || looked_ns > until ? 0
									       : until - looked_ns;
}

/* When its rank was last seen in it, and since when it was its turn, on the clock of its host. A
 * process that polls its GPU less often than every `limit_ns` is stalled as well. */
static uint64_t seen_until(const struct ct_gather *g, uint32_t process,
			   const struct ct_history_op *op, uint64_t limit_ns)
{
	uint64_t unseen_ns = not_looked_at(g, process, op);

	if (op->failed)
		return op->failed_ns;
	return g->processes[process].last_heartbeat_ns - (unseen_ns <= limit_ns ? unseen_ns : 0);
}

static uint64_t since(const struct ct_gather *g, const struct ct_rank_history *history,
		      const struct ct_history_op *op)
{
	const struct ct_hang_stream *s = NULL;

	if (op->op.stream)
		s = ct_table_get(&g->streams, (uint64_t)history->process << 32 | op->op.stream);
	return s && s->end_ns > op->op.enter_ns ? s->end_ns : op->op.enter_ns;
}

static int is_unfinished(const struct ct_hang_op *op)
{
	return op->state == CT_STATE_ENTERED || op->state == CT_STATE_RETURNED ||
	       op->state == CT_STATE_STARTED;
}

static int note_wait(void *arg, struct ct_rank_history *history, struct ct_history_op *op)
{
	struct ct_gather *g = arg;
	struct ct_hang_process *p = &g->processes[history->process];
	uint64_t limit = g->run->processes[history->process].id.hang_after_ns;
	uint64_t until = seen_until(g, history->process, op, limit), from = since(g, history, op);
	int counts = op->failed ? op->failed_ns == g->model->processes[history->process].failed_ns
				: is_unfinished(&op->op) && !op->vague;

	if (counts && until > from && until - from > p->waited_ns)
		p->waited_ns = until - from;
	return CT_OK;
}

int ct_hang_waited(struct ct_gather *g)
{
	int st = CT_OK;

	for (struct ct_rank_history *k = g->histories; k && st == CT_OK; k = k->next)
		st = ct_rank_history_each(k, note_wait, g);
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];
		struct ct_hang_process *p = &g->processes[call->process];

		if (!call->rec.return_ns && ct_host_call_meets(call->kind) &&
		    p->last_heartbeat_ns > call->rec.enter_ns &&
		    p->last_heartbeat_ns - call->rec.enter_ns > p->waited_ns)
			p->waited_ns = p->last_heartbeat_ns - call->rec.enter_ns;
	}
	return st;
}

/* When the shutdown of the job began, on the clock of the process's host. */
static uint64_t torn_down(const struct filling *f, uint32_t process)
{
	return f->g->torn_down[ct_gather_host_of(f->g, process)];
}

/* Its age when it was last seen. Nothing counts as stalled after the shutdown of the job began. */
static uint64_t age_of(const struct filling *f, uint32_t process, uint64_t from_ns,
		       uint64_t until_ns)
{
	uint64_t from = ct_gather_at(f->g, process, from_ns);
	uint64_t until = ct_gather_at(f->g, process, until_ns);

	if (until > torn_down(f, process))
		until = torn_down(f, process);
	return until > from ? until - from : 0;
}

/* Messages progress in the background: an unfinished one of a rank that calls other operations
 * means nothing. */
static int is_silent(const struct filling *f, const struct ct_rank_history *history,
		     uint64_t limit_ns)
{
	uint32_t p = history->process;

	return age_of(f, p, f->g->model->processes[p].last_act_ns,
		      f->g->processes[p].last_heartbeat_ns) > limit_ns;
}

static uint8_t stalled(const struct filling *f, const struct ct_rank_history *history,
		       const struct ct_history_op *op, uint64_t limit)
{
	uint64_t age = age_of(f, history->process, since(f->g, history, op),
			      seen_until(f->g, history->process, op, limit));
	int is_old = age > limit;

	if (is_old && !op->failed && ct_op_class(op->op.op) == CT_CLASS_P2P)
		is_old = is_silent(f, history, limit);
	if (is_old)
		return 1;
	return f->out->hang_case.died_first || f->out->hang_case.broken_off ? 2 : 0;
}

/* ---- ops ---- */

int ct_hang_may_have_ended(const struct ct_gather *g, const struct ct_rank_history *history,
			   const struct ct_history_op *op)
{
	const struct ct_rank_history *other;

	if (ct_op_class(op->op.op) == CT_CLASS_P2P) {
		other = ct_gather_member(g, history->comm, op->op.peer);
		for (uint32_t i = 0; other && i < other->n_messages; i++) {
			const struct ct_hang_op *o = &other->messages[i].op;

			if (o->peer == history->me && o->tag == op->op.tag && o->op != op->op.op &&
			    o->seq >= op->op.seq)
				return 1;
		}
		return 0;
	}
	for (uint32_t r = 0; r < history->comm->nranks; r++) {
		other = ct_gather_member(g, history->comm, r);
		if (!other ||
		    (other->issued <= op->op.seq && other->reached.next_seq <= op->op.seq))
			return 0;
	}
	return 1;
}

static int a_rank_left(const struct ct_hang_case *c, uint64_t before_ns, enum ct_process_state how)
{
	for (uint32_t i = 0; i < c->n_ranks; i++) {
		if (c->ranks[i].process == how && c->ranks[i].ended_ns <= before_ns)
			return 1;
	}
	return 0;
}

/* The last operation of a rank failed because it had waited, or because its peers were gone: the
 * rank was in it until then. */
static int failed_waiting(const struct filling *f, const struct ct_rank_history *history,
			  const struct ct_history_op *op)
{
	const struct ct_hang_process *p = &f->g->processes[history->process];
	const struct ct_hang_case *c = &f->out->hang_case;
	uint64_t at = ct_gather_at(f->g, history->process, op->failed_ns);

	if (!op->failed || !op->op.by_host)
		return 0;
	/* an operation that a queue starts during the shutdown has not waited */
	if (ct_gather_at(f->g, history->process, op->op.enter_ns) >= torn_down(f, history->process))
		return 0;
	if (op->failed_ns != f->g->model->processes[history->process].failed_ns)
		return at >= torn_down(f, history->process);
	if (op->failed_ns - op->op.enter_ns > f->out->limit_ns)
		return 1;
	if (at >= torn_down(f, history->process) || p->deserted)
		return 1;
	return a_rank_left(c, at, CT_PROCESS_EXITED) || a_rank_left(c, at, CT_PROCESS_DEAD);
}

static int count(void *arg, struct ct_rank_history *history, struct ct_history_op *op)
{
	struct filling *f = arg;

	(void)history;
	(void)op;
	f->cap++;
	return CT_OK;
}

static int fill_op(void *arg, struct ct_rank_history *history, struct ct_history_op *op)
{
	struct filling *f = arg;
	uint32_t rank = f->g->ranks[history->slot];
	struct ct_hang_op *out = &f->out->hang_case.ops[f->n];

	if (rank == UINT32_MAX)
		return CT_OK;
	f->n++;
	*out = op->op;
	out->rank = rank;
	out->comm = ct_gather_number(f->g, history->comm);
	out->enter_ns = ct_gather_at(f->g, history->process, op->op.enter_ns);
	if (failed_waiting(f, history, op)) {
		out->state = CT_STATE_ENTERED;
	} else if (op->vague) {
		out->state = ct_hang_may_have_ended(f->g, history, op) ? CT_STATE_FINISHED
								       : CT_STATE_RETURNED;
		out->start_unseen = 1;
	}
	if (is_unfinished(out)) {
		uint64_t limit = ct_hang_limit(f->g, history->comm, op->op.op, f->out->limit_ns);

		out->stalled = stalled(f, history, op, limit);
		if (not_looked_at(f->g, history->process, op) > limit) {
			if (out->state == CT_STATE_STARTED)
				out->state = CT_STATE_RETURNED;
			out->start_unseen = 1;
			f->g->processes[history->process].blind = 1;
		}
		out->due_ns = ct_gather_at(f->g, history->process, since(f->g, history, op)) +
			      limit;
	}
	/* a rank that learns that a peer is gone does not need to wait longer */
	if (op->failed && out->state == CT_STATE_ENTERED &&
	    (f->g->processes[history->process].deserted ||
	     a_rank_left(&f->out->hang_case, ct_gather_at(f->g, history->process, op->failed_ns),
			 CT_PROCESS_EXITED)))
		out->stalled = 1;
	return CT_OK;
}

/* Its records are lost, but its status record says how many collectives it had called. */
static void fill_reached(struct filling *f, const struct ct_rank_history *history)
{
	uint32_t rank = f->g->ranks[history->slot];

	if (rank == UINT32_MAX || !f->g->processes[history->process].lost ||
	    history->reached.next_seq <= history->issued)
		return;
	f->out->hang_case.ops[f->n++] = (struct ct_hang_op){
		.rank = rank,
		.comm = ct_gather_number(f->g, history->comm),
		.seq = history->reached.next_seq - 1,
		.enter_ns = ct_gather_at(f->g, history->process, history->reached.last_enter_ns),
		.peer = -1,
		.op = (uint8_t)history->reached.last_op,
		.by_host = history->comm->backend != CT_BACKEND_NCCL,
		.start_unseen = 1,
		.state = CT_STATE_RETURNED,
	};
}

CT_SORT_BY(by_issue, struct ct_hang_op, CT_UP(rank) ?: CT_UP(enter_ns) ?: CT_UP(comm) ?: CT_UP(seq))

/* A second reading finds some once more. */
static uint32_t without_twins(struct ct_hang_op *ops, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ct_hang_op *last = kept ? &ops[kept - 1] : NULL;

		if (last && by_issue(last, &ops[i]) == 0 && last->op == ops[i].op &&
		    last->peer == ops[i].peer && last->tag == ops[i].tag)
			continue;
		ops[kept++] = ops[i];
	}
	return kept;
}

int ct_hang_fill_ops(struct ct_gather *g, struct ct_hang_run *out)
{
	struct filling f = { .g = g, .out = out };
	struct ct_hang_case *c = &out->hang_case;
	int st = ct_gather_list_members(g);

	for (struct ct_rank_history *k = g->histories; k && st == CT_OK; k = k->next)
		st = ct_rank_history_each(k, count, &f);
	if (st != CT_OK)
		return st;
	for (struct ct_rank_history *k = g->histories; k; k = k->next)
		f.cap++;
	c->ops = ct_arena_calloc(g->memory, f.cap, sizeof(*c->ops));
	if (!c->ops)
		return CT_NOMEM;
	for (struct ct_rank_history *k = g->histories; k && st == CT_OK; k = k->next)
		st = ct_rank_history_each(k, fill_op, &f);
	for (struct ct_rank_history *k = g->histories; k && st == CT_OK; k = k->next)
		fill_reached(&f, k);
	if (f.n)
		qsort(c->ops, f.n, sizeof(*c->ops), by_issue);
	c->n_ops = without_twins(c->ops, f.n);
	return st;
}

/* ---- calls ---- */

/* By communicator: is a rank still in a call on it? NULL: out of memory. */
static uint8_t *find_met(const struct ct_gather *g, uint32_t n_comms)
{
	uint8_t *met = calloc(n_comms + 1u, 1);

	for (uint32_t i = 0; met && i < g->n_calls; i++)
		if (!g->calls[i].rec.return_ns && g->calls[i].comm < n_comms)
			met[g->calls[i].comm] = 1;
	return met;
}

/* A host that waits for a GPU records the stream where other calls record the size of their
 * communicator. */
static uint32_t stream_of(const struct ct_hang_seen_call *call, const struct ct_hang_process *p)
{
	if (call->kind != CT_HOST_SYNC || !ct_call_is(call->call, CT_CALL_WAITS_FOR_GPU))
		return 0;
	return call->rec.nranks ? ct_gather_stream(call->rec.nranks, p->device) : 0;
}

int ct_hang_fill_calls(struct ct_gather *g, struct ct_hang_run *out)
{
	struct filling f = { .g = g, .out = out };
	struct ct_hang_case *c = &out->hang_case;
	uint8_t *met = find_met(g, c->n_comms);

	c->calls = ct_arena_calloc(g->memory, g->n_calls, sizeof(*c->calls));
	if (!c->calls || !met) {
		free(met);
		return CT_NOMEM;
	}
	for (uint32_t i = 0; i < g->n_calls; i++) {
		const struct ct_hang_seen_call *call = &g->calls[i];
		const struct ct_hang_process *p = &g->processes[call->process];
		uint32_t rank = g->ranks[g->model->starts->processes[call->process].slot];
		struct ct_hang_call *to = &c->calls[c->n_calls];

		if (rank == UINT32_MAX ||
		    (call->rec.return_ns && (call->comm >= c->n_comms || !met[call->comm])))
			continue;
		c->n_calls++;
		*to = (struct ct_hang_call){
			.rank = rank,
			.kind = call->kind,
			.call = call->call,
			.site = call->site,
			.comm = call->comm < c->n_comms ? call->comm : UINT32_MAX,
			.enter_ns = ct_gather_at(g, call->process, call->rec.enter_ns),
			.thread = call->rec.tid,
			.stream = stream_of(call, p),
			.returned = call->rec.return_ns != 0,
		};
		if (to->returned)
			continue;
		to->due_ns = to->enter_ns + out->limit_ns;
		to->stalled = age_of(&f, call->process, call->rec.enter_ns, p->last_heartbeat_ns) >
			      out->limit_ns;
		if (!to->stalled && c->died_first)
			to->stalled = 2;
	}
	free(met);
	return CT_OK;
}

uint64_t ct_hang_limit(struct ct_gather *g, const struct ct_comm *comm, unsigned op,
		       uint64_t least_ns)
{
	struct ct_hang_class *class = ct_table_get(&g->classes, ct_hang_class_key(comm, op));

	if (!class || !class->took.n)
		return least_ns;
	if (!class->limit_ns)
		class->limit_ns = ct_hist_unusual(ct_hist_quantile(&class->took, 0.99),
						  class->took.max);
	return class->limit_ns > least_ns ? class->limit_ns : least_ns;
}

uint64_t ct_hang_usual_ns(const struct ct_gather *g, uint64_t hang_after_ns)
{
	uint64_t n = 0, longest_ns = 0;

	if (hang_after_ns != CT_HANG_AFTER_NS)
		return hang_after_ns;
	for (size_t i = 0; i < g->classes.cap; i++) {
		const struct ct_hang_class *class = g->classes.slots[i].value;

		n += class ? class->took.n : 0;
		if (class && class->took.max > longest_ns)
			longest_ns = class->took.max;
	}
	if (n < CT_LEAST_WAITS)
		return hang_after_ns;
	return longest_ns < CT_UNCLEAN_NS / CT_TIMES_LONGEST ? CT_UNCLEAN_NS
							     : longest_ns * CT_TIMES_LONGEST;
}
