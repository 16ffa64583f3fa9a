/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the last operations of each rank while the stream reads its process. */
#include "analyzer/hang/gather.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/model/process_exit.h"
#include "trace/op_hash.h"
#include "trace/ops.h"

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0x6e1f;

	for (; *text; text++)
		hash = ct_mix(hash ^ (uint8_t)*text);
	return hash;
}

const char *ct_gather_text(struct ct_gather *g, const char *text)
{
	uint64_t hash;
	const char *known;

	if (!text)
		return NULL;
	hash = hash_of(text);
	known = ct_table_get(&g->texts, hash);
	if (known && strcmp(known, text) == 0)
		return known;
	known = ct_arena_printf(g->memory, "%s", text);
	if (known && ct_table_put(&g->texts, hash, (void *)(uintptr_t)known) != CT_OK)
		return NULL;
	return known;
}

/* The drift of a host's clock is known up to its last operation with other hosts. From then on its
 * error grows, and after a long hang the time of day may be more accurate. */
uint64_t ct_gather_err(const struct ct_gather *g, uint32_t process)
{
	const struct ct_starts *starts = g->model->starts;
	const struct ct_process_facts *facts = &g->model->processes[process].facts;
	uint64_t sign_ns = g->processes[process].last_heartbeat_ns, at, of_day, ref_ns, err = 0;
	uint32_t host = ct_gather_host_of(g, process);
	int is_set = !facts->wall_unset && facts->clocks;

	if (host == g->host)
		return 0;
	if (!ct_clocks_at(starts->clocks, host, sign_ns, &ref_ns, &err))
		return is_set ? facts->wall_err_ns : CT_GATHER_ERR_UNSET;
	at = ref_ns + starts->hosts[g->host].unix_minus_mono;
	of_day = sign_ns + starts->hosts[host].unix_minus_mono;
	of_day = (at > of_day ? at - of_day : of_day - at) + facts->wall_err_ns;
	return is_set && of_day < err ? of_day : err;
}

struct ct_hang_reading *ct_gather_reading(struct ct_gather *g, uint32_t process)
{
	struct ct_hang_process *p = &g->processes[process];

	if (!p->reading)
		p->reading = calloc(1, sizeof(*p->reading));
	return p->reading;
}

/* ---- communicators ---- */

static int on_comm(void *arg, const struct ct_stream *stream, uint32_t process,
		   const struct ct_load_comm *comm, uint32_t slot)
{
	struct ct_gather *g = arg;
	struct ct_rank_history *history = ct_gather_history(g, process, comm->rec.id);

	(void)stream;
	if (history)
		return CT_OK;
	history = ct_arena_calloc(g->scratch, 1, sizeof(*history));
	if (!history)
		return CT_NOMEM;
	history->comm = comm->user;
	history->slot = slot;
	history->process = process;
	history->id = comm->rec.id;
	history->me = comm->rec.rank;
	if (g->tails)
		history->before = ct_hang_tails_before(g->tails, process, comm->rec.id,
						       comm->rec.key, comm->rec.nranks);
	history->issued = history->before.from;
	history->next = g->processes[process].histories;
	g->processes[process].histories = history;
	return ct_table_put(&g->by_id, (uint64_t)process << 32 | comm->rec.id, history);
}

/* Most operations are of the same communicator as the one before them. */
static struct ct_rank_history *history_of(const struct ct_gather *g, uint32_t process,
					  const struct ct_load_comm *comm)
{
	struct ct_hang_reading *reading = g->processes[process].reading;

	if (!comm)
		return NULL;
	if (!reading->latest || reading->latest->id != comm->rec.id)
		reading->latest = ct_gather_history(g, process, comm->rec.id);
	return reading->latest;
}

/* ---- operations ---- */

static struct ct_hang_class *class_of(struct ct_gather *g, struct ct_rank_history *history,
				      unsigned op)
{
	uint64_t key = ct_hang_class_key(history->comm, op);
	struct ct_hang_class *class;

	if (history->class && history->class_op == op)
		return history->class;
	class = ct_table_get(&g->classes, key);
	if (!class) {
		class = calloc(1, sizeof(*class));
		if (!class || ct_table_put(&g->classes, key, class) != CT_OK) {
			free(class);
			return NULL;
		}
	}
	history->class = class;
	history->class_op = op;
	return class;
}

static uint64_t stream_key(uint32_t process, uint32_t stream)
{
	return (uint64_t)process << 32 | stream;
}

static int note_stream(struct ct_gather *g, uint32_t process, uint32_t stream, uint64_t end_ns)
{
	struct ct_hang_reading *reading = g->processes[process].reading;
	uint64_t key = stream_key(process, stream);
	struct ct_hang_stream *s = reading->stream;

	if (!s || s->stream != stream)
		s = ct_table_get(&g->streams, key);
	if (!s) {
		s = ct_arena_calloc(g->scratch, 1, sizeof(*s));
		if (!s || ct_table_put(&g->streams, key, s) != CT_OK)
			return CT_NOMEM;
		s->stream = stream;
	}
	reading->stream = s;
	if (end_ns > s->end_ns)
		s->end_ns = end_ns;
	return CT_OK;
}

/* Records a completed operation: its duration, and the progress of its stream. */
static int note_end(struct ct_gather *g, const struct ct_joined_op *j, struct ct_rank_history *k,
		    const struct ct_hang_op *op)
{
	uint64_t begin = j->start_ns ? j->start_ns : j->op->enter_ns;
	struct ct_hang_class *class = class_of(g, k, op->op);

	if (!class)
		return CT_NOMEM;
	if (j->end_ns > begin && ct_hist_add(&class->took, j->end_ns - begin) != CT_OK)
		return CT_NOMEM;
	return op->stream ? note_stream(g, k->process, op->stream, j->end_ns) : CT_OK;
}

struct ct_history_op ct_gather_history_op(const struct ct_load_op *in, int varying)
{
	const struct ct_joined_op *j = &in->joined;
	const struct ct_op *o = j->op;
	int has_stream = j->stream || j->device || j->backend == CT_BACKEND_NCCL;
	struct ct_history_op out = {
		.op = {
			.seq = o->seq,
			.count = ct_op_count(o),
			.bytes = j->bytes,
			.call = j->call,
			.site = j->site,
			.enter_ns = o->enter_ns,
			.tag = o->tag,
			.peer = o->peer,
			.stream = o->launch && has_stream ? ct_gather_stream(j->stream, j->device)
						  : 0,
			.launch = o->launch,
			.thread = o->tid,
			.op = o->op,
			.dtype = o->dtype,
			.redop = o->redop,
			.by_host = j->backend != CT_BACKEND_NCCL && !j->stream,
			.graph = o->op == CT_OP_GraphLaunch,
			.varying = varying != 0,
			.start_unseen = (o->flags & CT_OP_UNTIMED) != 0,
			.state = j->state,
		},
		.end_ns = j->end_ns,
		.return_ns = o->return_ns,
		.failed = j->state == CT_STATE_ERROR,
		.failed_ns = j->state != CT_STATE_ERROR ? 0
			     : j->end_ns > o->return_ns ? j->end_ns
						       : o->return_ns,
	};

	return out;
}

static int add_to_sums(struct ct_rank_history *history, const struct ct_joined_op *j,
		       uint8_t varying)
{
	const struct ct_op *o = j->op;
	const struct ct_op_called called = { .bytes = j->bytes,
					     .root = o->peer,
					     .op = o->op,
					     .dtype = o->dtype,
					     .redop = o->redop,
					     .varying = varying };
	uint64_t what = ct_op_hash(&called);

	if (o->seq < history->before.cut) {
		ct_hang_before_add(&history->before, o->seq, what);
		return CT_OK;
	}
	return ct_hang_sums_add(&history->sums, o->seq, what);
}

static int on_op(void *arg, const struct ct_stream *stream, const struct ct_op_event *event)
{
	struct ct_gather *g = arg;
	const struct ct_load_op *in = event->op;
	const struct ct_joined_op *j = &in->joined;
	struct ct_hang_process *process = &g->processes[event->process];
	struct ct_hang_reading *reading = ct_gather_reading(g, event->process);
	enum ct_op_class class = ct_op_class(j->op->op);
	struct ct_rank_history *history;
	struct ct_history_op op;

	(void)stream;
	if (!reading)
		return CT_NOMEM;
	ct_gather_entered(reading, j->op->tid, j->op->enter_ns);
	if (reading->n_open_calls)
		ct_gather_leave_calls(reading, j->op->tid, j->op->enter_ns);
	if (j->stream)
		process->device = j->device;
	if (j->start_source == CT_SOURCE_EVENT || j->start_source == CT_SOURCE_PLUGIN ||
	    (in->open && CT_OPEN_WORD(in->open, start_ns)))
		process->has_starts = 1;
	history = history_of(g, event->process, in->comm);
	/* a captured operation runs with its graph; one without peers waits for no rank */
	if (!history || j->op->flags & CT_OP_CAPTURED || history->comm->nranks == 1 ||
	    class == CT_CLASS_LOCAL || class == CT_CLASS_UNKNOWN)
		return CT_OK;
	op = ct_gather_history_op(in, event->member->varying);
	if (class != CT_CLASS_P2P && j->op->seq >= history->issued)
		history->issued = j->op->seq + 1;
	if (class != CT_CLASS_P2P && add_to_sums(history, j, op.op.varying) != CT_OK)
		return CT_NOMEM;
	/* the duration of a failed operation is not typical: it includes the wait for the failure
	 */
	if (j->end_ns && !op.failed && note_end(g, j, history, &op.op) != CT_OK)
		return CT_NOMEM;
	if (ct_load_is_under_way(in))
		return ct_rank_history_open(history, &op);
	op.vague = j->state == CT_STATE_RETURNED || j->state == CT_STATE_STARTED;
	return class == CT_CLASS_P2P ? ct_rank_history_message(history, &op)
				     : ct_rank_history_done(history, &op);
}

static int on_reached(void *arg, const struct ct_stream *stream, uint32_t process,
		      const struct ct_load_comm *comm, const struct ct_comm_status_rec *rec)
{
	struct ct_rank_history *history = ct_gather_history(arg, process, comm->rec.id);

	(void)stream;
	if (history && rec->next_seq > history->reached.next_seq)
		history->reached = *rec;
	return CT_OK;
}

/* ---- a process ---- */

static int keep_texts(void *arg, struct ct_rank_history *history, struct ct_history_op *op)
{
	struct ct_gather *g = arg;
	const char *call = op->op.call, *site = op->op.site;

	(void)history;
	op->op.call = ct_gather_text(g, call);
	op->op.site = ct_gather_text(g, site);
	return (call && !op->op.call) || (site && !op->op.site) ? CT_NOMEM : CT_OK;
}

int ct_gather_keep_texts(struct ct_gather *g, struct ct_rank_history *history)
{
	return ct_rank_history_each(history, keep_texts, g);
}

static int number_comm(struct ct_gather *g, const struct ct_comm *comm)
{
	if (ct_grow_zeroed(&g->numbers, &g->cap_numbers, comm->index + 1, sizeof(*g->numbers)))
		return CT_NOMEM;
	if (g->numbers[comm->index])
		return CT_OK;
	if (ct_grow(&g->orders, &g->cap_orders, g->n_orders + 1, sizeof(*g->orders)) ||
	    ct_grow(&g->comms, &g->cap_comms, g->n_orders + 1, sizeof(*g->comms)))
		return CT_NOMEM;
	g->comms[g->n_orders] = comm;
	ct_hang_order_init(&g->orders[g->n_orders]);
	g->numbers[comm->index] = ++g->n_orders;
	return CT_OK;
}

static struct ct_rank_history *reversed(struct ct_rank_history *list)
{
	struct ct_rank_history *out = NULL;

	while (list) {
		struct ct_rank_history *next = list->next;

		list->next = out;
		out = list;
		list = next;
	}
	return out;
}

/* In order of creation; the list has the latest first. */
static int number_comms(struct ct_gather *g, struct ct_hang_process *p)
{
	int st = CT_OK;

	p->histories = reversed(p->histories);
	for (const struct ct_rank_history *k = p->histories; k && st == CT_OK; k = k->next)
		st = number_comm(g, k->comm);
	p->histories = reversed(p->histories);
	return st;
}

/* Number the communicators of processes, and compare what they called with the processes before: in
 * the order of processes, as soon as all before one have been read. So the result does not depend
 * on how they are read. */
static int take_in(struct ct_gather *g)
{
	int st = CT_OK;

	for (; g->next < g->run->n_processes && st == CT_OK; g->next++) {
		struct ct_hang_process *p = &g->processes[g->next];
		int is_due = g->model->starts->processes[g->next].restart == g->model->restart;

		if (is_due && !p->was_read)
			break;
		st = number_comms(g, p);
		for (struct ct_rank_history *k = p->histories; k && st == CT_OK; k = k->next) {
			struct ct_hang_order *order = &g->orders[ct_gather_number(g, k->comm)];

			if (k->issued > k->sums.after)
				k->sums.after = k->issued;
			ct_hang_order_before(order, &k->before);
			st = ct_hang_order_take(order, &k->sums);
		}
	}
	return st;
}

static void fini_reading(struct ct_hang_process *p)
{
	if (p->reading)
		free(p->reading->open_calls);
	free(p->reading);
	p->reading = NULL;
}

/* Called before the process's strings are freed. */
static int end_process(struct ct_gather *g, uint32_t process)
{
	struct ct_hang_process *p = &g->processes[process];
	int st = CT_OK;

	for (struct ct_rank_history *k = p->histories; k && st == CT_OK; k = k->next)
		st = ct_gather_keep_texts(g, k);
	st = st ?: ct_gather_end_calls(g, process);
	ct_gather_end_stacks(g, process);
	fini_reading(p);
	p->was_read = 1;
	st = st ?: take_in(g);
	if (g->options.progress)
		g->options.progress(g->options.progress_arg, ++g->n_read, g->run->n_processes);
	return st;
}

static int on_block(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_load *load, int ended)
{
	(void)stream;
	(void)load;
	return ended ? end_process(arg, process) : CT_OK;
}

/* The last heartbeat of the process, and how far its records are complete. */
static void describe(struct ct_gather *g, uint32_t process)
{
	const struct ct_process_info *info = &g->run->processes[process];
	const struct ct_model_process *read = &g->model->processes[process];
	const struct ct_process_facts *facts = &read->facts;
	const struct ct_exit_facts ending = ct_model_exit_facts(g->model, process);
	struct ct_hang_process *p = &g->processes[process];
	int has_ring = info->ring != CT_RING_NOT_FOUND && !read->gaps.ring_unread;

	p->end = ending.end;
	p->manner = ct_exit_of(&ending).manner;
	p->last_heartbeat_ns = ending.last_heartbeat_ns;
	/* a ring has everything; segments alone have what was written by then */
	p->until_ns = facts->last_ns > facts->beat_ns ? facts->last_ns : facts->beat_ns;
	if (has_ring || p->end.how == CT_END_CLEAN)
		p->until_ns = p->last_heartbeat_ns;
	/* records of a running process with a ring stay complete, even if it is stopped */
	if (info->ring == CT_RING_PRESENT && p->end.how == CT_END_RUNNING)
		p->until_ns = UINT64_MAX;
	p->damaged = ending.damaged;
	p->lost = ending.cut;
	if (facts->cost.timed_by == CT_TIMED_BY_EVENTS ||
	    facts->cost.timed_by == CT_TIMED_BY_PLUGIN)
		p->has_starts = 1;
}

/* ---- all of them ---- */

static int on_begin(void *arg, struct ct_stream *stream)
{
	struct ct_gather *g = arg;

	g->model = &stream->model;
	g->run = stream->model.run;
	g->processes = calloc(g->run->n_processes + 1, sizeof(*g->processes));
	return g->processes ? CT_OK : CT_NOMEM;
}

/* The host whose clock is the reference; without synchronized clocks, that of the first process. */
static uint32_t host_of_clock(const struct ct_model *model)
{
	const struct ct_starts *starts = model->starts;

	if (starts->clocks)
		return ct_clocks_reference(starts->clocks);
	for (size_t p = 0; p < model->run->n_processes; p++)
		if (starts->processes[p].restart == model->restart)
			return starts->processes[p].host;
	return 0;
}

static int on_end(void *arg, struct ct_stream *stream)
{
	struct ct_gather *g = arg;

	g->host = host_of_clock(&stream->model);
	for (size_t p = 0; p < g->run->n_processes; p++) {
		struct ct_rank_history *last = g->processes[p].histories;

		if (!ct_gather_has(g, (uint32_t)p))
			continue;
		describe(g, (uint32_t)p);
		if (!last)
			continue;
		while (last->next)
			last = last->next;
		last->next = g->histories;
		g->histories = g->processes[p].histories;
		g->processes[p].histories = NULL;
	}
	return CT_OK;
}

void ct_hang_observe(struct ct_gather *g, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .begin = on_begin,
					  .op = on_op,
					  .comm = on_comm,
					  .host = ct_gather_host,
					  .error = ct_gather_error,
					  .reached = on_reached,
					  .stack = ct_gather_stack,
					  .block = on_block,
					  .end = on_end,
					  .arg = g };
}

static void fini_histories(struct ct_rank_history *history)
{
	for (; history; history = history->next)
		ct_rank_history_fini(history);
}

void ct_hang_log_free(struct ct_gather *g)
{
	if (!g)
		return;
	fini_histories(g->histories);
	for (size_t p = 0; g->processes && p < g->run->n_processes; p++) {
		fini_histories(g->processes[p].histories);
		fini_reading(&g->processes[p]);
	}
	for (size_t i = 0; i < g->classes.cap; i++) {
		struct ct_hang_class *class = g->classes.slots[i].value;

		if (class)
			ct_hist_fini(&class->took);
		free(class);
	}
	for (uint32_t i = 0; i < g->n_orders; i++)
		ct_order_blocks_fini(&g->orders[i].all);
	ct_table_fini(&g->by_id);
	ct_table_fini(&g->classes);
	ct_table_fini(&g->streams);
	ct_table_fini(&g->members);
	ct_table_fini(&g->texts);
	ct_comms_fini(&g->called);
	ct_arena_free(g->scratch);
	free(g->numbers);
	free(g->orders);
	free(g->wants);
	free(g->ranks);
	free(g->comms);
	free(g->processes);
	free(g->calls);
	free(g->torn_down);
	free(g);
}

struct ct_gather *ct_hang_log_new(const struct ct_hang_options *options, struct ct_arena *memory)
{
	struct ct_gather *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	if (options)
		g->options = *options;
	g->memory = memory;
	g->scratch = ct_arena_new();
	if (!g->scratch || ct_comms_init(&g->called) != CT_OK) {
		ct_hang_log_free(g);
		return NULL;
	}
	return g;
}
