/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/stats.h"
#include "analyzer/load/graphs.h"
#include "analyzer/stream/judge_private.h"
#include "trace/call_name.h"
#include "trace/ops.h"

/* size: in-flight ops that are kept for the report. */
#define CT_STREAM_MAX_UNRETURNED 4096u

static int is_on_one_host(const struct ct_model *model, const struct ct_comm *comm)
{
	for (uint32_t r = 0; r < comm->nranks && comm->n_known == comm->nranks; r++) {
		if (model->host_of[comm->slots[r] - 1] != model->host_of[comm->slots[0] - 1])
			return 0;
	}
	return comm->n_known == comm->nranks && !comm->clash;
}

int ct_stream_comm(void *arg, struct ct_load_comm *comm)
{
	struct ct_reading *reading = arg;
	struct ct_comm *registered;
	uint32_t slot;
	int st = ct_stream_slot(reading, comm, &slot);

	st = st
		     ?: ct_comms_add(&reading->stream->model.comms, &comm->rec, comm->name, slot,
				     &registered);
	if (st != CT_OK)
		return st;
	comm->user = registered;
	registered->on_one_host = is_on_one_host(&reading->stream->model, registered);
	reading->stream->model.slots[slot].muddled |= registered->shared_slot &&
						      ct_comm_is_shared(registered, slot);
	return ct_observe_comm(reading->stream, reading->process, comm, slot);
}

/* The latest end up to `until`; 0 none. */
static uint64_t latest_of(const struct ct_history *history, uint64_t until)
{
	uint64_t latest = 0;

	for (unsigned i = 0; i < CT_HISTORY; i++) {
		uint64_t end = history->ends[i];

		latest = end <= until && end > latest ? end : latest;
	}
	return latest;
}

/* How long the slot had been in no communication when it started this: since the latest end of one.
 * What ended as it started, as far as the error of that shows, ended before: mostly it was waited
 * for. */
static uint64_t free_before(const struct ct_activity *activity, const struct ct_member *m)
{
	const struct ct_history *history = &activity->history;
	uint64_t until = m->start_ns + m->start_err_ns, latest = history->latest_ns;

	if (latest > until)
		latest = latest_of(history, until);
	/* A GPU goes on computing while its host is in a call, such as the one that ends a group. */
	if (activity->calls.from_ns && !m->on_gpu) {
		uint64_t end = ct_calls_ended(&activity->calls, m->start_ns + m->start_err_ns);

		latest = end > latest ? end : latest;
	}
	if (!latest)
		return UINT64_MAX;
	return m->start_ns > latest ? m->start_ns - latest : 0;
}

static void remember(struct ct_history *history, uint64_t end_ns)
{
	uint64_t *oldest = &history->ends[history->next++ % CT_HISTORY], forgotten = *oldest;

	*oldest = end_ns;
	if (end_ns >= history->latest_ns)
		history->latest_ns = end_ns;
	else if (forgotten == history->latest_ns)
		history->latest_ns = latest_of(history, UINT64_MAX);
}

/* Does no other rank take part? Then it synchronizes nothing, and counts as compute. */
static int is_alone(const struct ct_load_op *op)
{
	const struct ct_op *o = op->joined.op;

	if (!op->comm)
		return 0;
	if (op->comm->rec.nranks == 1)
		return 1;
	return ct_op_class(o->op) == CT_CLASS_P2P && o->peer >= 0 &&
	       o->peer == op->comm->rec.rank && !(op->launch && op->launch->n_ops > 1);
}

static uint32_t error_of(uint64_t err_ns)
{
	return err_ns < UINT32_MAX ? (uint32_t)err_ns : UINT32_MAX;
}

int ct_stream_keep(struct ct_stream *stream, const char *call, struct ct_unreturned **out)
{
	struct ct_model *model = &stream->model;
	const char *name = NULL;

	*out = NULL;
	if (model->n_unreturned == CT_STREAM_MAX_UNRETURNED)
		return CT_OK;
	if (ct_grow(&model->unreturned, &model->cap_unreturned, model->n_unreturned + 1,
		    sizeof(*model->unreturned)))
		return CT_NOMEM;
	if (call) {
		name = ct_arena_printf(model->memory, "%s", call);
		if (ct_arena_failed(model->memory))
			return CT_NOMEM;
	}
	*out = &model->unreturned[model->n_unreturned++];
	**out = (struct ct_unreturned){ .call = name };
	return CT_OK;
}

static int keep_unreturned(struct ct_stream *stream, const struct ct_load_op *op, uint32_t slot)
{
	struct ct_unreturned *kept;

	if (ct_stream_keep(stream, op->joined.call, &kept) != CT_OK)
		return CT_NOMEM;
	if (!kept)
		return CT_OK;
	kept->op = *op->joined.op;
	kept->launched = op->joined.state != CT_STATE_ENTERED;
	/* what runs on a GPU has a stream there */
	kept->by_host = op->joined.backend != CT_BACKEND_NCCL &&
			!(op->open && CT_OPEN_WORD(op->open, stream));
	kept->process = op->joined.process_index;
	kept->slot = slot;
	kept->comm = op->comm ? op->comm->user : NULL;
	return CT_OK;
}

/* Operations without partners of their own: a row, nothing to match. */
static int add_local(struct ct_stream *stream, struct ct_comm *comm, const struct ct_member *m)
{
	struct ct_class *class;

	if (ct_stream_skips_member(stream, m))
		return CT_OK;
	class = ct_classes_get(&stream->model.classes, comm, CT_ALONE, m->op, m->dtype, m->bytes);
	if (!class)
		return CT_NOMEM;
	class->instances++;
	if (__builtin_add_overflow(class->bytes, m->bytes, &class->bytes))
		class->bytes = CT_UNKNOWN;
	return m->start_ns && m->end_ns >= m->start_ns && !m->group
		       ? ct_hist_add(&class->span, m->end_ns - m->start_ns)
		       : CT_OK;
}

static int match(struct ct_stream *stream, const struct ct_load_op *op, struct ct_member *m)
{
	struct ct_comm *comm = op->comm->user;
	const struct ct_op *o = op->joined.op;
	int32_t me = op->comm->rec.rank;

	if (o->op == CT_OP_GraphLaunch && ct_orders_graph(&stream->order.orders, comm) != CT_OK)
		return CT_NOMEM;
	/* One whose list is not known to make ranks wait for one another shows nothing of the
	 * others. */
	if (o->op == CT_OP_GraphLaunch && (!op->joined.graph || !op->joined.graph->n_sync))
		return ct_judge_alone(stream, add_local(stream, comm, m), m->group);
	switch (ct_op_class(o->op)) {
	case CT_CLASS_SYNC:
	case CT_CLASS_ROOTED:
		m->index = (uint32_t)me;
		if (ct_orders_called(&stream->order.orders, comm, o->seq, m) != CT_OK)
			return CT_NOMEM;
		return ct_match_collective(stream->match, comm, o->seq, m);
	case CT_CLASS_P2P:
		if (o->peer < 0 || (uint32_t)o->peer >= comm->nranks)
			break;
		m->index = o->op == CT_OP_Recv;
		return ct_match_message(stream->match, comm, m->index ? o->peer : me,
					m->index ? me : o->peer, o->tag, o->seq, m);
	case CT_CLASS_LOCAL:
	case CT_CLASS_UNKNOWN:
		break;
	}
	return ct_judge_alone(stream, add_local(stream, comm, m), m->group);
}

/* Has it work whose time ought to be known? Not what is under way, runs when its graph does, or is
 * no work. */
static int lacks_time(const struct ct_load_op *op)
{
	const struct ct_joined_op *j = &op->joined;

	if (j->op->flags & CT_OP_CAPTURED || op->open)
		return 0;
	if (j->backend == CT_BACKEND_NCCL && (!j->op->launch || ct_op_is_empty_collective(j->op)))
		return 0;
	return j->state == CT_STATE_FINISHED || j->state == CT_STATE_RETURNED ||
	       j->state == CT_STATE_STARTED;
}

/* ---- launches ---- */

/* Of a group that exchanges with every other rank, a number that is the same on all ranks: how many
 * there were before. Where reading begins in the middle of the run, it begins elsewhere on each
 * rank. Then it is the number of the message from rank 0, and on rank 0 that of the one to rank 1.
 */
static uint64_t exchange_number(const struct ct_stream *stream, const struct ct_load_op *op,
				struct ct_comm *comm)
{
	const struct ct_load_launch *launch = op->launch;
	const int32_t me = op->comm->rec.rank, peer = me == 0;
	const unsigned wanted = me == 0 ? CT_OP_Send : CT_OP_Recv;

	for (uint32_t i = 0; stream->options.from && i < launch->n; i++) {
		if (launch->ops[i].op == wanted && launch->ops[i].peer == peer)
			return launch->ops[i].seq;
	}
	return comm->exchanges[me]++;
}

/* What the launch of this op, its first, holds beside it. */
static int begin_launch(struct ct_reading *reading, const struct ct_load_op *op,
			struct ct_member *m)
{
	struct ct_stream *stream = reading->stream;
	struct ct_comm *comm = op->comm->user;
	struct ct_activity *activity = &stream->activities[m->slot];
	struct ct_group_shape shape;

	reading->launch_has_begun = 1;
	if (op->launch && op->launch->n_ops > 1) {
		const struct ct_load_launch *l = op->launch;

		ct_group_shape(l->ops, l->n, l->n_ops, comm->nranks, op->comm->rec.rank, &shape);
		reading->group = ct_group_new(&stream->groups, &shape,
					      l->n + (shape.kind == CT_GROUP_EXCHANGE));
		if (!reading->group)
			return CT_NOMEM;
	}
	reading->free_ns = UINT64_MAX;
	if (m->alone) {
		/* ends nothing and hides nothing */
	} else if (m->start_ns) {
		if (!activity->holes && !stream->options.only_matched)
			reading->free_ns = free_before(activity, m);
		remember(&activity->history, m->end_ns);
		/* what came before it on its communicator is over */
		activity->holes -= (uint32_t)op->comm->hole;
		op->comm->hole = 0;
	} else if (lacks_time(op)) {
		activity->holes += !op->comm->hole;
		op->comm->hole = 1;
	}
	if (reading->group) {
		reading->group->comm = comm;
		reading->group->n_ops = op->launch->n_ops;
		reading->group->due = op->launch->n;
		reading->group->member = *m;
		reading->group->member.free_ns = reading->free_ns;
		if (shape.kind == CT_GROUP_EXCHANGE)
			reading->group->number = exchange_number(stream, op, comm);
	}
	return CT_OK;
}

/* All messages of an exchange have gone to the matcher: now it goes itself. */
static int match_exchange(struct ct_stream *stream, const struct ct_load_op *op,
			  struct ct_group *group)
{
	struct ct_member m = group->member;

	m.group = group;
	m.index = (uint32_t)op->comm->rec.rank;
	m.op = CT_OP_AllToAll;
	m.bytes = group->shape.bytes;
	m.root = -1;
	return ct_match_exchange(stream->match, group->comm, group->number, &m);
}

/* An all-to-all's count is what goes to one peer, that of its v-form what goes to all of them. */
static uint64_t total_bytes(const struct ct_load_op *op, const struct ct_member *m,
			    const struct ct_comm *comm)
{
	if (m->op == CT_OP_GraphLaunch)
		return op->joined.graph ? op->joined.graph->total_bytes : 0;
	return ct_op_total_bytes(m->op, m->count, m->dtype,
				 m->varying && m->op == CT_OP_AllToAll ? 1 : comm->nranks);
}

static int add_op(struct ct_reading *reading, const struct ct_load_op *op, uint64_t bytes,
		  struct ct_member *m)
{
	struct ct_stream *stream = reading->stream;
	struct ct_comm *comm = op->comm->user;
	const struct ct_load_launch *launch = op->launch;
	uint32_t at = op->joined.launch_at;
	struct ct_group *group;
	int exchange;
	int st = launch && reading->launch_has_begun ? CT_OK : begin_launch(reading, op, m);

	if (st != CT_OK)
		return st;
	group = launch ? reading->group : NULL;
	/* All of a launch is of one communicator; if the trace says otherwise, whose time it was is
	 * not known. */
	if (group && group->comm != comm) {
		group = NULL;
		m->start_ns = m->end_ns = 0;
	}
	m->group = group;
	m->free_ns = reading->free_ns;
	m->bytes = bytes;
	m->leads = group && at == group->shape.lead;
	exchange = group && group->shape.kind == CT_GROUP_EXCHANGE && at + 1 == launch->n;
	/* The matcher may hand out and free what it gets. */
	st = match(stream, op, m);
	if (st == CT_OK && exchange)
		st = match_exchange(stream, op, group);
	return st;
}

/* ---- what every op adds to its rank ---- */

static int add_times(struct ct_reading *reading, const struct ct_load_op *op, struct ct_member *m)
{
	struct ct_rank_state *slot = &reading->stream->model.slots[m->slot];
	const struct ct_joined_op *j = &op->joined;
	int first = !op->launch || j->launch_at == 0;
	int has_end = j->end_source != CT_SOURCE_NONE;
	int counts = !ct_stream_skips(reading->stream, m->slot, j->start_ns ?: m->enter_ns);

	if (first && counts && (has_end || lacks_time(op))) {
		slot->launches++;
		slot->timed += has_end;
	}
	/* What failed took as long as it took to fail. */
	if (j->state == CT_STATE_FINISHED && j->start_ns && j->end_ns >= j->start_ns) {
		m->start_ns = j->start_ns;
		m->end_ns = j->end_ns;
		m->start_err_ns = error_of(j->start_err_ns);
		m->end_err_ns = error_of(j->end_err_ns);
		m->on_gpu = j->start_source == CT_SOURCE_EVENT ||
			    j->start_source == CT_SOURCE_PLUGIN;
		if (first && counts)
			ct_left_out_timed(&slot->left_out, j->op->enter_ns);
		/* a graph computes as well: how long it communicates is not known */
		if (m->op == CT_OP_GraphLaunch)
			slot->unmeasured += (uint64_t)counts;
		else if (first)
			return ct_stream_call(reading, op, m);
	} else if (first && counts && lacks_time(op)) {
		ct_rank_set_hides_waits(slot, j->backend);
		/* a request without a wait: its call is known */
		if (ct_rank_records_waits(slot, j->backend) && j->start_source == CT_SOURCE_CALL)
			ct_stream_busy(reading->stream, slot, j->op->enter_ns, j->op->return_ns);
		else if (j->backend == CT_BACKEND_NCCL)
			ct_left_out_untimed(&slot->left_out, j->op->enter_ns, 1);
		else
			slot->unmeasured++;
	}
	return CT_OK;
}

/* From when to when the process has operations, as a timeline shows them: what never ended counts
 * up to its begin, what ended without a known start up to the return of its call. */
static void note_times(struct ct_model_process *process, const struct ct_joined_op *j)
{
	uint64_t first = j->op->enter_ns, last = j->op->enter_ns;

	if (j->start_ns && j->start_ns < first)
		first = j->start_ns;
	if (j->op->return_ns > last)
		last = j->op->return_ns;
	if (j->start_ns && j->end_ns > last)
		last = j->end_ns;
	if (!process->last_ns || first < process->first_ns)
		process->first_ns = first;
	if (last > process->last_ns)
		process->last_ns = last;
}

static void note_act(struct ct_model_process *process, const struct ct_joined_op *j)
{
	uint64_t at = j->op->enter_ns > j->op->return_ns ? j->op->enter_ns : j->op->return_ns;

	at = j->end_ns > at ? j->end_ns : at;
	if (at < process->last_act_ns)
		return;
	process->last_act_ns = at;
	process->failed_ns = j->state == CT_STATE_ERROR ? at : 0;
}

/* Texts of a process have one address each. */
static const struct ct_reading_call *call_of(struct ct_reading *reading, const char *name)
{
	struct ct_reading_call *call = &reading->names[(uintptr_t)name / 16 % CT_READING_NAMES];

	if (call->name != name)
		*call = (struct ct_reading_call){ name, (uint8_t)ct_call_is_varying(name),
						  (uint8_t)ct_call_is_two_way(name) };
	return call;
}

/* size: matching is for clocks then, and operations within a host relate none. The first of a
 * communicator, and then every eighth, show how far its ranks see one end apart (the self-test).
 * Their numbers are the same on all members. */
#define FIRST_OF_HOST 128u
#define THEN_OF_HOST 8u

static int need_not_match(const struct ct_stream *stream, const struct ct_load_op *op)
{
	const struct ct_comm *comm = op->comm ? op->comm->user : NULL;

	return stream->options.only_matched && comm && comm->on_one_host &&
	       comm->backend == CT_BACKEND_NCCL && !(op->launch && op->launch->n_ops > 1) &&
	       op->joined.op->seq >= FIRST_OF_HOST && op->joined.op->seq % THEN_OF_HOST;
}

int ct_stream_op(void *arg, const struct ct_load_op *op)
{
	struct ct_reading *reading = arg;
	const struct ct_reading_call *call = call_of(reading, op->joined.call);
	struct ct_stream *stream = reading->stream;
	uint32_t at = reading->slots[op->comm ? op->comm->local : 0];
	struct ct_rank_state *slot = &stream->model.slots[at];
	const struct ct_joined_op *j = &op->joined;
	/* what the host begins it times, also where it only looks when something is over */
	enum ct_timing timing = ct_timing_of(j->start_source == CT_SOURCE_CALL ? CT_SOURCE_CALL
									       : j->end_source);
	struct ct_member m = {
		.enter_ns = j->op->enter_ns,
		.count = ct_op_count(j->op),
		.stream = j->stream,
		.slot = at,
		.root = j->op->peer,
		.tid = j->op->tid,
		.op = j->op->op,
		.dtype = j->op->dtype,
		.redop = j->op->redop,
		.varying = call->varying,
		.state = (uint8_t)j->state,
		.captured = (j->op->flags & CT_OP_CAPTURED) != 0,
		.alone = (uint8_t)is_alone(op),
		/* of two ranks the other half has the same partner */
		.shared = op->comm && op->comm->rec.nranks > 2 && call->two_way,
		.free_ns = UINT64_MAX,
	};

	struct ct_op_event event = { .process = reading->process, .op = op, .member = &m };
	int aside = need_not_match(stream, op), st;

	if (aside && !stream->on_op.n)
		return CT_OK;
	if (!op->launch || j->launch_at == 0) {
		reading->group = NULL;
		reading->launch_has_begun = 0;
	}
	if (ct_sites_get(&stream->order.sites, &reading->sites, j->site, &m.site) != CT_OK)
		return CT_NOMEM;
	stream->model.ops++;
	note_times(&stream->model.processes[reading->process], j);
	note_act(&stream->model.processes[reading->process], j);
	event.comm = op->comm ? op->comm->user : NULL;
	if (stream->options.only_ops || aside) {
		slot->ops += !m.captured;
		return ct_observe_op(stream, &event);
	}
	event.bytes = event.comm ? total_bytes(op, &m, event.comm) : 0;
	/* What is captured runs with its graph, under the graph's numbers. */
	if (m.captured) {
		st = j->state == CT_STATE_ENTERED ? keep_unreturned(stream, op, at) : CT_OK;
		return st == CT_OK ? ct_observe_op(stream, &event) : st;
	}
	if (!ct_stream_skips(stream, at, j->start_ns ?: m.enter_ns)) {
		slot->ops++;
		slot->bytes = ct_plus(slot->bytes, j->bytes);
	}
	slot->timing = timing > slot->timing ? timing : slot->timing;
	if (ct_load_is_under_way(op) && keep_unreturned(stream, op, at) != CT_OK)
		return CT_NOMEM;
	if (add_times(reading, op, &m) != CT_OK)
		return CT_NOMEM;
	st = ct_observe_op(stream, &event);
	return st == CT_OK && op->comm ? add_op(reading, op, event.bytes, &m) : st;
}
