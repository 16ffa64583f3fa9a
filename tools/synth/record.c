/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/record.h"

#include <stdlib.h>
#include <string.h>

#include "tools/synth/noise.h"
#include "tools/synth/record_private.h"
#include "trace/ops.h"

#define POLL_NS 1000000u  /* how often a poll thread looks */
#define PLUGIN_NS 1024u	  /* a step of the GPU's timer */
#define ERR_LEAST_NS 500u /* what an event's time is never better than */

static const char *const timings[] = { "events", "host", "plugin", "off", NULL };

const char *ct_synth_timing_name(unsigned timing)
{
	return timing < CT_SYNTH_TIMINGS ? timings[timing] : NULL;
}

static const char *call_name(unsigned op)
{
	switch (op) {
	case CT_OP_AllReduce:
		return "ncclAllReduce";
	case CT_OP_Broadcast:
		return "ncclBroadcast";
	case CT_OP_Reduce:
		return "ncclReduce";
	case CT_OP_AllGather:
		return "ncclAllGather";
	case CT_OP_ReduceScatter:
		return "ncclReduceScatter";
	case CT_OP_AllToAll:
		return "ncclAlltoAll";
	case CT_OP_Send:
		return "ncclSend";
	case CT_OP_Recv:
		return "ncclRecv";
	default:
		return "nccl";
	}
}

const char *ct_record_call_name(void *unused, uint32_t id)
{
	(void)unused;
	return id < FIRST_HOST_CALL ? call_name(id) : NULL;
}

/* What the process has entered. */
static void note_call(struct recorded_process *p, const struct ct_op *op)
{
	struct ct_comm_status_rec *rec = &p->comms[op->comm].rec;

	rec->comm = op->comm;
	rec->last_op = op->op;
	rec->last_enter_ns = op->enter_ns;
	if (ct_op_class(op->op) != CT_CLASS_P2P && op->seq >= rec->next_seq)
		rec->next_seq = op->seq + 1;
}

static int on_call(void *arg, int rank, const struct ct_play_call *call)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	const struct ct_workload_op *op = call->op;
	const struct ct_op rec = {
		.enter_ns = clock_of(r, p, call->enter_ns),
		.return_ns = clock_of(r, p, call->return_ns),
		.count = op->count,
		.seq = call->seq,
		.comm = comm_id(r, rank, op->comm),
		.launch = launch_id(r, rank, call->launch),
		.peer = op->peer,
		.tid = thread_id(r, rank),
		.call = op->op,
		.op = op->op,
		.dtype = op->dtype,
		.redop = op->redop,
		.flags = r->o->timing == CT_SYNTH_OFF ? CT_OP_UNTIMED : 0,
	};
	struct ct_extent *slots;
	int st = ct_record_room(r, p, call->return_ns);

	st = st ?: ct_record_name(r, p, op->op, call_name(op->op));
	slots = st ? NULL : ct_record_extent(r, p, rec.tid);
	if (!slots)
		return st ? st : CT_NOMEM;
	slots->n_slots++;
	slots->n_ops++;
	p->calls++;
	p->called_ns = rec.return_ns;
	note_call(p, &rec);
	st = ct_block_add_op(&p->block, &rec);
	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}

/* An event's time: late by what it takes until the GPU has noted it, never before the one before it
 * on its stream. */
static uint64_t event_ns(struct ct_synth_record *r, int rank, int stream, uint64_t at_ns)
{
	struct stamped *gpu = &r->gpus[rank];
	uint64_t *last = &gpu->last_ns[stream];

	at_ns += (uint64_t)((double)gpu->jitter_ns * ct_noise_uniform(r->o->job.seed,
								      CT_NOISE_STAMP,
								      (uint64_t)rank, gpu->n++));
	*last = at_ns > *last ? at_ns : *last;
	return *last;
}

/* Between two polls. */
static uint64_t polled_ns(const struct ct_synth_record *r, int rank, uint64_t at_ns)
{
	const uint64_t phase = (uint64_t)(POLL_NS * ct_noise_uniform(r->o->job.seed, CT_NOISE_POLL,
								     (uint64_t)rank, 0));

	return (at_ns + phase) / POLL_NS * POLL_NS - phase + POLL_NS / 2;
}

static void set_times(struct ct_synth_record *r, int rank, const struct ct_play_launch *l,
		      struct ct_launch *rec)
{
	const struct recorded_process *p = process_of(r, rank);
	const uint32_t err = (uint32_t)r->gpus[rank].jitter_ns + ERR_LEAST_NS;
	uint64_t start = 0, end;

	switch (r->o->timing) {
	case CT_SYNTH_EVENTS:
		start = event_ns(r, rank, l->stream, l->reached_ns);
		end = event_ns(r, rank, l->stream, l->end_ns);
		rec->start_err_ns = rec->end_err_ns = err;
		rec->start_source = rec->end_source = CT_SOURCE_EVENT;
		break;
	case CT_SYNTH_PLUGIN:
		start = l->start_ns + PLUGIN_NS - l->start_ns % PLUGIN_NS;
		end = l->end_ns + PLUGIN_NS - l->end_ns % PLUGIN_NS;
		rec->start_err_ns = rec->end_err_ns = err + PLUGIN_NS;
		rec->start_source = rec->end_source = CT_SOURCE_PLUGIN;
		break;
	default:
		end = polled_ns(r, rank, l->end_ns);
		end = end > l->issued_ns ? end : l->issued_ns + 1;
		rec->end_err_ns = POLL_NS / 2;
		rec->end_source = CT_SOURCE_POLL;
		break;
	}
	rec->start_ns = start ? clock_of(r, p, start) : 0;
	rec->end_ns = clock_of(r, p, end);
}

static int on_launch(void *arg, int rank, const struct ct_play_launch *l)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	struct ct_launch rec = {
		.id = launch_id(r, rank, l->id),
		.comm = comm_id(r, rank, l->comm),
		.stream = stream_id(r, rank, l->stream),
		.device = gpu_of(r, rank),
		.n_ops = l->n_ops,
	};
	int st;

	p->launches++;
	if (r->o->timing == CT_SYNTH_OFF)
		return CT_OK;
	st = ct_record_room(r, p, l->end_ns);
	if (st)
		return st;
	set_times(r, rank, l, &rec);
	if (p->n_held == p->cap_held) {
		const uint32_t cap = p->cap_held ? 2 * p->cap_held : 64;
		struct ct_launch *more = realloc(p->held, cap * sizeof(*more));

		if (!more)
			return ct_fail(r->err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
		p->held = more;
		p->cap_held = cap;
	}
	p->held[p->n_held++] = rec;
	return CT_OK;
}

static int on_wait(void *arg, int rank, const struct ct_play_wait *w)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	struct ct_wait_rec rec = {
		.launch = launch_id(r, rank, w->launch),
		.after = launch_id(r, rank, w->after),
		.waiter = stream_id(r, rank, w->waiter),
		.via = stream_id(r, rank, w->via),
		.tid = thread_id(r, rank),
	};
	int st;

	if (r->o->timing == CT_SYNTH_OFF || (r->o->timing != CT_SYNTH_EVENTS && !w->is_host))
		return CT_OK;
	st = ct_record_room(r, p, w->end_ns);
	if (w->is_host) {
		rec.flags = CT_WAIT_HOST;
		rec.begin_ns = clock_of(r, p, w->begin_ns);
		rec.issued_ns = clock_of(r, p, w->end_ns);
	} else {
		rec.flags = (w->others ? CT_WAIT_OTHERS : 0) |
			    (w->has_launched ? CT_WAIT_LAUNCHES : 0);
		rec.begin_ns = clock_of(r, p, event_ns(r, rank, w->waiter, w->begin_ns));
		rec.issued_ns = clock_of(r, p, w->issued_ns);
		rec.begin_err_ns = (uint32_t)r->gpus[rank].jitter_ns + ERR_LEAST_NS;
		rec.device = gpu_of(r, rank);
	}
	return st ? st : ct_record_rare(r, p, CT_KIND_WAIT, &rec, sizeof(rec));
}

static int on_stream(void *arg, int rank, const struct ct_play_stream *s)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	const struct ct_stream_rec rec = {
		.stream = stream_id(r, rank, s->stream),
		.flags = s->is_fed ? CT_STREAM_FED : 0,
	};
	const int st = ct_record_room(r, p, s->at_ns);

	if (st || r->o->timing == CT_SYNTH_OFF)
		return st;
	r->gpus[rank].streams[s->stream] = rec;
	return ct_record_rare(r, p, CT_KIND_STREAM, &rec, sizeof(rec));
}

static int add_comm(struct ct_synth_record *r, int rank, int comm, uint64_t created_ns,
		    uint64_t ended_ns)
{
	const struct ct_workload_comm *about = ct_workload_comm(r->w, comm);
	struct recorded_process *p = process_of(r, rank);
	const struct ct_comm_rec rec = {
		.id = comm_id(r, rank, comm),
		.nranks = (uint32_t)about->n,
		.rank = ct_workload_peer(r->w, comm, rank),
		.key = comm_key(r, comm),
		.parent = about->parent >= 0 ? comm_key(r, about->parent) : 0,
		.created_ns = clock_of(r, p, created_ns),
		.ended_ns = ended_ns ? clock_of(r, p, ended_ns) : 0,
		.backend = CT_BACKEND_NCCL,
		.key_source = CT_KEY_LIBRARY,
		.device = (uint16_t)(gpu_of(r, rank) + 1),
	};

	p->comms[rec.id].is_made = !ended_ns;
	p->comms[rec.id].comm = rec;
	p->comms[rec.id].rec.comm = rec.id;
	return ct_record_rare(r, p, CT_KIND_COMM, &rec, sizeof(rec));
}

static int on_host(void *arg, int rank, const struct ct_play_host_call *c)
{
	static const char *const names[] = { "ncclCommInitRank", "ncclCommSplit", "ncclGroupEnd",
					     "ncclCommFinalize" };
	const int makes = c->call == CT_PLAY_INIT || c->call == CT_PLAY_SPLIT;
	const int about = c->parent >= 0 ? c->parent : c->comm;
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	struct ct_host_rec rec = {
		.enter_ns = clock_of(r, p, c->enter_ns),
		.tid = thread_id(r, rank),
		.call = FIRST_HOST_CALL + (uint32_t)c->call,
		.rank = -1,
	};
	int st = ct_record_room(r, p, c->return_ns ? c->return_ns : c->enter_ns);

	st = st ?: ct_record_name(r, p, rec.call, names[c->call]);
	if (about >= 0) {
		/* what is being made has no number yet */
		rec.comm = c->call == CT_PLAY_INIT && !c->return_ns ? 0 : comm_id(r, rank, about);
		rec.key = comm_key(r, about);
		rec.nranks = (uint32_t)ct_workload_comm(r->w, about)->n;
		rec.rank = ct_workload_peer(r->w, about, rank);
	}
	if (!st && !c->return_ns)
		return ct_record_rare(r, p, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	rec.return_ns = clock_of(r, p, c->return_ns);
	if (!st && makes && c->comm >= 0)
		st = add_comm(r, rank, c->comm, c->return_ns, 0);
	return st ? st : ct_record_rare(r, p, CT_KIND_HOST_END, &rec, sizeof(rec));
}

static int on_unmade(void *arg, int rank, int comm, uint64_t at_ns)
{
	struct ct_synth_record *r = arg;
	const int st = ct_record_room(r, process_of(r, rank), at_ns);

	return st ? st : add_comm(r, rank, comm, 0, at_ns);
}

static int on_error(void *arg, int rank, int comm, uint64_t at_ns)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	const struct ct_error_rec rec = {
		.reported_ns = clock_of(r, p, at_ns),
		.key = comm_key(r, comm),
		.comm = comm_id(r, rank, comm),
		.tid = thread_id(r, rank),
		.call = ERROR_CALL,
		.text = ERROR_TEXT,
		.result = 6, /* fact: ncclRemoteError */
		.flags = CT_ERROR_ASYNC,
		.backend = CT_BACKEND_NCCL,
	};
	int st = ct_record_room(r, p, at_ns);

	st = st ?: ct_record_name(r, p, ERROR_CALL, "ncclCommGetAsyncError");
	/* the library's own words for this result */
	st = st
		     ?: ct_record_name(r, p, ERROR_TEXT,
				       "remote process exited or there was a network error");
	return st ? st : ct_record_rare(r, p, CT_KIND_ERROR, &rec, sizeof(rec));
}

static int on_open(void *arg, int rank, const struct ct_play_launch *l)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);
	struct ct_ring_open open = { .tag = (uint64_t)launch_id(r, rank, l->id) | 1ull << 32 };
	struct ct_open_launch_rec rec;

	if (p->is_over || r->o->timing == CT_SYNTH_OFF)
		return CT_OK;
	if (p->block.type != CT_BLOCK_STATUS) {
		const int st = ct_record_flush(r, p, CT_BLOCK_STATUS);

		if (st)
			return st;
	}
	open.opened_ns = clock_of(r, p, l->issued_ns);
	open.start_ns = l->reached_ns && r->o->timing != CT_SYNTH_HOST
				? clock_of(r, p, event_ns(r, rank, l->stream, l->reached_ns))
				: 0;
	open.comm_op = (uint64_t)comm_id(r, rank, l->comm) << 32 | (uint64_t)l->n_ops << 8 |
		       l->first->op;
	open.seq = l->first_seq;
	open.stream = (uint64_t)stream_id(r, rank, l->stream) << 32 | gpu_of(r, rank);
	open.peer = (uint32_t)l->first->peer;
	open.bytes = l->first->count * ct_workload_dtype_bytes(l->first->dtype);
	_Static_assert(sizeof(rec) == sizeof(open), "a record is the entry");
	memcpy(&rec, &open, sizeof(rec));
	return ct_record_rare(r, p, CT_KIND_OPEN_LAUNCH, &rec, sizeof(rec));
}

static int on_end(void *arg, int rank, enum ct_play_end end, int code, uint64_t at_ns)
{
	struct ct_synth_record *r = arg;
	struct recorded_process *p = process_of(r, rank);

	p->end_ns = at_ns > p->end_ns ? at_ns : p->end_ns;
	/* One that ends takes its process with it. */
	if (end == CT_PLAY_EXITED || end == CT_PLAY_DIED) {
		p->alive = 0;
		p->is_over = 1;
		p->ends_in_order = end == CT_PLAY_EXITED;
		p->code = end == CT_PLAY_EXITED ? code : 0;
	} else if (end == CT_PLAY_THROUGH && p->alive) {
		p->alive--;
		p->is_over = p->ends_in_order = !p->alive;
	}
	return CT_OK;
}

void ct_record_listen(struct ct_synth_record *r)
{
	r->sink = (struct ct_play_sink){
		.arg = r,
		.host = on_host,
		.unmade = on_unmade,
		.error = on_error,
		.call = on_call,
		.stream = on_stream,
		.launch = on_launch,
		.wait = on_wait,
		.open = on_open,
		.end = on_end,
	};
}
