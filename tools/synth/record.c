/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/synth/noise.h"
#include "trace/block.h"
#include "trace/ops.h"
#include "trace/segment.h"

#define BLOCK_OPS 1024u /* a block is written when it has so many records */
#define STATUS_EVERY_NS 10000000000ull
#define HANG_AFTER_NS 30000000000ull
#define FIRST_PID 4000000u /* above any pid of a kernel with default settings */
#define POLL_NS 1000000u   /* how often a poll thread looks */
#define PLUGIN_NS 1024u	   /* a step of the GPU's timer */
#define ERR_LEAST_NS 500u  /* what an event's time is never better than */

/* Names of calls have the operation's number, or that of enum ct_play_host behind this. */
#define FIRST_HOST_CALL 250u

struct stamped { /* a rank's GPU */
	uint64_t jitter_ns;
	uint64_t n; /* times given */
	uint64_t last_ns[CT_PLAY_STREAMS];
};

struct process {
	struct ct_process id;
	struct ct_segment_writer segment;
	struct ct_block block;
	uint32_t n_blocks;
	uint64_t lap;
	uint64_t status_ns; /* of the job, when it last gave a sign of life */
	uint64_t last_ns;   /* latest time of the job on record */
	uint32_t alive;	    /* of its ranks */
	int first, host;    /* rank */
	int ends_in_order, is_over;
	int code;
	uint64_t end_ns;
	uint64_t calls, launches, untimed;
	double keep; /* of its file */
	int is_dropped;
	uint8_t named[256]; /* strings that are written, by id */
};

struct ct_synth_record {
	const struct ct_synth_options *o;
	const struct ct_workload *w;
	struct ct_synth_clocks *clocks;
	int dirfd, n_processes, ranks;
	struct process *processes;
	struct stamped *gpus;
	struct ct_encoder *encoder;
	struct ct_play_sink sink;
	struct ct_err *err;
};

static const char *const timings[] = { "events", "host", "plugin", "off", NULL };

const char *ct_synth_timing_name(unsigned timing)
{
	return timing < CT_SYNTH_TIMINGS ? timings[timing] : NULL;
}

static struct process *process_of(struct ct_synth_record *r, int rank)
{
	return &r->processes[rank / r->o->per_process];
}

static uint32_t gpu_of(const struct ct_synth_record *r, int rank)
{
	return (uint32_t)(rank % r->o->per_process);
}

static uint32_t comm_id(const struct ct_synth_record *r, int rank, int comm)
{
	return 1 + (uint32_t)comm * (uint32_t)r->o->per_process + gpu_of(r, rank);
}

static uint32_t launch_id(const struct ct_synth_record *r, int rank, uint32_t id)
{
	return id ? (id - 1) * (uint32_t)r->o->per_process + gpu_of(r, rank) + 1 : 0;
}

static uint32_t stream_id(const struct ct_synth_record *r, int rank, int stream)
{
	return stream < 0 ? 0 : gpu_of(r, rank) * CT_PLAY_STREAMS + (uint32_t)stream + 1;
}

static uint32_t thread_id(const struct ct_synth_record *r, int rank)
{
	return process_of((struct ct_synth_record *)(uintptr_t)r, rank)->id.pid +
	       gpu_of(r, rank) * 100000000u;
}

uint64_t ct_synth_comm_key(const struct ct_synth_options *o, int comm)
{
	return ct_noise_mix(o->job.seed ^ 0xc0de, (uint64_t)comm);
}

static uint64_t comm_key(const struct ct_synth_record *r, int comm)
{
	return ct_synth_comm_key(r->o, comm);
}

static uint64_t clock_of(struct ct_synth_record *r, const struct process *p, uint64_t at_ns)
{
	return ct_synth_clock(r->clocks, p->host, at_ns);
}

/* ---- blocks ---- */

static int flush(struct ct_synth_record *r, struct process *p, enum ct_block_type next)
{
	const void *bytes;
	size_t n;
	int st;

	if (p->is_dropped) {
		ct_block_reset(&p->block, next);
		return CT_OK;
	}
	p->block.number = p->n_blocks++;
	p->block.quantum_ns = CT_BLOCK_QUANTUM_NS;
	st = ct_block_encode(r->encoder, &p->block, &bytes, &n);
	if (st != CT_OK)
		return ct_fail(r->err, st, "%s", ct_status_text(st));
	st = ct_segment_append(&p->segment, bytes, n, r->err);
	ct_block_reset(&p->block, next);
	return st;
}

static int add_rare(struct ct_synth_record *r, struct process *p, enum ct_kind kind,
		    const void *data, size_t len)
{
	const int st = ct_block_add_rare(&p->block, kind, data, len);

	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}

static int add_status(struct ct_synth_record *r, struct process *p, uint64_t at_ns)
{
	const uint64_t now = clock_of(r, p, at_ns);
	const struct ct_status_rec status = { .beat_ns = now, .flushed_ns = now };
	const struct ct_clock_rec clock = {
		.monotonic_ns = now,
		.raw_ns = now,
		.realtime_ns = now + ct_synth_clock_real(r->clocks, p->host),
		.maxerror_ns = ct_synth_clock_maxerror(r->clocks, at_ns),
	};
	int st = add_rare(r, p, CT_KIND_STATUS, &status, sizeof(status));

	p->status_ns = at_ns;
	return st ? st : add_rare(r, p, CT_KIND_CLOCK, &clock, sizeof(clock));
}

static int add_cost(struct ct_synth_record *r, struct process *p)
{
	static const uint8_t by[] = { CT_TIMED_BY_EVENTS, CT_TIMED_BY_HOST, CT_TIMED_BY_PLUGIN,
				      CT_TIMED_BY_NOTHING };
	const uint64_t events = r->o->timing == CT_SYNTH_EVENTS ? 2
				: r->o->timing == CT_SYNTH_HOST ? 1
								: 0;
	/* Costs as docs/OVERHEAD.md has them; what counts here is that there are some. */
	const struct ct_cost_rec cost = {
		.calls = p->calls,
		.wrapper_ns = 250 * p->calls,
		.write_cpu_ns = 300 * p->calls + 1,
		.beat_cpu_ns = p->last_ns / 100000,
		.poll_cpu_ns = 1000 * p->launches,
		.bytes_written = p->segment.bytes,
		.gpu_events = events * p->launches,
		.launches_timed = r->o->timing == CT_SYNTH_EVENTS ? p->launches : 0,
		.timed_by = by[r->o->timing],
		.plugin_loaded = r->o->timing == CT_SYNTH_PLUGIN,
	};

	return add_rare(r, p, CT_KIND_COST, &cost, sizeof(cost));
}

/* Room for one more record, told at that moment; the process gives signs of life as it goes. */
static int room(struct ct_synth_record *r, struct process *p, uint64_t at_ns)
{
	p->last_ns = at_ns > p->last_ns ? at_ns : p->last_ns;
	if (ct_block_records(&p->block) >= BLOCK_OPS) {
		const int st = flush(r, p, CT_BLOCK_DATA);

		if (st)
			return st;
	}
	return at_ns >= p->status_ns + STATUS_EVERY_NS ? add_status(r, p, at_ns) : CT_OK;
}

/* The part of the ring that the next slot would come from. NULL: no memory. */
static struct ct_extent *extent(struct ct_synth_record *r, struct process *p, uint32_t tid)
{
	struct ct_extent *last = p->block.n_extents ? &p->block.extents[p->block.n_extents - 1]
						    : NULL;
	const struct ct_extent next = { .lap = p->lap + 1, .tid = tid };

	if (last && last->tid == tid && last->n_slots < CT_CHUNK_SLOTS)
		return last;
	p->lap++;
	if (ct_block_add_extent(&p->block, &next) != CT_OK) {
		ct_fail(r->err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
		return NULL;
	}
	return &p->block.extents[p->block.n_extents - 1];
}

static int name(struct ct_synth_record *r, struct process *p, uint32_t id, const char *text)
{
	int st;

	if (p->named[id])
		return CT_OK;
	p->named[id] = 1;
	st = ct_block_add_text(&p->block, CT_KIND_STRING, &id, sizeof(id), text);
	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}

/* ---- what the play tells ---- */

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

static int told_call(void *arg, int rank, const struct ct_play_call *call)
{
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);
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
	int st = room(r, p, call->return_ns);

	if (!st)
		st = name(r, p, op->op, call_name(op->op));
	slots = st ? NULL : extent(r, p, rec.tid);
	if (!slots)
		return st ? st : CT_NOMEM;
	slots->n_slots++;
	slots->n_ops++;
	p->calls++;
	st = ct_block_add_op(&p->block, &rec);
	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}

/* An event's time: late by what it takes until the GPU has noted it, never before the one before it on its stream. */
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
	const struct process *p = process_of(r, rank);
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

static int told_launch(void *arg, int rank, const struct ct_play_launch *l)
{
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);
	struct ct_launch rec = {
		.id = launch_id(r, rank, l->id),
		.comm = comm_id(r, rank, l->comm),
		.stream = stream_id(r, rank, l->stream),
		.device = gpu_of(r, rank),
		.n_ops = l->n_ops,
	};
	struct ct_extent *slots;
	int st;

	p->launches++;
	if (r->o->timing == CT_SYNTH_OFF)
		return CT_OK;
	st = room(r, p, l->end_ns);
	slots = st ? NULL : extent(r, p, thread_id(r, rank));
	if (!slots)
		return st ? st : CT_NOMEM;
	set_times(r, rank, l, &rec);
	slots->n_slots++;
	slots->n_launches++;
	st = ct_block_add_launch(&p->block, &rec);
	return st == CT_OK ? CT_OK : ct_fail(r->err, st, "%s", ct_status_text(st));
}

static int told_wait(void *arg, int rank, const struct ct_play_wait *w)
{
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);
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
	st = room(r, p, w->end_ns);
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
	return st ? st : add_rare(r, p, CT_KIND_WAIT, &rec, sizeof(rec));
}

static int told_stream(void *arg, int rank, const struct ct_play_stream *s)
{
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);
	const struct ct_wait_rec rec = {
		.issued_ns = clock_of(r, p, s->at_ns),
		.launch = launch_id(r, rank, s->launch),
		.waiter = stream_id(r, rank, s->stream),
		.tid = thread_id(r, rank),
		.flags = CT_WAIT_STREAM | (s->is_fed ? CT_WAIT_FED : 0),
		.device = gpu_of(r, rank),
	};
	const int st = room(r, p, s->at_ns);

	if (st || r->o->timing == CT_SYNTH_OFF)
		return st;
	return add_rare(r, p, CT_KIND_WAIT, &rec, sizeof(rec));
}

static int add_comm(struct ct_synth_record *r, int rank, int comm, uint64_t created_ns,
		    uint64_t ended_ns)
{
	const struct ct_workload_comm *about = ct_workload_comm(r->w, comm);
	struct process *p = process_of(r, rank);
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

	return add_rare(r, p, CT_KIND_COMM, &rec, sizeof(rec));
}

static int told_host(void *arg, int rank, const struct ct_play_host_call *c)
{
	static const char *const names[] = { "ncclCommInitRank", "ncclCommSplit", "ncclGroupEnd",
					     "ncclCommFinalize" };
	const int makes = c->call == CT_PLAY_INIT || c->call == CT_PLAY_SPLIT;
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);
	struct ct_host_rec rec = {
		.enter_ns = clock_of(r, p, c->enter_ns),
		.tid = thread_id(r, rank),
		.call = FIRST_HOST_CALL + (uint32_t)c->call,
		.rank = -1,
	};
	int st = room(r, p, c->return_ns ? c->return_ns : c->enter_ns);

	if (!st)
		st = name(r, p, rec.call, names[c->call]);
	if (c->comm >= 0) {
		rec.comm = comm_id(r, rank, c->comm);
		rec.key = comm_key(r, c->comm);
		rec.nranks = (uint32_t)ct_workload_comm(r->w, c->comm)->n;
		rec.rank = ct_workload_peer(r->w, c->comm, rank);
	}
	if (!st && !c->return_ns)
		return add_rare(r, p, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	rec.return_ns = clock_of(r, p, c->return_ns);
	if (!st && makes && c->comm >= 0)
		st = add_comm(r, rank, c->comm, c->return_ns, 0);
	return st ? st : add_rare(r, p, CT_KIND_HOST_END, &rec, sizeof(rec));
}

static int told_unmade(void *arg, int rank, int comm, uint64_t at_ns)
{
	struct ct_synth_record *r = arg;
	const int st = room(r, process_of(r, rank), at_ns);

	return st ? st : add_comm(r, rank, comm, 0, at_ns);
}

/* ---- the end ---- */

static int told_open(void *arg, int rank, const struct ct_play_launch *l)
{
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);
	struct ct_ring_open open = { .tag = (uint64_t)launch_id(r, rank, l->id) | 1ull << 32 };
	struct ct_open_launch_rec rec;

	if (p->is_over || r->o->timing == CT_SYNTH_OFF)
		return CT_OK;
	if (p->block.type != CT_BLOCK_STATUS) {
		const int st = flush(r, p, CT_BLOCK_STATUS);

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
	return add_rare(r, p, CT_KIND_OPEN_LAUNCH, &rec, sizeof(rec));
}

static int told_end(void *arg, int rank, enum ct_play_end end, int code, uint64_t at_ns)
{
	struct ct_synth_record *r = arg;
	struct process *p = process_of(r, rank);

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

static int cut(struct ct_synth_record *r, struct process *p)
{
	struct stat st;

	if (p->keep >= 1 || p->is_dropped)
		return CT_OK;
	if (fstat(p->segment.fd, &st) ||
	    ftruncate(p->segment.fd, (off_t)((double)st.st_size * p->keep)))
		return ct_fail(r->err, CT_IO, "cannot cut a segment off");
	return CT_OK;
}

static int end_process(struct ct_synth_record *r, struct process *p, uint64_t kill_ns)
{
	int st = CT_OK;

	if (p->ends_in_order) {
		const uint64_t end_ns = p->end_ns + 1000000;
		const struct ct_end_rec end = { .end_ns = clock_of(r, p, end_ns),
						.kind = CT_EXIT_NORMAL,
						.code = (uint32_t)p->code };

		st = flush(r, p, CT_BLOCK_END);
		st = st ? st : add_status(r, p, end_ns);
		st = st ? st : add_cost(r, p);
		st = st ? st : add_rare(r, p, CT_KIND_END, &end, sizeof(end));
	} else {
		/* Alive until it was killed: the last sign of life is no older than these are apart. */
		const uint64_t last = p->is_over ? p->end_ns : kill_ns;

		p->block.type = CT_BLOCK_STATUS;
		st = add_status(r, p, last);
		st = st ? st : add_cost(r, p);
	}
	st = st ? st : flush(r, p, CT_BLOCK_DATA);
	st = st ? st : cut(r, p);
	ct_segment_close(&p->segment);
	return st;
}

int ct_synth_record_finish(struct ct_synth_record *r, uint64_t kill_ns)
{
	int st = CT_OK;

	for (int i = 0; i < r->n_processes && !st; i++)
		st = end_process(r, &r->processes[i], kill_ns);
	return st;
}

/* ---- around it ---- */

static void identify(struct ct_synth_record *r, int process)
{
	const struct ct_synth_options *o = r->o;
	struct process *p = &r->processes[process];
	const int rank = process * o->per_process;
	struct ct_process *id = &p->id;
	const uint64_t started_ns = 1000000 +
				    (uint64_t)(1e7 * ct_noise_uniform(o->job.seed, CT_NOISE_START,
								      (uint64_t)rank, 1));

	p->first = rank;
	p->host = ct_workload_node(r->w, rank);
	p->alive = (uint32_t)o->per_process;
	p->keep = 1;
	*id = (struct ct_process){
		.hostkey = ct_noise_mix(o->job.seed, (uint64_t)p->host) | 1,
		.start_ns = clock_of(r, p, started_ns),
		.start_unix_ns = clock_of(r, p, started_ns) +
				 ct_synth_clock_real(r->clocks, p->host),
		.start_ticks = 1000 + (uint64_t)process,
		.hang_after_ns = HANG_AFTER_NS,
		.clock_res_ns = 1,
		.pid = FIRST_PID + (uint32_t)process,
		.ppid = 1,
		.rank = process,
		.world_size = r->n_processes,
		.local_rank = (rank - p->host * (o->job.ranks / o->job.nodes)) / o->per_process,
		.ring_kind = CT_RING_PRIVATE,
	};
	snprintf(id->host, sizeof(id->host), "node%d", p->host);
	snprintf(id->job, sizeof(id->job), "synth-%llu", (unsigned long long)o->job.seed);
	snprintf(id->boot_id, sizeof(id->boot_id), "%016llx", (unsigned long long)id->hostkey);
	snprintf(id->version, sizeof(id->version), "synth");
	snprintf(id->exe, sizeof(id->exe), "/usr/bin/python3");
	for (size_t i = 0; i < o->job.n_faults; i++) {
		const struct ct_fault *fault = &o->faults[i];

		if (fault->kind == CT_FAULT_DROP_TRACE && fault->rank / o->per_process == process)
			p->is_dropped = 1;
		if (fault->kind == CT_FAULT_TRUNCATE && fault->rank / o->per_process == process)
			p->keep = fault->keep;
	}
}

static int open_process(struct ct_synth_record *r, int process)
{
	struct process *p = &r->processes[process];
	int st = CT_OK;

	identify(r, process);
	ct_segment_init(&p->segment, &p->id, r->dirfd);
	p->segment.opened_ns = p->id.start_ns;
	if (!p->is_dropped)
		st = ct_segment_next(&p->segment, r->err);
	ct_block_reset(&p->block, CT_BLOCK_CHECKPOINT);
	st = st ? st : add_status(r, p, 1000000);
	return st ? st : flush(r, p, CT_BLOCK_DATA);
}

struct ct_synth_record *ct_synth_record_make(const struct ct_synth_options *o,
					     const struct ct_workload *w,
					     struct ct_synth_clocks *clocks, int dirfd,
					     struct ct_err *err)
{
	struct ct_synth_record *r = calloc(1, sizeof(*r));
	int st = CT_NOMEM;

	if (!r)
		goto fail;
	*r = (struct ct_synth_record){
		.o = o,
		.w = w,
		.clocks = clocks,
		.dirfd = dirfd,
		.ranks = o->job.ranks,
		.n_processes = o->job.ranks / o->per_process,
		.err = err,
		.sink = { .arg = r,
			  .host = told_host,
			  .unmade = told_unmade,
			  .call = told_call,
			  .stream = told_stream,
			  .launch = told_launch,
			  .wait = told_wait,
			  .open = told_open,
			  .end = told_end },
	};
	r->processes = calloc((size_t)r->n_processes, sizeof(*r->processes));
	r->gpus = calloc((size_t)r->ranks, sizeof(*r->gpus));
	r->encoder = ct_encoder_new();
	if (!r->processes || !r->gpus || !r->encoder)
		goto fail;
	for (int i = 0; i < r->ranks; i++)
		r->gpus[i].jitter_ns = (uint64_t)(1000 * o->jitter_us *
						  (0.1 + 0.9 * ct_noise_uniform(o->job.seed,
										CT_NOISE_JITTER,
										(uint64_t)i, 0)));
	st = CT_OK;
	for (int i = 0; i < r->n_processes && !st; i++)
		st = open_process(r, i);
	if (!st)
		return r;
fail:
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	ct_synth_record_free(r);
	return NULL;
}

const struct ct_play_sink *ct_synth_record_sink(struct ct_synth_record *r)
{
	return &r->sink;
}

void ct_synth_record_free(struct ct_synth_record *r)
{
	for (int i = 0; r && r->processes && i < r->n_processes; i++) {
		if (r->processes[i].id.pid)
			ct_segment_close(&r->processes[i].segment);
		ct_block_fini(&r->processes[i].block);
	}
	if (r) {
		free(r->processes);
		free(r->gpus);
		ct_encoder_free(r->encoder);
	}
	free(r);
}
