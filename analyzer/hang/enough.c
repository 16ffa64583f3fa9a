/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is read if the diagnosis needs something that may precede the tails:
 *
 *   - a difference between the calls of members: the sums of the earlier part differ;
 *   - the last collectives of members of a communicator in which a rank waits, if they have not
 * used it for long;
 *   - the other end of a message that a rank waits for: no sum has the messages;
 *   - calls that all members make together;
 *   - the usual duration of a rare operation, as at a checkpoint;
 *   - a call that began before the tail of a rank that seems to be missing;
 *   - a member of a communicator in which a rank waits, that left it in a segment that was not
 * read. */
#include "analyzer/hang/enough.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/hang/gather.h"
#include "trace/ops.h"

struct evidence_check {
	struct ct_gather *g;
	uint8_t *waited_in;	/* by communicator of the case */
	uint8_t *messages_made; /* likewise: a rank waits in a collective that the library makes of
				   messages */
	int is_short;
};

static int has_tail(const struct ct_gather *g, uint32_t process)
{
	return g->tails->from[process] != 0;
}

static const struct ct_hang_op *message_at(const struct ct_rank_history *history, uint32_t i)
{
	return i < history->n_messages ? &history->messages[i].op
				       : &history->open[i - history->n_messages].op;
}

/* Does the tail have all messages of this process in this history? */
static int has_messages(const struct ct_gather *g, const struct ct_rank_history *history)
{
	return !has_tail(g, history->process) || g->tails->no_messages[history->process];
}

/* Are there messages in each direction to each other member? Then the latest of each is there. 1, 0
 * or CT_NOMEM. */
static int has_latest(const struct ct_rank_history *history)
{
	const uint32_t n = history->comm->nranks;
	uint8_t *seen = calloc(2u * n, 1);
	int is_whole = 1;

	if (!seen)
		return CT_NOMEM;
	for (uint32_t i = 0; i < history->n_messages + history->n_open; i++) {
		const struct ct_hang_op *op = message_at(history, i);

		if (ct_op_class(op->op) == CT_CLASS_P2P && op->peer >= 0 && (uint32_t)op->peer < n)
			seen[2u * (uint32_t)op->peer + (op->op == CT_OP_Send)] = 1;
	}
	for (uint32_t peer = 0; peer < n; peer++)
		is_whole &= (int)peer == history->me || (seen[2u * peer] && seen[2u * peer + 1]);
	free(seen);
	return is_whole;
}

static int is_other_end(const struct ct_hang_op *op, int32_t me, const struct ct_hang_op *other)
{
	return other->peer == me && other->tag == op->tag && other->op != op->op &&
	       ct_op_class(other->op) == CT_CLASS_P2P;
}

/* Are the progress of the message's other end and its calls on the communicator known? */
static int is_known(const struct ct_gather *g, const struct ct_rank_history *history,
		    const struct ct_hang_op *op)
{
	const struct ct_rank_history *other = ct_gather_member(g, history->comm, op->peer);
	int is_there = 0, is_ahead = 0, is_behind = 0;

	if (op->peer < 0)
		return 0;
	if (!other)
		return !g->tails->any_skipped;
	if (has_messages(g, other))
		return 1;
	for (uint32_t i = 0; i < other->n_messages + other->n_open; i++) {
		const struct ct_hang_op *o = message_at(other, i);

		if (!is_other_end(op, history->me, o))
			continue;
		is_there |= o->seq == op->seq;
		is_ahead |= o->seq > op->seq;
		is_behind |= o->seq < op->seq;
	}
	return is_there || (is_behind && !is_ahead);
}

/* Nothing on a GPU was timed (COMMTRACE_TIMING=off): the earlier part has no durations, either. */
static int is_untimed(const struct ct_gather *g, const struct ct_comm *comm)
{
	for (uint32_t r = 0; r < comm->nranks; r++) {
		const struct ct_rank_history *member = ct_gather_member(g, comm, r);

		if (!member ||
		    g->model->processes[member->process].facts.cost.timed_by != CT_TIMED_BY_NOTHING)
			return 0;
	}
	return 1;
}

/* Does the tail show how long such operations usually take? */
static int is_usual(const struct ct_gather *g, const struct ct_rank_history *history,
		    const struct ct_hang_op *op)
{
	const struct ct_hang_class *class = ct_table_get(&g->classes,
							 ct_hang_class_key(history->comm, op->op));

	return !has_tail(g, history->process) || (class && class->took.n >= CT_LEAST_USUAL) ||
	       (!op->by_host && is_untimed(g, history->comm));
}

static int look_at(void *arg, struct ct_rank_history *history, struct ct_history_op *op)
{
	struct evidence_check *look = arg;
	const struct ct_gather *g = look->g;
	const enum ct_op_state state = op->op.state;
	const uint32_t comm = ct_gather_number(g, history->comm);

	if (state == CT_STATE_FINISHED || state == CT_STATE_ABORTED ||
	    (op->vague && ct_hang_may_have_ended(g, history, op)))
		return CT_OK;
	if (ct_op_class(op->op.op) == CT_CLASS_P2P) {
		look->is_short |= !is_known(g, history, &op->op);
		return CT_OK;
	}
	look->is_short |= !is_usual(g, history, &op->op);
	look->waited_in[comm] = 1;
	look->messages_made[comm] |= op->op.op == CT_OP_AllToAll || op->op.op == CT_OP_Gather ||
				     op->op.op == CT_OP_Scatter;
	return CT_OK;
}

/* Does the tail have fewer of the last collectives of this communicator than all records would, or,
 * if the library makes the collective of messages (tally.c), not the latest messages of the
 * program? 1, 0 or CT_NOMEM. */
static int lacks_history(const struct evidence_check *look, const struct ct_rank_history *history)
{
	const uint32_t comm = ct_gather_number(look->g, history->comm);

	if (look->messages_made[comm] && !has_messages(look->g, history)) {
		const int has = has_latest(history);

		if (has != 1)
			return has < 0 ? has : 1;
	}
	return look->waited_in[comm] && has_tail(look->g, history->process) &&
	       (history->before.from || !history->n_done) &&
	       history->n_done + history->n_open < CT_HANG_KEEP;
}

static int have_diverged(const struct ct_gather *g)
{
	for (uint32_t i = 0; i < g->n_orders; i++)
		if (g->orders[i].before_differs)
			return 1;
	return 0;
}

/* The records of calls that all members make together may be anywhere. */
static int is_in_common_call(const struct ct_gather *g)
{
	for (uint32_t i = 0; i < g->n_calls; i++)
		if (!g->calls[i].rec.return_ns && ct_host_call_meets(g->calls[i].kind))
			return 1;
	return 0;
}

/* Where a rank waits, members that are not known may be in segments that were not read. */
static int lacks_member(const struct evidence_check *look, const struct ct_rank_history *history)
{
	const struct ct_comm *comm = history->comm;

	if (!look->g->tails->any_skipped || !look->waited_in[ct_gather_number(look->g, comm)])
		return 0;
	for (uint32_t r = 0; r < comm->nranks; r++)
		if (!ct_gather_member(look->g, comm, r))
			return 1;
	return 0;
}

int ct_hang_is_enough(struct ct_gather *g)
{
	struct evidence_check look = { .g = g };
	int st = CT_OK;

	if (!g->tails)
		return 1;
	if (have_diverged(g) || is_in_common_call(g))
		return 0;
	look.waited_in = calloc(g->n_orders + 1u, 1);
	look.messages_made = calloc(g->n_orders + 1u, 1);
	st = look.waited_in && look.messages_made ? ct_gather_list_members(g) : CT_NOMEM;
	for (struct ct_rank_history *k = g->histories; k && st == CT_OK; k = k->next)
		st = ct_rank_history_each(k, look_at, &look);
	for (struct ct_rank_history *k = g->histories; k && st >= 0 && !look.is_short; k = k->next)
		look.is_short = (st = lacks_history(&look, k)) > 0 || lacks_member(&look, k);
	free(look.waited_in);
	free(look.messages_made);
	return st < 0 ? st : !look.is_short;
}

/* ---- calls that began before a tail ---- */

struct old_call {
	uint64_t enter_ns;
	uint32_t tid;
	int is_old; /* it began before the tail */
};

struct old_calls {
	struct old_call *all; /* the latest unreturned call of each thread */
	uint32_t n, cap;
};

static struct old_call *call_of(const struct old_calls *calls, uint32_t tid)
{
	for (uint32_t i = 0; i < calls->n; i++)
		if (calls->all[i].tid == tid)
			return &calls->all[i];
	return NULL;
}

/* A nonblocking call of NCCL (ncclInProgress) ends with a later record. */
static int take_call(struct old_calls *calls, const struct ct_host_rec *rec, int is_old)
{
	const int in_progress = 7; /* nccl.h */
	struct old_call *open = call_of(calls, rec->tid);

	if (rec->return_ns && rec->result != in_progress) {
		if (open && open->enter_ns == rec->enter_ns)
			*open = calls->all[--calls->n];
		return CT_OK;
	}
	if (open && open->enter_ns == rec->enter_ns)
		return CT_OK;
	if (!open) {
		if (ct_grow(&calls->all, &calls->cap, calls->n + 1, sizeof(*calls->all)) != CT_OK)
			return CT_NOMEM;
		open = &calls->all[calls->n++];
	}
	*open = (struct old_call){ .enter_ns = rec->enter_ns, .tid = rec->tid, .is_old = is_old };
	return CT_OK;
}

static int take_calls(struct old_calls *calls, const struct ct_block *block, int is_old)
{
	struct ct_host_rec rec;
	int st = CT_OK;

	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++) {
		const struct ct_rare *rare = &block->rares[i];

		if (rare->kind != CT_KIND_HOST_BEGIN && rare->kind != CT_KIND_HOST_END)
			continue;
		ct_rare_get(block, rare, &rec, sizeof(rec));
		st = take_call(calls, &rec, is_old);
	}
	/* a thread that calls something has left what it was in, however it did that */
	for (uint32_t i = 0; i < block->n_ops && calls->n; i++) {
		struct old_call *open = call_of(calls, block->ops[i].tid);

		if (open && open->enter_ns < block->ops[i].enter_ns)
			*open = calls->all[--calls->n];
	}
	return st;
}

/* skim: 0, or CT_SKIM_OPS. 1, 0, or a failure. */
static int has_old_call(const struct ct_gather *g, uint32_t process, uint32_t skim,
			struct ct_err *err)
{
	struct old_calls calls = { 0 };
	struct ct_process_reader *reader;
	const struct ct_block *block;
	int st = ct_process_open(g->run, process, &reader, err), more = 1, is_old = 0, in_tail = 0;

	if (st != CT_OK)
		return st;
	if (skim)
		ct_process_skim(reader, skim);
	while (st == CT_OK && more == 1) {
		more = ct_process_next(reader, &block, err);
		if (more != 1) {
			st = more;
			break;
		}
		/* the contents of the ring come last, and have no number */
		in_tail |= block->number >= g->tails->from[process];
		st = take_calls(&calls, block, !in_tail);
	}
	for (uint32_t i = 0; i < calls.n; i++)
		is_old |= calls.all[i].is_old;
	free(calls.all);
	ct_process_close(reader);
	return st == CT_OK ? is_old : st;
}

/* Operations show that threads have left calls: they are decoded only where there is one without a
 * return. */
static int is_in_old_call(const struct ct_gather *g, uint32_t process, struct ct_err *err)
{
	int st = has_old_call(g, process, CT_SKIM_OPS, err);

	return st == 1 ? has_old_call(g, process, 0, err) : st;
}

static int is_accused(const struct ct_hang_run *run, int rank)
{
	for (uint32_t v = 0; v < run->result->n_verdicts; v++) {
		const struct ct_hang_verdict *verdict = &run->result->verdicts[v];

		if (verdict->code == CT_HANG_IS_NEVER_ENTERED &&
		    ct_hang_is_among(rank, verdict->ranks, verdict->n_ranks))
			return 1;
	}
	return 0;
}

int ct_hang_is_sure(const struct ct_gather *g, const struct ct_hang_run *run, struct ct_err *err)
{
	for (uint32_t s = 0; g->tails && s < g->model->n_slots; s++) {
		const struct ct_rank_state *slot = &g->model->slots[s];
		int st;

		if (g->ranks[s] == UINT32_MAX || !has_tail(g, slot->process) ||
		    !is_accused(run, run->hang_case.ranks[g->ranks[s]].rank))
			continue;
		st = is_in_old_call(g, slot->process, err);
		if (st != 0)
			return st < 0 ? st : 0;
	}
	return 1;
}
