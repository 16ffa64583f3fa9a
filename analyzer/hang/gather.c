/* SPDX-License-Identifier: Apache-2.0 */
/* One reading of each process: what its records say of the last operations, one process after the other. */
#include "analyzer/hang/gather.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/model/call_kind.h"
#include "analyzer/model/call_name.h"
#include "analyzer/model/process_exit.h"
#include "analyzer/order/order.h"
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

/* ---- seats ---- */

static int grow_seats(struct ct_gather *g, uint32_t n)
{
	struct ct_hang_seat *seats = reallocarray(g->seats, n + 1, sizeof(*seats));

	if (!seats)
		return CT_NOMEM;
	g->seats = seats;
	for (; g->n_seats < n; g->n_seats++)
		seats[g->n_seats] = (struct ct_hang_seat){ .rank = -1 };
	return CT_OK;
}

/* The seat of one of the process's ranks; -1: out of memory. */
static int64_t seat_of(struct ct_gather *g, uint32_t local)
{
	int64_t seat = ct_attempts_seat(&g->attempts, g->process, local);
	struct ct_hang_seat *s;

	if (seat < 0 || (g->attempts.n_seats > g->n_seats && grow_seats(g, g->attempts.n_seats)))
		return -1;
	s = &g->seats[seat];
	if (local || !s->is_used) {
		s->host = g->attempts.places[g->process].host;
		s->process = g->process;
		s->local = local;
		s->is_used = 1;
	}
	return seat;
}

/* ---- communicators ---- */

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	struct ct_gather *g = arg;
	struct ct_hang_kept *kept = comm->user;
	int64_t seat = seat_of(g, comm->local);
	struct ct_comm *registered;

	if (seat < 0 ||
	    ct_comms_add(&g->comms, &comm->rec, comm->name, (uint32_t)seat, &registered) != CT_OK)
		return CT_NOMEM;
	if (kept)
		return CT_OK;
	kept = ct_arena_calloc(g->scratch, 1, sizeof(*kept));
	if (!kept)
		return CT_NOMEM;
	kept->comm = registered;
	kept->seat = (uint32_t)seat;
	kept->process = g->process;
	kept->me = comm->rec.rank;
	kept->next = g->kept;
	g->kept = kept;
	comm->user = kept;
	return ct_table_put(&g->by_id, (uint64_t)g->process << 32 | comm->rec.id, kept);
}

uint32_t ct_gather_comm(struct ct_gather *g, const struct ct_host_rec *rec)
{
	const struct ct_comm_rec made = {
		.id = 1, .nranks = rec->nranks, .rank = rec->rank, .key = rec->key
	};
	struct ct_comm *comm;
	int64_t seat;

	if (!rec->key || !rec->nranks || rec->nranks > CT_COMM_MAX_RANKS || rec->rank < 0 ||
	    (uint32_t)rec->rank >= rec->nranks)
		return UINT32_MAX;
	comm = ct_comms_get(&g->comms, rec->key, rec->nranks);
	if (comm && comm->seats[rec->rank])
		return comm->index;
	seat = seat_of(g, 0);
	if (seat < 0 || ct_comms_add(&g->comms, &made, NULL, (uint32_t)seat, &comm) != CT_OK)
		return UINT32_MAX;
	return comm->index;
}

/* ---- operations ---- */

static struct ct_hang_class *class_of(struct ct_gather *g, const struct ct_comm *comm, unsigned op)
{
	uint64_t key = (uint64_t)comm->index << 8 | op;
	struct ct_hang_class *class = ct_table_get(&g->classes, key);

	if (!class) {
		class = calloc(1, sizeof(*class));
		if (!class || ct_table_put(&g->classes, key, class) != CT_OK) {
			free(class);
			return NULL;
		}
	}
	return class;
}

static uint64_t stream_key(uint32_t process, uint32_t stream)
{
	return (uint64_t)process << 32 | stream;
}

static int note_stream(struct ct_gather *g, uint32_t stream, uint64_t end_ns)
{
	uint64_t key = stream_key(g->process, stream);
	struct ct_hang_stream *s = ct_table_get(&g->streams, key);

	if (!s) {
		s = ct_arena_calloc(g->scratch, 1, sizeof(*s));
		if (!s || ct_table_put(&g->streams, key, s) != CT_OK)
			return CT_NOMEM;
	}
	if (end_ns > s->end_ns)
		s->end_ns = end_ns;
	return CT_OK;
}

/* What its end tells of its like, and of its stream. */
static int note_end(struct ct_gather *g, const struct ct_joined_op *j, const struct ct_comm *comm,
		    const struct ct_hang_op *op)
{
	uint64_t begin = j->start_ns ? j->start_ns : j->op->enter_ns;
	struct ct_hang_class *class = class_of(g, comm, op->op);

	if (!class)
		return CT_NOMEM;
	if (j->end_ns > begin && ct_hist_add(&class->took, j->end_ns - begin) != CT_OK)
		return CT_NOMEM;
	return op->stream ? note_stream(g, op->stream, j->end_ns) : CT_OK;
}

struct ct_hang_kept_op ct_gather_kept_op(const struct ct_load_op *in)
{
	const struct ct_joined_op *j = &in->joined;
	const struct ct_op *o = j->op;
	int has_stream = j->stream || j->device || j->backend == CT_BACKEND_NCCL;
	struct ct_hang_kept_op out = {
		.op = {
			.seq = o->seq,
			.count = o->count,
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
			.varying = (uint8_t)ct_call_is_varying(j->call),
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

/* Is it not known to have ended, and known not to have? */
static int is_under_way(const struct ct_load_op *op)
{
	enum ct_op_state state = op->joined.state;

	return state == CT_STATE_ENTERED ||
	       (op->open && (state == CT_STATE_RETURNED || state == CT_STATE_STARTED));
}

static void note_act(struct ct_hang_process *process, const struct ct_joined_op *j)
{
	uint64_t at = j->op->enter_ns > j->op->return_ns ? j->op->enter_ns : j->op->return_ns;

	if (j->end_ns > at)
		at = j->end_ns;
	if (at < process->last_act_ns)
		return;
	process->last_act_ns = at;
	process->failed_ns = j->state == CT_STATE_ERROR ? at : 0;
}

/* Texts of a process have one address each. */
static uint64_t site_of(struct ct_gather *g, const char *text)
{
	struct ct_hang_site *site = &g->sites[(uintptr_t)text / 16 % CT_HANG_SITES];

	if (!text)
		return 0;
	if (site->text != text)
		*site = (struct ct_hang_site){ text, hash_of(text) };
	return site->hash;
}

static int add_to_sums(struct ct_gather *g, struct ct_hang_kept *kept, const struct ct_joined_op *j,
		       uint8_t varying)
{
	const struct ct_op *o = j->op;
	const struct ct_member m = { .count = o->count,
				     .bytes = j->bytes,
				     .root = o->peer,
				     .op = o->op,
				     .dtype = o->dtype,
				     .redop = o->redop,
				     .varying = varying };

	return ct_hang_sums_add(&kept->sums, o->seq, ct_order_what(&m), site_of(g, j->site));
}

static int on_op(void *arg, const struct ct_load_op *in)
{
	struct ct_gather *g = arg;
	const struct ct_joined_op *j = &in->joined;
	struct ct_hang_process *process = &g->processes[g->process];
	struct ct_hang_kept *kept = in->comm ? in->comm->user : NULL;
	enum ct_op_class class = ct_op_class(j->op->op);
	struct ct_hang_kept_op op;

	process->ops++;
	ct_gather_entered(g, j->op->tid, j->op->enter_ns);
	note_act(process, j);
	if (g->n_open_calls)
		ct_gather_leave_calls(g, j->op->tid, j->op->enter_ns);
	if (j->stream)
		process->device = j->device;
	if (j->start_source == CT_SOURCE_EVENT || j->start_source == CT_SOURCE_PLUGIN ||
	    (in->open && CT_OPEN_WORD(in->open, start_ns)))
		process->has_starts = 1;
	if (!kept)
		return CT_OK;
	g->seats[kept->seat].ops++;
	/* what is captured runs with its graph; what has no partners waits for nobody */
	if (j->op->flags & CT_OP_CAPTURED || kept->comm->nranks == 1 || class == CT_CLASS_LOCAL ||
	    class == CT_CLASS_UNKNOWN)
		return CT_OK;
	if (class == CT_CLASS_P2P && g->channels &&
	    ct_hang_channels_add(g->channels, kept, in) != CT_OK)
		return CT_NOMEM;
	op = ct_gather_kept_op(in);
	if (class != CT_CLASS_P2P && j->op->seq >= kept->issued)
		kept->issued = j->op->seq + 1;
	if (class != CT_CLASS_P2P && add_to_sums(g, kept, j, op.op.varying) != CT_OK)
		return CT_NOMEM;
	/* what failed took as long as somebody waited, not as long as its like take */
	if (j->end_ns && !op.failed && note_end(g, j, kept->comm, &op.op) != CT_OK)
		return CT_NOMEM;
	if (is_under_way(in))
		return ct_hang_kept_open(kept, &op);
	op.vague = j->state == CT_STATE_RETURNED || j->state == CT_STATE_STARTED;
	return class == CT_CLASS_P2P ? ct_hang_kept_message(kept, &op)
				     : ct_hang_kept_done(kept, &op);
}

static int on_stack(void *arg, const uint8_t *bytes, size_t len)
{
	return ct_gather_stack(arg, bytes, len);
}

/* ---- a process ---- */

static int on_reached(void *arg, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec)
{
	struct ct_hang_kept *kept = comm->user;

	(void)arg;
	if (kept && rec->next_seq > kept->reached.next_seq)
		kept->reached = *rec;
	return CT_OK;
}

static int keep_texts(void *arg, struct ct_hang_kept *kept, struct ct_hang_kept_op *op)
{
	struct ct_gather *g = arg;
	const char *call = op->op.call, *site = op->op.site;

	(void)kept;
	op->op.call = ct_gather_text(g, call);
	op->op.site = ct_gather_text(g, site);
	return (call && !op->op.call) || (site && !op->op.site) ? CT_NOMEM : CT_OK;
}

int ct_gather_keep_texts(struct ct_gather *g, struct ct_hang_kept *kept)
{
	return ct_hang_kept_each(kept, keep_texts, g);
}

static struct ct_hang_order *order_of(struct ct_gather *g, const struct ct_comm *comm)
{
	if (comm->index >= g->cap_orders) {
		uint32_t cap = 2 * comm->index + 16;
		struct ct_hang_order *grown = reallocarray(g->orders, cap, sizeof(*grown));

		if (!grown)
			return NULL;
		g->orders = grown;
		g->cap_orders = cap;
	}
	for (; g->n_orders <= comm->index; g->n_orders++)
		ct_hang_order_init(&g->orders[g->n_orders]);
	return &g->orders[comm->index];
}

/* Before its process is closed. */
static int end_kept(struct ct_gather *g, struct ct_hang_kept *kept)
{
	struct ct_hang_order *order = order_of(g, kept->comm);

	if (!order || ct_hang_order_take(order, &kept->sums) != CT_OK)
		return CT_NOMEM;
	return ct_gather_keep_texts(g, kept);
}

static int is_cut(const struct ct_hang_process *p)
{
	uint64_t lost = (uint64_t)p->damaged;

	for (unsigned reason = 1; reason < CT_LOSS_MAX; reason++) {
		/* the oldest records matter least */
		if (reason != CT_LOSS_MAX_BYTES && ct_loss_is_of_records(reason))
			lost += p->gaps.losses[reason] + p->facts.losses[reason].records;
	}
	return lost != 0;
}

static int end_process(struct ct_gather *g)
{
	const struct ct_process_info *info = &g->run->processes[g->process];
	struct ct_hang_process *p = &g->processes[g->process];
	int st = CT_OK, has_ring;

	for (struct ct_hang_kept *k = g->kept; k && k->process == g->process && st == CT_OK;
	     k = k->next)
		st = end_kept(g, k);
	if (st != CT_OK || ct_gather_end_calls(g) != CT_OK ||
	    (g->channels && ct_hang_channels_end_process(g->channels) != CT_OK))
		return CT_NOMEM;
	ct_gather_stacks_end(g);
	p->facts = *ct_load_facts(g->load);
	p->facts.notes = NULL;
	p->gaps = *ct_load_gaps(g->load);
	has_ring = info->ring != CT_RING_NOT_FOUND && !p->gaps.ring_unread;
	p->end = ct_end_whole(info, &p->facts);
	p->ended_well = ct_end_is_well(&p->end);
	p->read = 1;
	p->last_sign_ns = p->facts.last_ns > p->facts.beat_ns ? p->facts.last_ns : p->facts.beat_ns;
	p->until_ns = p->last_sign_ns;
	/* a ring that is there has all; segments alone have what was written until then */
	if (info->last_beat_ns > p->last_sign_ns) {
		p->last_sign_ns = info->last_beat_ns;
		if (has_ring || p->end.how == CT_END_CLEAN)
			p->until_ns = p->last_sign_ns;
	}
	/* and of a process that is there it goes on having all, also if that is stopped */
	if (info->ring == CT_RING_PRESENT && p->end.how == CT_END_RUNNING)
		p->until_ns = UINT64_MAX;
	/* a torn end is what a kill leaves; its ring has what stood there */
	p->damaged = p->gaps.missing_blocks || p->gaps.damage.skipped_bytes ||
		     p->gaps.ring_unread || (p->gaps.damage.torn_bytes && !has_ring);
	p->lost = is_cut(p);
	if (p->facts.cost.timed_by == CT_TIMED_BY_EVENTS ||
	    p->facts.cost.timed_by == CT_TIMED_BY_PLUGIN)
		p->has_starts = 1;
	return CT_OK;
}

int ct_gather_process(struct ct_gather *g, const struct ct_load_sink *sink, struct ct_err *err)
{
	int st = ct_load_open(g->run, g->process, sink, &g->names, &g->load, err);

	if (st != CT_OK)
		return st;
	memset(g->sites, 0, sizeof(g->sites));
	ct_gather_stacks_begin(g);
	if (seat_of(g, 0) < 0)
		st = CT_NOMEM;
	while (st == CT_OK) {
		int got = ct_load_next(g->load, err);

		if (got == 0)
			break;
		st = got < 0 ? got : CT_OK;
	}
	if (st == CT_OK && !g->wants)
		st = end_process(g);
	for (struct ct_hang_kept *k = g->kept; g->wants && k && st == CT_OK; k = k->next) {
		if (k->process == g->process)
			st = ct_gather_keep_texts(g, k);
	}
	ct_load_close(g->load);
	g->load = NULL;
	return st;
}

/* ---- all of them ---- */

int ct_gather_read(struct ct_gather *g, const struct ct_hang_options *options, struct ct_err *err)
{
	const struct ct_load_sink sink = { .op = on_op,
					   .comm = on_comm,
					   .named = on_comm,
					   .host = ct_gather_host,
					   .error = ct_gather_error,
					   .reached = on_reached,
					   .stack = on_stack,
					   .arg = g };
	int *ranks = NULL;
	uint32_t n = 0;
	int st;

	if (ct_attempts_seats(g->run, &g->attempts, g->attempt, &ranks, &n) != CT_OK ||
	    grow_seats(g, n) != CT_OK) {
		free(ranks);
		return CT_NOMEM;
	}
	for (uint32_t s = 0; s < n; s++)
		g->seats[s].rank = ranks[s];
	free(ranks);
	g->processes = calloc(g->run->n_processes + 1, sizeof(*g->processes));
	g->shift = calloc(g->attempts.n_hosts + 1, sizeof(*g->shift));
	g->torn_down = calloc(g->attempts.n_hosts + 1, sizeof(*g->torn_down));
	if (!g->processes || !g->shift || !g->torn_down)
		return CT_NOMEM;
	ct_gather_set_begin(g);
	for (size_t p = 0; p < g->run->n_processes; p++) {
		if (g->attempts.places[p].attempt != g->attempt)
			continue;
		if (options && options->progress)
			options->progress(options->progress_arg, p, g->run->n_processes);
		g->process = (uint32_t)p;
		st = ct_gather_process(g, &sink, err);
		if (st != CT_OK)
			return st;
	}
	return ct_gather_name_seats(g);
}
