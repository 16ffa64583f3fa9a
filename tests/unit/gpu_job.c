/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/gpu_job.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/table.h"
#include "tools/workload/workload.h"
#include "trace/ops.h"

#define RANKS 16
#define COMMS 48
#define GROUP 64
#define EVENTS 4096
#define BEGIN_NS 50000000ull
#define CALL_NS 4000u
#define ALPHA_NS 8000.0
#define ERR_NS 2500u /* published of every time of a stream; each rank's clock is up to 2 us off */

/* One launch; its end is known when all its ops have met their partners. */
struct launch {
	int rank, comm;
	uint32_t id, n_ops, left;
	uint64_t start_ns, end_ns;
	struct ct_workload_op ops[GROUP];
	uint64_t enter_ns[GROUP];
	uint64_t seqs[GROUP];
	struct launch *next; /* all that there are */
};

/* An op on all its ranks. */
struct meeting {
	uint32_t n;
	struct {
		struct launch *launch;
		uint32_t op;
	} members[RANKS];
};

/* When a stream is done, or an event happens. */
struct moment {
	uint64_t ns;
	const struct launch *after; /* NULL: known */
};

struct player {
	struct ct_workload_rank *it;
	struct ct_action action;
	int more, in_group;
	uint64_t host_ns;
	struct moment streams[CT_STREAM_COMMS + COMMS];
	struct moment events[EVENTS];
	struct launch *group;
	uint64_t seq[COMMS], messages[COMMS][RANKS][2];
	int64_t clock_off_ns;
};

struct play {
	struct ct_workload *w;
	const struct gpu_job *o;
	struct player players[RANKS];
	struct ct_table meetings;
	struct launch *launches;
	uint32_t ids[RANKS];
	uint64_t end_ns;
};

static struct job job;

static double chance(uint64_t a, uint64_t b)
{
	return (double)(ct_mix(a ^ ct_mix(b)) >> 11) / 9007199254740992.0;
}

static int process_of(const struct play *p, int rank)
{
	return rank / (p->o->per_process ? p->o->per_process : 1);
}

static int gpu_of(const struct play *p, int rank)
{
	return rank % (p->o->per_process ? p->o->per_process : 1);
}

static uint32_t comm_id(const struct play *p, int comm, int rank)
{
	return 100 + (uint32_t)comm * RANKS + (uint32_t)gpu_of(p, rank);
}

/* ---- times ---- */

static int spans_nodes(const struct play *p, const struct ct_workload_comm *comm)
{
	return ct_workload_node(p->w, comm->first) !=
	       ct_workload_node(p->w, comm->first + (comm->n - 1) * comm->stride);
}

static double transfer_ns(const struct play *p, const struct ct_workload_op *op)
{
	const struct ct_workload_comm *comm = ct_workload_comm(p->w, op->comm);
	double rate = (spans_nodes(p, comm) ? 25e9 : 200e9) / ct_workload_config(p->w)->scale;
	double bytes = (double)op->count * ct_workload_dtype_bytes(op->dtype);
	double n = comm->n;

	if (op->op == CT_OP_AllReduce)
		bytes *= 2 * (n - 1) / n;
	else if (ct_op_class(op->op) == CT_CLASS_SYNC)
		bytes *= n - 1;
	return (ALPHA_NS + bytes / rate * 1e9) *
	       (0.98 + 0.04 * chance(op->key, ct_workload_config(p->w)->seed));
}

static void record(struct play *p, const struct launch *l)
{
	struct player *player = &p->players[l->rank];
	int process = process_of(p, l->rank);
	uint64_t off = (uint64_t)(player->clock_off_ns +
				  (int64_t)(1000 * chance(l->id, l->start_ns)) - 500);

	for (uint32_t i = 0; i < l->n_ops; i++) {
		const struct ct_workload_op *op = &l->ops[i];

		job_op(&job, process,
		       (struct ct_op){ .enter_ns = l->enter_ns[i],
				       .return_ns = l->enter_ns[i] + CALL_NS - 500,
				       .count = op->count,
				       .seq = l->seqs[i],
				       .comm = comm_id(p, l->comm, l->rank),
				       .launch = l->id,
				       .peer = op->peer,
				       .op = op->op,
				       .dtype = op->dtype,
				       .redop = op->redop });
	}
	job_launch(&job, process,
		   (struct ct_launch){ .id = l->id,
				       .comm = comm_id(p, l->comm, l->rank),
				       .stream = (uint32_t)l->comm + 1,
				       .device = (uint32_t)gpu_of(p, l->rank),
				       .n_ops = l->n_ops,
				       .start_ns = l->start_ns + off,
				       .end_ns = l->end_ns + off,
				       .start_err_ns = ERR_NS,
				       .end_err_ns = ERR_NS,
				       .start_source = CT_SOURCE_EVENT,
				       .end_source = CT_SOURCE_EVENT });
	p->end_ns = l->end_ns > p->end_ns ? l->end_ns : p->end_ns;
}

/* Everybody is there: when does each of them end? */
static void meet(struct play *p, struct meeting *m)
{
	const struct ct_workload_op *op = &m->members[0].launch->ops[m->members[0].op];
	double ns = transfer_ns(p, op);
	uint64_t last = 0, root = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct launch *l = m->members[i].launch;

		last = l->start_ns > last ? l->start_ns : last;
		if (op->peer >= 0 && ct_workload_peer(p->w, l->comm, l->rank) == op->peer)
			root = l->start_ns;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		struct launch *l = m->members[i].launch;
		uint64_t from = last;

		if (ct_op_class(op->op) == CT_CLASS_ROOTED)
			from = l->start_ns > root ? l->start_ns : root;
		from += (uint64_t)(ns + 3000 * chance(op->key, (uint64_t)l->rank));
		l->end_ns = from > l->end_ns ? from : l->end_ns;
		if (--l->left == 0)
			record(p, l);
	}
}

static void come(struct play *p, struct launch *l, uint32_t at)
{
	const struct ct_workload_op *op = &l->ops[at];
	struct meeting *m = ct_table_get(&p->meetings, op->key);
	uint32_t expected = ct_op_class(op->op) == CT_CLASS_P2P
				    ? 2
				    : (uint32_t)ct_workload_comm(p->w, op->comm)->n;

	if (!m) {
		m = calloc(1, sizeof(*m));
		assert_non_null(m);
		assert_int_equal(ct_table_put(&p->meetings, op->key, m), CT_OK);
	}
	m->members[m->n].launch = l;
	m->members[m->n++].op = at;
	if (m->n < expected)
		return;
	meet(p, m);
	ct_table_remove(&p->meetings, op->key);
	free(m);
}

/* ---- actions ---- */

static int is_known(struct moment *m)
{
	if (m->after && m->after->left == 0) {
		m->ns = m->after->end_ns;
		m->after = NULL;
	}
	return !m->after;
}

static void put_op(struct player *player, const struct ct_workload_op *op)
{
	struct launch *l = player->group;
	uint32_t at = l->n_ops++;

	assert_true(l->n_ops <= GROUP);
	l->comm = op->comm;
	l->ops[at] = *op;
	l->enter_ns[at] = player->host_ns;
	l->seqs[at] = ct_op_class(op->op) == CT_CLASS_P2P
			      ? player->messages[op->comm][op->peer][op->op == CT_OP_Recv]++
			      : player->seq[op->comm]++;
	player->host_ns += CALL_NS;
}

static void begin_group(struct play *p, int rank)
{
	struct launch *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->rank = rank;
	l->next = p->launches;
	p->launches = l;
	p->players[rank].group = l;
}

/* 0: the stream is not known yet. */
static int end_group(struct play *p, struct player *player, struct moment *stream)
{
	struct launch *l = player->group;

	if (!is_known(stream))
		return 0;
	player->group = NULL;
	if (!l->n_ops)
		return 1;
	l->id = ++p->ids[process_of(p, l->rank)];
	l->start_ns = stream->ns > player->host_ns ? stream->ns : player->host_ns;
	l->left = l->n_ops;
	stream->after = l;
	for (uint32_t i = 0; i < l->n_ops; i++)
		come(p, l, i);
	return 1;
}

/* Do what the action says; 0: something in it is not known yet. */
static int act(struct play *p, int rank)
{
	struct player *player = &p->players[rank];
	const struct ct_action *a = &player->action;
	struct moment *stream = &player->streams[a->stream], *event = &player->events[a->event];

	switch (a->kind) {
	case CT_ACTION_HOST:
		player->host_ns += a->ns;
		return 1;
	case CT_ACTION_COMPUTE:
		if (!is_known(stream))
			return 0;
		stream->ns = (stream->ns > player->host_ns ? stream->ns : player->host_ns) + a->ns;
		return 1;
	case CT_ACTION_RECORD:
		*event = *stream;
		return 1;
	case CT_ACTION_WAIT:
		if (!is_known(stream) || !is_known(event))
			return 0;
		stream->ns = event->ns > stream->ns ? event->ns : stream->ns;
		return 1;
	case CT_ACTION_GROUP_BEGIN:
		begin_group(p, rank);
		player->in_group = 1;
		return 1;
	case CT_ACTION_GROUP_END:
		player->in_group = !end_group(p, player, stream);
		return !player->in_group;
	case CT_ACTION_OP:
		if (!player->in_group && !is_known(stream))
			return 0;
		if (!player->in_group)
			begin_group(p, rank);
		put_op(player, &a->op);
		return player->in_group || end_group(p, player, stream);
	case CT_ACTION_STEP_END:
		stream = &player->streams[CT_STREAM_COMPUTE];
		if (!is_known(stream))
			return 0;
		player->host_ns = stream->ns > player->host_ns ? stream->ns : player->host_ns;
		return 1;
	default:
		return 1;
	}
}

static void play(struct play *p)
{
	int moved = 1;

	while (moved) {
		moved = 0;
		for (int r = 0; r < p->o->ranks; r++) {
			struct player *player = &p->players[r];

			while (player->more > 0 && act(p, r)) {
				player->more = ct_workload_next(player->it, &player->action);
				moved = 1;
			}
		}
	}
	for (int r = 0; r < p->o->ranks; r++)
		assert_int_equal(p->players[r].more, 0);
}

/* ---- around it ---- */

static void make_comms(const struct play *p)
{
	for (int c = 0; c < ct_workload_n_comms(p->w); c++) {
		const struct ct_workload_comm *comm = ct_workload_comm(p->w, c);

		for (int i = 0; i < comm->n; i++) {
			int rank = ct_workload_member(p->w, c, i);
			struct ct_comm_rec rec = {
				.id = comm_id(p, c, rank),
				.nranks = (uint32_t)comm->n,
				.rank = i,
				.key = 0xc0de00 + (uint64_t)c,
				.backend = CT_BACKEND_NCCL,
				.device = (uint16_t)(gpu_of(p, rank) + 1),
			};

			job_rare(&job, process_of(p, rank), CT_KIND_COMM, &rec, sizeof(rec));
		}
	}
}

static void open_play(struct play *p)
{
	int per_process = p->o->per_process ? p->o->per_process : 1;
	struct ct_workload_config config = {
		.name = p->o->workload,
		.ranks = p->o->ranks,
		.nodes = p->o->nodes,
		.steps = p->o->steps,
		.seed = p->o->seed,
	};
	struct ct_fault fault;
	char why[256];

	if (p->o->fault) {
		if (ct_fault_parse(p->o->fault, &fault, why, sizeof(why)))
			fail_msg("%s", why);
		config.faults = &fault;
		config.n_faults = 1;
	}
	p->w = ct_workload_make(&config, why, sizeof(why));
	if (!p->w)
		fail_msg("%s", why);
	assert_true(p->o->ranks <= RANKS && ct_workload_n_comms(p->w) <= COMMS);
	job_open(&job, &(struct job_options){
			       .run = "run",
			       .ranks = p->o->ranks / per_process,
			       .ranks_per_host = p->o->ranks / p->o->nodes / per_process,
			       .backend = CT_BACKEND_NCCL,
		       });
	make_comms(p);
	for (int r = 0; r < p->o->ranks; r++) {
		struct player *player = &p->players[r];

		player->host_ns = BEGIN_NS + (uint64_t)(2e6 * chance(p->o->seed, (uint64_t)r));
		player->clock_off_ns = (int64_t)(4000 * chance(p->o->seed + 77, (uint64_t)r)) -
				       2000;
		player->it = ct_workload_open(p->w, r);
		assert_non_null(player->it);
		player->more = ct_workload_next(player->it, &player->action);
	}
}

static void close_play(struct play *p)
{
	struct launch *next;

	for (struct launch *l = p->launches; l; l = next) {
		next = l->next;
		free(l);
	}
	for (int r = 0; r < p->o->ranks; r++)
		ct_workload_close(p->players[r].it);
	ct_table_fini(&p->meetings);
	ct_workload_free(p->w);
	free(p);
}

struct ct_report *gpu_job_report(const struct gpu_job *options, uint64_t *end_ns)
{
	struct play *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->o = options;
	open_play(p);
	play(p);
	job_close(&job, p->end_ns + 1000000);
	if (end_ns)
		*end_ns = p->end_ns;
	close_play(p);
	return job_report(&job, -1);
}
