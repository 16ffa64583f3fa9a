/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/parallel_job.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/table.h"
#include "trace/ops.h"

#define RANKS 64
#define COMMS 256
#define MOST 8192 /* pieces of one rank's program */

/* What a rank does next. */
enum what {
	COMPUTE,
	JOIN,  /* an operation that its computing waits for */
	START, /* one that runs beside it, on the communicator's stream */
	AWAIT, /* the end of all that was started on the communicator */
};

struct piece {
	enum what what;
	int comm, member;
	double ns;
	uint64_t seq;
};

struct comm {
	int n, ranks[RANKS];
	int message; /* from its member 0 to its member 1 */
	unsigned op;
	struct ct_comm *registered;
};

struct meeting {
	int n;
	double start[RANKS], end, enter[RANKS];
};

struct world {
	const struct parallel_job *job;
	int ranks, n_comms;
	struct comm comms[COMMS];
	struct piece *programs[RANKS];
	int len[RANKS], at[RANKS];
	uint64_t seqs[COMMS][RANKS], n_meetings[COMMS];
	struct meeting *meetings[COMMS];
	double now[RANKS], stream[RANKS][COMMS];
	double pace[RANKS];
	uint64_t draws;
	int step;
};

static struct world world;

static double draw(struct world *w)
{
	return (double)(ct_mix(++w->draws * 0x9e3779b97f4a7c15ull ^ w->job->seed) >> 11) / 0x1p53;
}

/* About normal: the sum of 12 draws. */
static double bell(struct world *w)
{
	double sum = -6;

	for (int k = 0; k < 12; k++)
		sum += draw(w);
	return sum;
}

/* ---- programs ---- */

static void put(struct world *w, int rank, struct piece p)
{
	assert_true(w->len[rank] < MOST);
	w->programs[rank][w->len[rank]++] = p;
}

/* In this step, those that are slow? */
static int is_slow(const struct world *w)
{
	const struct parallel_job *job = w->job;

	return !job->slow_to || (w->step >= job->slow_from && w->step < job->slow_to);
}

/* Noise is drawn in any case, so that a slow run has that of the one without. */
static void compute(struct world *w, int rank, double ns)
{
	const struct parallel_job *job = w->job;
	double noise = exp(job->noise * bell(w)), stall = draw(w) < job->stalls ? job->stall_ms : 0;

	ns *= w->pace[rank] * noise * (1 + (is_slow(w) ? job->slow[rank] : 0));
	put(w, rank, (struct piece){ .what = COMPUTE, .ns = ns + stall * 1e6 });
}

static void be_late(struct world *w, int rank, int op)
{
	if (rank == w->job->late_rank && w->job->late_ns[op] > 0 && is_slow(w))
		put(w, rank, (struct piece){ .what = COMPUTE, .ns = w->job->late_ns[op] });
}

static void communicate(struct world *w, int rank, enum what what, int comm)
{
	int member = 0;

	while (w->comms[comm].ranks[member] != rank)
		member++;
	put(w, rank,
	    (struct piece){ .what = what,
			    .comm = comm,
			    .member = member,
			    .seq = what == AWAIT ? 0 : w->seqs[comm][member]++ });
}

static int add_comm(struct world *w, unsigned op, int n, int first, int stride)
{
	struct comm *c = &w->comms[w->n_comms];

	assert_true(w->n_comms < COMMS);
	*c = (struct comm){ .n = n, .op = op, .message = op == CT_OP_Send };
	for (int k = 0; k < n; k++)
		c->ranks[k] = first + k * stride;
	return w->n_comms++;
}

/* Ranks count through tensor, then data, then pipeline. */
static void tensor_data(struct world *w)
{
	const struct parallel_job *job = w->job;
	int tensor[RANKS], data[RANKS];

	for (int d = 0; d < job->data; d++)
		tensor[d] = add_comm(w, CT_OP_AllReduce, job->tensor, d * job->tensor, 1);
	for (int t = 0; t < job->tensor; t++)
		data[t] = add_comm(w, CT_OP_AllReduce, job->data, t, job->tensor);
	for (w->step = 0; w->step < job->steps; w->step++) {
		for (int r = 0; r < w->ranks; r++) {
			for (int k = 0; k < 16; k++) {
				compute(w, r, 1e6);
				be_late(w, r, k);
				communicate(w, r, JOIN, tensor[r / job->tensor]);
			}
			compute(w, r, 1e6);
			be_late(w, r, PARALLEL_OPS - 1);
			communicate(w, r, JOIN, data[r % job->tensor]);
		}
	}
}

enum { BATCHES = 8 };

struct stage {
	int rank, stage;
	int forward_in, forward_out, backward_in, backward_out; /* communicators, -1 none */
};

static void one_way(struct world *w, const struct stage *s, int in, int out, double ns)
{
	if (in >= 0)
		communicate(w, s->rank, JOIN, in);
	compute(w, s->rank, ns);
	/* who sends goes on */
	if (out >= 0)
		communicate(w, s->rank, START, out);
}

static void one_forward_one_backward(struct world *w, const struct stage *s)
{
	int warm_up = w->job->pipeline - s->stage - 1;

	for (int b = 0; b < warm_up; b++)
		one_way(w, s, s->forward_in, s->forward_out, 1e6);
	for (int b = warm_up; b < BATCHES; b++) {
		one_way(w, s, s->forward_in, s->forward_out, 1e6);
		one_way(w, s, s->backward_in, s->backward_out, 2e6);
	}
	for (int b = 0; b < warm_up; b++)
		one_way(w, s, s->backward_in, s->backward_out, 2e6);
}

static void pipeline_data(struct world *w)
{
	const struct parallel_job *job = w->job;
	int data[RANKS];
	int first = 0;

	for (int p = 0; p < job->pipeline; p++)
		data[p] = add_comm(w, CT_OP_AllReduce, job->data, p * job->data, 1);
	first = w->n_comms;
	for (int d = 0; d < job->data; d++) {
		for (int p = 0; p + 1 < job->pipeline; p++) {
			add_comm(w, CT_OP_Send, 2, p * job->data + d, job->data);
			add_comm(w, CT_OP_Send, 2, (p + 1) * job->data + d, -job->data);
		}
	}
	for (w->step = 0; w->step < job->steps; w->step++) {
		for (int r = 0; r < w->ranks; r++) {
			int p = r / job->data, d = r % job->data;
			int base = first + 2 * (d * (job->pipeline - 1) + p);
			struct stage s = { .rank = r,
					   .stage = p,
					   .forward_in = p ? base - 2 : -1,
					   .backward_out = p ? base - 1 : -1,
					   .forward_out = p + 1 < job->pipeline ? base : -1,
					   .backward_in = p + 1 < job->pipeline ? base + 1 : -1 };

			one_forward_one_backward(w, &s);
			compute(w, r, 1e6);
			communicate(w, r, JOIN, data[p]);
		}
	}
}

static void buckets(struct world *w)
{
	const struct parallel_job *job = w->job;
	int all = add_comm(w, CT_OP_AllReduce, w->ranks, 0, 1);

	for (w->step = 0; w->step < job->steps; w->step++) {
		for (int r = 0; r < w->ranks; r++) {
			compute(w, r, 8e6);
			for (int b = 0; b < 5; b++) {
				compute(w, r, 3e6);
				communicate(w, r, START, all);
			}
			communicate(w, r, AWAIT, all);
			compute(w, r, 1e6);
		}
	}
}

/* ---- playing ---- */

static double transfer_ns(const struct world *w, int comm)
{
	static const double usual[] = {
		[PARALLEL_TENSOR_DATA] = 60e3,
		[PARALLEL_PIPELINE_DATA] = 40e3,
		[PARALLEL_BUCKETS] = 1e6,
	};
	double times = w->job->transfer == 0 ? 1 : w->job->transfer < 0 ? 0 : w->job->transfer;

	if (w->job->layout == PARALLEL_BUCKETS || w->comms[comm].message)
		return times * usual[w->job->layout];
	return times * (comm < w->job->data && w->job->layout == PARALLEL_TENSOR_DATA
				? usual[PARALLEL_TENSOR_DATA]
				: 3e6);
}

/* Members end up to 3 us apart. */
static double end_of(const struct world *w, int comm, uint64_t seq, int member)
{
	uint64_t mixed = ct_mix(ct_mix((uint64_t)comm << 32 | seq) ^ (uint64_t)member ^
				(uint64_t)w->job->seed << 20);

	return w->meetings[comm][seq].end + 3000 * ((double)(mixed >> 11) / 0x1p53);
}

/* Every member is there or on its way: 0 as long as one is missing. */
static int is_over(const struct world *w, int comm, uint64_t seq)
{
	return seq < w->n_meetings[comm] && w->meetings[comm][seq].n == w->comms[comm].n;
}

static struct meeting *meeting_of(struct world *w, int comm, uint64_t seq)
{
	while (w->n_meetings[comm] <= seq) {
		uint64_t n = w->n_meetings[comm]++;

		if ((n & (n - 1)) == 0) {
			w->meetings[comm] = realloc(w->meetings[comm],
						    (n ? 2 * n : 1) * sizeof(struct meeting));
			assert_non_null(w->meetings[comm]);
		}
		memset(&w->meetings[comm][n], 0, sizeof(struct meeting));
	}
	return &w->meetings[comm][seq];
}

static void arrive(struct world *w, int rank, const struct piece *p)
{
	struct meeting *m = meeting_of(w, p->comm, p->seq);
	double start = w->now[rank];

	if (p->what == START && p->seq) {
		double before = end_of(w, p->comm, p->seq - 1, p->member);

		start = before > start ? before : start;
	}
	m->enter[p->member] = w->now[rank];
	m->start[p->member] = start;
	m->n++;
	if (start > m->end)
		m->end = start;
	if (m->n == w->comms[p->comm].n)
		m->end += transfer_ns(w, p->comm);
}

/* Go on with one rank; 0: it is held up. */
static int go_on(struct world *w, int rank)
{
	struct piece *p = &w->programs[rank][w->at[rank]];

	switch (p->what) {
	case COMPUTE:
		w->now[rank] += p->ns;
		break;
	case START:
		if (p->seq && !is_over(w, p->comm, p->seq - 1))
			return 0;
		arrive(w, rank, p);
		break;
	case JOIN:
		/* come once, then wait */
		if (p->ns == 0) {
			arrive(w, rank, p);
			p->ns = 1;
		}
		if (!is_over(w, p->comm, p->seq))
			return 0;
		w->now[rank] = end_of(w, p->comm, p->seq, p->member);
		break;
	case AWAIT: {
		uint64_t last = 0;

		for (int k = w->at[rank]; k >= 0; k--) {
			if (w->programs[rank][k].what == START) {
				last = w->programs[rank][k].seq;
				break;
			}
		}
		if (!is_over(w, p->comm, last))
			return 0;
		if (end_of(w, p->comm, last, p->member) > w->now[rank])
			w->now[rank] = end_of(w, p->comm, last, p->member);
		break;
	}
	}
	w->at[rank]++;
	return 1;
}

static void play(struct world *w)
{
	int moved = 1, left = 0;

	while (moved) {
		moved = 0;
		for (int r = 0; r < w->ranks; r++) {
			while (w->at[r] < w->len[r] && go_on(w, r))
				moved = 1;
		}
	}
	for (int r = 0; r < w->ranks; r++)
		left += w->at[r] < w->len[r];
	assert_int_equal(left, 0);
}

/* ---- the log ---- */

#define BEGIN_NS 1000000000.0

static struct ct_member member_of(struct world *w, int comm, uint64_t seq, int at)
{
	const struct meeting *m = &w->meetings[comm][seq];
	const struct comm *c = &w->comms[comm];
	int rank = c->ranks[at];
	double off = w->job->separate ? 1e9 * (rank / 8) * (1 + rank / 8) : 0;
	struct ct_member out = {
		.enter_ns = (uint64_t)(BEGIN_NS + off + m->enter[at]),
		.start_ns = (uint64_t)(BEGIN_NS + off + m->start[at] + 1000 * draw(w)),
		.end_ns = (uint64_t)(BEGIN_NS + off + end_of(w, comm, seq, at) + 1000 * draw(w)),
		.count = 1000,
		.bytes = 4000,
		.free_ns = UINT64_MAX,
		.start_err_ns = 1000,
		.end_err_ns = 1000,
		.slot = (uint32_t)rank,
		.index = (uint32_t)at,
		.root = -1,
		.stream = (uint32_t)comm + 1,
		.op = (uint8_t)(c->message && at ? CT_OP_Recv : c->op),
		.on_gpu = 1,
	};

	if (w->job->sites)
		out.site = &w->job->sites[comm < w->job->data ? seq % (PARALLEL_OPS - 1)
							      : PARALLEL_OPS - 1];
	if (w->job->mute == rank + 1)
		out.start_ns = out.end_ns = 0;
	if (w->job->garbage) {
		out.enter_ns = ct_mix(w->draws + 2);
		out.start_ns = 1 + (ct_mix(w->draws) >> (1 + w->draws % 60));
		out.end_ns = out.start_ns + (ct_mix(w->draws + 1) >> (1 + w->draws % 63));
	}
	return out;
}

static void record(struct world *w, struct parallel_run *run)
{
	struct ct_waits waits = { 0 };
	uint64_t shift[RANKS] = { 0 };

	for (int h = 0; h < RANKS; h++)
		shift[h] = -(uint64_t)BEGIN_NS + 1000;
	for (int c = 0; c < w->n_comms; c++) {
		for (uint64_t k = 0; k < w->n_meetings[c]; k++) {
			struct ct_member members[RANKS];
			struct ct_instance i = { .comm = w->comms[c].registered,
						 .seq = k,
						 .src = w->comms[c].message ? 0 : -1,
						 .dst = w->comms[c].message ? 1 : -1,
						 .n = (uint32_t)w->comms[c].n,
						 .members = members };

			for (int at = 0; at < w->comms[c].n; at++)
				members[at] = member_of(w, c, k, at);
			if (draw(w) < w->job->lost)
				continue;
			assert_int_equal(ct_waits_judge(&i, run->host_of, 0, &waits), 0);
			assert_int_equal(
				ct_instance_log_add(&run->log, &i, &waits, run->host_of, shift), 0);
			if (w->meetings[c][k].end > run->total_ns)
				run->total_ns = w->meetings[c][k].end;
		}
	}
	ct_waits_fini(&waits);
	assert_int_equal(ct_instance_log_close(&run->log, (uint32_t)w->ranks), 0);
}

static void make_comms(struct world *w, struct parallel_run *run)
{
	assert_int_equal(ct_comms_init(&run->comms), 0);
	for (int c = 0; c < w->n_comms; c++) {
		for (int k = 0; k < w->comms[c].n; k++) {
			struct ct_comm_rec rec = { .id = (uint32_t)c + 1,
						   .nranks = (uint32_t)w->comms[c].n,
						   .rank = k,
						   .key = 0xc0de00 + (uint64_t)c,
						   .backend = CT_BACKEND_NCCL };

			assert_int_equal(ct_comms_add(&run->comms, &rec, NULL,
						      (uint32_t)w->comms[c].ranks[k],
						      &w->comms[c].registered),
					 0);
		}
	}
}

void parallel_play(const struct parallel_job *job, struct parallel_run *run)
{
	struct world *w = &world;

	*w = (struct world){ .job = job, .ranks = job->tensor * job->pipeline * job->data };
	*run = (struct parallel_run){ .ranks = w->ranks };
	assert_true(w->ranks <= RANKS);
	ct_instance_log_init(&run->log, 0);
	for (int r = 0; r < w->ranks; r++) {
		w->programs[r] = malloc(MOST * sizeof(struct piece));
		assert_non_null(w->programs[r]);
		w->pace[r] = 1 + job->spread * bell(w);
		run->host_of[r] = (uint32_t)r / 8;
	}
	if (job->layout == PARALLEL_TENSOR_DATA)
		tensor_data(w);
	else if (job->layout == PARALLEL_PIPELINE_DATA)
		pipeline_data(w);
	else
		buckets(w);
	make_comms(w, run);
	play(w);
	record(w, run);
	for (int r = 0; r < w->ranks; r++)
		free(w->programs[r]);
	for (int c = 0; c < w->n_comms; c++)
		free(w->meetings[c]);
}

void parallel_free(struct parallel_run *run)
{
	ct_instance_log_fini(&run->log);
	ct_comms_fini(&run->comms);
}
