/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a single rank synchronise no other: a slow rank is named although each rank calls
 * such a thing right before the operation that all wait in. */
#include "tests/unit/job.h"

#include <math.h>

#include "analyzer/stream/host_calls.h"
#include "trace/ops.h"

#define RANKS 4
#define STEPS 100
#define SLOW 2
#define MS 1000000ull
#define US 1000ull
#define OWN_COMM 2u
#define PAIR_COMM 3u
#define CALL_WAIT 30u
#define STREAM_ERR 2500u

enum kind {
	NOTHING,
	BLOCKING,    /* a collective of a communicator of one rank */
	NONBLOCKING, /* the same, begun and waited for */
	ON_GPU,	     /* as a launch, like all others */
	MESSAGE,     /* to itself, on the communicator of all ranks */
	NOT_TIMED,   /* a launch without times */
};

static struct job job;
static uint32_t launches[RANKS];

/* ---- records ---- */

static void op(int rank, struct ct_op o, int on_gpu, uint64_t begin, uint64_t end)
{
	o.enter_ns = begin;
	o.return_ns = on_gpu ? begin + 400 : end;
	o.dtype = CT_DTYPE_float32;
	o.launch = on_gpu ? ++launches[rank] : 0;
	job_op(&job, rank, o);
	if (!on_gpu)
		return;
	job_launch(
		&job, rank,
		(struct ct_launch){ .id = o.launch,
				    .comm = o.comm ? o.comm : 1,
				    .n_ops = 1,
				    .start_ns = on_gpu > 1 ? 0 : begin + 500,
				    .end_ns = on_gpu > 1 ? 0 : end,
				    .start_err_ns = STREAM_ERR,
				    .end_err_ns = STREAM_ERR,
				    .start_source = on_gpu > 1 ? CT_SOURCE_NONE : CT_SOURCE_EVENT,
				    .end_source = on_gpu > 1 ? CT_SOURCE_NONE : CT_SOURCE_EVENT });
}

static void wait_call(int rank, uint64_t enter, uint64_t leave)
{
	struct ct_host_rec rec = {
		.enter_ns = enter + job.clock[rank],
		.tid = (uint32_t)rank + 100,
		.call = CALL_WAIT,
	};

	job_rare(&job, rank, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	rec.return_ns = leave + job.clock[rank];
	job_rare(&job, rank, CT_KIND_HOST_END, &rec, sizeof(rec));
}

/* What the rank does with itself, done at `end`. */
static void alone(int rank, enum kind kind, uint64_t step, uint64_t end)
{
	struct ct_op o = { .op = CT_OP_AllReduce,
			   .redop = CT_REDOP_sum,
			   .count = 1,
			   .peer = -1,
			   .seq = step,
			   .comm = OWN_COMM };
	uint64_t begin = end - 20 * US;

	switch (kind) {
	case NOTHING:
		return;
	case BLOCKING:
		op(rank, o, 0, begin, end);
		return;
	case ON_GPU:
		op(rank, o, 1, begin, end);
		return;
	case NOT_TIMED:
		op(rank, o, 2, begin, end);
		return;
	case NONBLOCKING:
		o.enter_ns = begin;
		o.return_ns = begin + US;
		o.dtype = CT_DTYPE_float32;
		o.launch = ++launches[rank];
		job_op(&job, rank, o);
		wait_call(rank, begin + 2 * US, end);
		job_launch(&job, rank,
			   (struct ct_launch){ .id = o.launch,
					       .comm = OWN_COMM,
					       .n_ops = 1,
					       .start_ns = begin,
					       .end_ns = end,
					       .start_source = CT_SOURCE_CALL,
					       .end_source = CT_SOURCE_WAIT });
		return;
	case MESSAGE:
		o.comm = 1;
		o.redop = 0;
		o.peer = rank;
		o.op = CT_OP_Send;
		op(rank, o, 0, begin, end);
		o.op = CT_OP_Recv;
		op(rank, o, 0, begin, end);
		return;
	}
}

/* ---- the job ---- */

/* All compute 3 ms, one 10 ms more, then all reduce. */
static struct ct_report *play(enum kind kind)
{
	int on_gpu = kind == ON_GPU || kind == NOT_TIMED;
	uint64_t now[RANKS] = { 0 };
	uint64_t end = 50 * MS;

	job_open(&job,
		 &(struct job_options){ .run = "run",
					.ranks = RANKS,
					.backend = on_gpu ? CT_BACKEND_NCCL : CT_BACKEND_MPI });
	for (int r = 0; r < RANKS; r++) {
		static const uint32_t id = CALL_WAIT;

		launches[r] = 0;
		assert_int_equal(ct_block_add_text(&job.writers[r].block, CT_KIND_STRING, &id,
						   sizeof(id), "MPI_Wait"),
				 CT_OK);
		job_comm(&job, OWN_COMM, JOB_COMM + 1 + (uint64_t)r, NULL, &r, 1);
	}
	for (uint64_t s = 0; s < STEPS; s++) {
		uint64_t latest = 0;

		for (int r = 0; r < RANKS; r++) {
			now[r] = end + 3 * MS + (s * 7 + (uint64_t)r * 13) % 5 * 30 * US;
			now[r] += r == SLOW ? 10 * MS : 0;
			alone(r, kind, s, now[r] - 10 * US);
			latest = now[r] > latest ? now[r] : latest;
		}
		end = latest + 100 * US;
		for (int r = 0; r < RANKS; r++)
			op(r,
			   (struct ct_op){ .op = CT_OP_AllReduce,
					   .redop = CT_REDOP_sum,
					   .count = 1000,
					   .peer = -1,
					   .seq = s },
			   on_gpu, now[r], end);
	}
	job_close(&job, end + MS);
	return job_report(&job, -1);
}

static uint64_t instances_of(const struct ct_report *report, unsigned what, uint64_t bytes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < report->n_ops; i++) {
		if (report->ops[i].op == what && report->ops[i].bytes_each == bytes)
			n += report->ops[i].instances;
	}
	return n;
}

/* 99 times 10 ms: the first meeting does not count. */
static void expect(enum kind kind, unsigned what, uint64_t listed)
{
	struct ct_report *report = play(kind);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);

	if (!f)
		fail_msg("kind %d: %s: %s", (int)kind, ct_verdict_name(report->verdict.code),
			 report->verdict.text);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], SLOW);
	if (fabs((double)f->time_lost_ns - 99 * 10e6) > 0.03 * 99 * 10e6)
		fail_msg("kind %d: %.1f ms", (int)kind, (double)f->time_lost_ns / 1e6);
	assert_int_equal(instances_of(report, what, 4), listed);
	ct_report_free(report);
}

static void the_slow_rank_is_named_where_nothing_is_done_alone(void **state)
{
	(void)state;
	expect(NOTHING, CT_OP_AllReduce, 0);
}

static void collectives_of_one_rank_end_no_gap(void **state)
{
	(void)state;
	expect(BLOCKING, CT_OP_AllReduce, RANKS * STEPS);
}

static void waiting_for_ones_own_request_ends_no_gap(void **state)
{
	(void)state;
	expect(NONBLOCKING, CT_OP_AllReduce, RANKS * STEPS);
}

static void launches_of_one_rank_end_no_gap(void **state)
{
	(void)state;
	expect(ON_GPU, CT_OP_AllReduce, RANKS * STEPS);
}

static void launches_of_one_rank_hide_no_gap_when_not_timed(void **state)
{
	(void)state;
	expect(NOT_TIMED, CT_OP_AllReduce, RANKS * STEPS);
}

static void messages_to_oneself_end_no_gap(void **state)
{
	(void)state;
	expect(MESSAGE, CT_OP_Send, RANKS * STEPS);
}

/* A call in which something of others ended as well communicates. */
static void waits_for_no_one_else_are_no_communication(void **state)
{
	struct ct_calls calls = { 0 };

	(void)state;
	for (uint64_t k = 1; k <= 9; k++) {
		const struct ct_call call = {
			.begin_ns = 100 * k, .end_ns = 100 * k + 10, .tid = 1, .is_message = 1
		};

		assert_int_equal(ct_calls_wait(&calls, &call), CT_OK);
		ct_calls_serve(&calls, 100 * k, k == 2);
	}
	assert_int_equal(ct_calls_ended(&calls, 950), 210);
	ct_calls_serve(&calls, 800, 1);
	assert_int_equal(ct_calls_ended(&calls, 950), 810);
	ct_calls_fini(&calls);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
		TEST(the_slow_rank_is_named_where_nothing_is_done_alone),
		TEST(collectives_of_one_rank_end_no_gap),
		TEST(waiting_for_ones_own_request_ends_no_gap),
		TEST(launches_of_one_rank_end_no_gap),
		TEST(launches_of_one_rank_hide_no_gap_when_not_timed),
		TEST(messages_to_oneself_end_no_gap),
		TEST(waits_for_no_one_else_are_no_communication),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
