/* SPDX-License-Identifier: Apache-2.0 */
/* stuck_job.h — a job of four ranks that gets stuck, written with its heartbeats, and judged twice:
 * by the tails of its processes, and by everything. What is said is the same. */
#ifndef CT_TESTS_UNIT_STUCK_JOB_H
#define CT_TESTS_UNIT_STUCK_JOB_H

#include <string.h>

#include "analyzer/hang/hang.h"
#include "tests/unit/job.h"
#include "trace/ops.h"
#include "trace/order_totals.h"

#define RANKS 4
#define COMMS 3 /* ids 1 and 2 */
#define SOME 300
#define LEAST 100u
#define EVERY_NS 20000000ull
#define S 1000000000ull
#define STUCK_NS (100 * S)

static const int all[RANKS] = { 0, 1, 2, 3 };

struct stuck_job {
	struct job job;
	struct ct_order_totals totals[RANKS];
	uint64_t next[RANKS][COMMS];
	uint64_t at;
	int has_second;			    /* communicator */
	int has_left;			    /* rank 3, that one */
	int is_old;			    /* its recorder knew no sums */
	struct ct_ring_open open[RANKS][2]; /* what is under way, as each heartbeat has it */
	int leaves_out; /* operations of the blocks that are written, as `commtrace partial` does */
};

static inline void begin(struct stuck_job *t)
{
	const struct job_options options = { .run = "run", .ranks = RANKS, .block_ops = 100000 };

	memset(t, 0, sizeof(*t));
	t->at = S;
	job_open(&t->job, &options);
}

static inline void call(struct stuck_job *t, int rank, uint32_t comm, uint64_t count,
			uint64_t leave)
{
	job_op(&t->job, rank,
	       (struct ct_op){ .enter_ns = t->at,
			       .return_ns = leave,
			       .count = count,
			       .seq = t->next[rank][comm]++,
			       .comm = comm,
			       .peer = -1,
			       .op = CT_OP_AllReduce,
			       .dtype = CT_DTYPE_float32,
			       .redop = CT_REDOP_sum });
}

static inline void message(struct stuck_job *t, int rank, unsigned op, int peer, uint64_t seq,
			   uint64_t leave)
{
	job_op(&t->job, rank,
	       (struct ct_op){ .enter_ns = t->at,
			       .return_ns = leave,
			       .count = 10,
			       .seq = seq,
			       .comm = 1,
			       .peer = peer,
			       .tag = 7,
			       .op = (uint8_t)op,
			       .dtype = CT_DTYPE_float32 });
}

/* Work that is under way from now on, of so many operations of a communicator. */
static inline void open_work(struct stuck_job *t, int rank, int i, uint32_t comm, unsigned op,
			     uint32_t n)
{
	t->open[rank][i] = (struct ct_ring_open){ .tag = (77u + (unsigned)i) | CT_OPEN_LAUNCH,
						  .opened_ns = t->job.clock[rank] + t->at,
						  .comm_op = (uint64_t)comm << 32 | n << 8 | op };
}

/* A receive that returns, and whose message never comes. */
static inline void receive(struct stuck_job *t, int rank, int i, int peer)
{
	open_work(t, rank, i, 1, CT_OP_Recv, 1000);
	t->open[rank][i].peer = (uint32_t)peer;
	job_op(&t->job, rank,
	       (struct ct_op){ .enter_ns = t->at,
			       .return_ns = t->at + 700,
			       .count = 10,
			       .comm = 1,
			       .launch = 77u + (unsigned)i,
			       .peer = peer,
			       .op = CT_OP_Recv,
			       .dtype = CT_DTYPE_float32 });
}

/* All ranks call the same so often; `odd`: but rank 2 another size once. */
static inline void together(struct stuck_job *t, uint32_t comm, int n, int odd)
{
	for (int i = 0; i < n; i++, t->at += EVERY_NS)
		for (int r = 0; r < RANKS; r++)
			call(t, r, comm, r == 2 && odd && i == n / 2 ? 2000 : 1000,
			     t->at + EVERY_NS / 4);
}

static inline const char *no_name(void *unused, uint32_t id)
{
	(void)unused;
	(void)id;
	return NULL;
}

/* The block of this rank. */
static inline void flush(struct stuck_job *t, int rank)
{
	struct ct_block *block = &t->job.writers[rank].block;

	if (t->job.began[rank] && t->leaves_out) {
		block->is_left_out = 1;
		block->skimmed_ops = block->n_ops;
		block->begin_ns = block->end_ns = t->job.clock[rank] + t->at;
		block->n_ops = block->n_extents = 0;
	}
	job_flush(&t->job, rank);
}

/* Every rank gives a heartbeat. */
static inline void sign(struct stuck_job *t)
{
	for (int r = 0; r < RANKS; r++) {
		const struct ct_status_rec status = { .beat_ns = t->job.clock[r] + t->at,
						      .flushed_ns = t->job.clock[r] + t->at };

		if (t->job.began[r])
			ct_order_totals_add(&t->totals[r], &t->job.writers[r].block, no_name, NULL);
		flush(t, r);
		job_rare(&t->job, r, CT_KIND_STATUS, &status, sizeof(status));
		for (uint32_t comm = 1; comm <= 1 + (uint32_t)t->has_second; comm++) {
			struct ct_comm_status_rec rec = { .comm = comm,
							  .next_seq = t->next[r][comm] };

			if (comm == 2 && r == 3 && t->has_left)
				continue;
			if (!t->is_old)
				ct_order_totals_report(&t->totals[r], &rec);
			job_rare(&t->job, r, CT_KIND_COMM_STATUS, &rec, sizeof(rec));
		}
		for (int i = 0; i < 2; i++)
			if (t->open[r][i].tag)
				job_rare(&t->job, r, CT_KIND_OPEN_LAUNCH, &t->open[r][i],
					 sizeof(t->open[r][i]));
		flush(t, r);
	}
}

/* All are killed after their last heartbeat. */
static inline void end(struct stuck_job *t)
{
	sign(t);
	job_close(&t->job, 0);
	for (int r = 0; r < RANKS; r++)
		ct_order_totals_fini(&t->totals[r]);
}

/* The ranks but `missing` enter one more, and stand there until all are killed. */
static inline void get_stuck(struct stuck_job *t, uint32_t comm, int missing)
{
	for (int r = 0; r < RANKS; r++)
		if (r != missing)
			call(t, r, comm, 1000, 0);
	t->at += STUCK_NS;
	end(t);
}

static inline struct ct_hang_run *judge(struct ct_run *run, struct ct_arena *memory, int whole)
{
	const struct ct_hang_options options = {
		.restart = -1, .whole = whole, .least_tail = LEAST, .tail_bytes = 1
	};
	struct ct_hang_run *hang;

	assert_int_equal(ct_hang_of_run(run, &options, memory, &hang, NULL), CT_OK);
	return hang;
}

static int skipped; /* segments were, by the last one */

static inline void judge_twice(int from_tails)
{
	const char *path = fx_path("run");
	struct ct_arena *memory = ct_arena_new();
	struct ct_hang_run *tails, *whole;
	struct ct_run *run;

	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	whole = judge(run, memory, 1);
	tails = judge(run, memory, 0);
	assert_int_equal(whole->from_tails, 0);
	assert_int_equal(tails->from_tails, from_tails);
	skipped = tails->skips_segments;
	assert_int_not_equal(whole->result->n_verdicts, 0);
	assert_int_equal(tails->result->n_verdicts, whole->result->n_verdicts);
	for (uint32_t i = 0; i < whole->result->n_verdicts; i++) {
		const struct ct_hang_verdict *a = &tails->result->verdicts[i];
		const struct ct_hang_verdict *b = &whole->result->verdicts[i];

		assert_int_equal(a->code, b->code);
		assert_int_equal(a->n_ranks, b->n_ranks);
		assert_memory_equal(a->ranks, b->ranks, a->n_ranks * sizeof(*a->ranks));
		assert_int_equal(a->n_victims, b->n_victims);
		assert_int_equal(a->confidence, b->confidence);
		assert_string_equal(a->headline, b->headline);
	}
	ct_run_close(run);
	ct_arena_free(memory);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

#endif
