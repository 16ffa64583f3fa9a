/* SPDX-License-Identifier: Apache-2.0 */
/* From files to reports: what the tables and the sentence say about runs whose content is known,
 * whole and damaged; and the ops that `dump` shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

static struct job job;

static void open_job(int ranks)
{
	job_open(&job, &(struct job_options){ .run = "run", .ranks = ranks });
}

/* `steps` all-reduces of 1 MB, 10 ms apart; rank r comes r * 10 us late, all leave after 1 ms. */
static uint64_t steady(int steps, uint64_t begin)
{
	for (int c = 0; c < steps; c++) {
		uint64_t at = begin + (uint64_t)c * 10000000;

		for (int r = 0; r < job.o.ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at + (uint64_t)r * 10000,
				       at + 1000000);
	}
	return begin + (uint64_t)steps * 10000000;
}

static struct ct_report *close_job(uint64_t end)
{
	job_close(&job, end);
	return job_report(&job, -1);
}

/* ---- numbers ---- */

static void tables_hold_what_was_written(void **state)
{
	struct ct_report *report;
	const struct ct_report_op *op;

	(void)state;
	open_job(4);
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->run.ranks_seen, 4);
	assert_int_equal(report->run.ranks_expected, 4);
	assert_int_equal(report->run.n_missing, 0);
	assert_true(report->run.complete);
	assert_int_equal(report->run.timing, CT_TIMING_CALL);
	assert_int_equal(report->run.time_err_ns, 2 * (1 + CT_BLOCK_QUANTUM_NS));
	assert_int_equal(report->run.matched, 50);
	assert_int_equal(report->n_ops, 1);
	op = &report->ops[0];
	assert_string_equal(op->op_name, "AllReduce");
	assert_int_equal(op->instances, 50);
	assert_int_equal(op->bytes, 50000000);
	assert_int_equal(op->bytes_each, 1000000);
	assert_int_equal(op->size_range, 524288);
	/* Spans 970, 980, 990, 1000 us; X = 970 us; waits 30 + 20 + 10 us. Quanta and cells are
	 * allowed for. */
	assert_true(labs((long)op->span_p50_ns - 980000) <= 980000 / 64 + 66);
	assert_true(labs((long)op->span_p99_ns - 1000000) <= 1000000 / 64 + 66);
	assert_true(labs((long)op->transfer_p50_ns - 970000) <= 970000 / 64 + 66);
	assert_true(labs((long)op->wait_ns - 50 * 60000) <= 50 * 4 * 66);
	assert_true(labs((long)op->transfer_ns - 50 * 970000) <= 50 * 66);
	assert_true(fabs((double)op->algbw_p50_Bps - 1e6 / 970e-6) < 1e6 / 970e-6 / 60);
	assert_true(fabs((double)op->busbw_p50_Bps / (double)op->algbw_p50_Bps - 1.5) < 1e-6);
	assert_int_equal(op->last_rank, 3);
	assert_int_equal(op->last_count, 50);
	assert_true(labs((long)op->last_cost_ns - 50 * 10000) <= 50 * 66);
	assert_int_equal(report->ranks[3].last_count, 50);
	assert_int_equal(report->ranks[0].ops, 50);
	assert_int_equal(report->ranks[0].bytes, 50000000);
	assert_true(labs((long)report->ranks[0].wait_ns - 50 * 30000) <=
		    (long)report->ranks[0].err_ns);
	assert_true(labs((long)report->ranks[3].lateness_ns - 50 * 15000) <=
		    (long)report->ranks[3].err_ns);
	assert_int_equal(report->n_comms, 1);
	assert_true(report->comms[0].hash == JOB_COMM);
	assert_int_equal(report->comms[0].first_seq, 0);
	assert_int_equal(report->comms[0].last_seq, 49);
	assert_int_equal(report->comms[0].equal_to_seq, 49);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	ct_report_free(report);
}

/* What is recorded has numbers that grow; the times of rank 1 go back by as much in its middle. */
static size_t notes_of_a_clock_that_goes_back_by(uint64_t back_ns, uint32_t block_ops)
{
	const struct job_options options = { .run = "run", .ranks = 2, .block_ops = block_ops };
	struct ct_report *report;
	size_t n = 0;

	job_open(&job, &options);
	for (uint64_t k = 0; k < 100; k++) {
		for (int r = 0; r < 2; r++) {
			uint64_t at = 5000000000ull + 10000000 * k;

			at -= r && k >= 50 ? back_ns : 0;
			job_collective(&job, r, CT_OP_AllReduce, 1000, at, at + 1000000);
		}
	}
	job_close(&job, 6500000000ull);
	report = job_report(&job, -1);
	for (size_t i = 0; i < report->n_invisible; i++)
		n += strstr(report->invisible[i].why, "on host host0 goes back by 1.99 s") !=
			     NULL &&
		     strcmp(report->invisible[i].what, "rank 1") == 0;
	ct_report_free(report);
	return n;
}

static void a_clock_that_goes_back_is_reported(void **state)
{
	assert_int_equal(notes_of_a_clock_that_goes_back_by(2000000000, 0), 1);
	fx_teardown(state);
	fx_setup(state);
	assert_int_equal(notes_of_a_clock_that_goes_back_by(2000000000, 1), 1);
	fx_teardown(state);
	fx_setup(state);
	assert_int_equal(notes_of_a_clock_that_goes_back_by(0, 1), 0);
}

static void two_communicators_are_two(void **state)
{
	static const int some[] = { 3, 1 };
	struct ct_report *report;

	(void)state;
	open_job(4);
	job_comm(&job, 2, 0xabc, "pair", some, 2);
	for (uint64_t c = 0; c < 30; c++) {
		for (int i = 0; i < 2; i++)
			job_op(&job, some[i],
			       (struct ct_op){ .enter_ns = 500000 + c * 10000000,
					       .return_ns = 700000 + c * 10000000,
					       .count = 10,
					       .seq = c,
					       .comm = 2,
					       .peer = -1,
					       .op = CT_OP_AllGather,
					       .dtype = CT_DTYPE_int32 });
	}
	report = close_job(steady(30, 1000000));
	assert_int_equal(report->n_comms, 2);
	assert_int_equal(report->n_ops, 2);
	assert_true(report->comms[1].hash == 0xabc);
	assert_string_equal(report->comms[1].name, "pair");
	assert_int_equal(report->comms[1].n_ranks, 2);
	assert_int_equal(report->comms[1].ranks[0], 3);
	assert_int_equal(report->comms[1].ranks[1], 1);
	/* AllGather moves both shares. */
	assert_int_equal(report->comms[1].bytes, 30 * 10 * 4 * 2);
	assert_int_equal(report->run.incomplete, 0);
	ct_report_free(report);
}

/* ---- spans that are launches ---- */

static struct ct_op message(unsigned op, int peer, uint64_t seq, uint64_t enter, uint32_t launch)
{
	return (struct ct_op){
		.enter_ns = enter,
		.return_ns = enter + 5000,
		.count = 1000,
		.seq = seq,
		.peer = peer,
		.tag = 3,
		.launch = launch,
		.op = (uint8_t)op,
		.dtype = CT_DTYPE_uint8,
	};
}

static struct ct_launch waited_for(uint32_t id, uint64_t start, uint64_t end)
{
	return (struct ct_launch){
		.id = id,
		.comm = 1,
		.n_ops = 1,
		.start_ns = start,
		.end_ns = end,
		.start_source = start ? CT_SOURCE_CALL : CT_SOURCE_NONE,
		.end_source = CT_SOURCE_WAIT,
	};
}

static void messages_take_their_span_from_the_launch_in_a_later_block(void **state)
{
	struct ct_report *report;
	const struct ct_report_op *send, *recv;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2, .block_ops = 3 });
	for (uint32_t i = 0; i < 30; i++) {
		uint64_t at = 1000000 + i * 10000000ull;

		/* The receiver asks 2 ms before the sender sends; the message takes 1 ms. */
		job_op(&job, 1, message(CT_OP_Recv, 0, i, at, i + 1));
		job_op(&job, 0, message(CT_OP_Send, 1, i, at + 2000000, i + 1));
		if (i >= 8) {
			uint64_t then = at - 8 * 10000000ull;

			job_launch(&job, 1, waited_for(i - 7, then, then + 3000000));
			job_launch(&job, 0, waited_for(i - 7, then + 2000000, then + 3000000));
		}
	}
	report = close_job(400000000);
	assert_int_equal(report->n_ops, 2);
	send = strcmp(report->ops[0].op_name, "Send") == 0 ? &report->ops[0] : &report->ops[1];
	recv = send == &report->ops[0] ? &report->ops[1] : &report->ops[0];
	assert_string_equal(send->op_name, "Send");
	assert_string_equal(recv->op_name, "Recv");
	assert_int_equal(send->instances, 30);
	assert_true(labs((long)recv->span_p50_ns - 3000000) < 3000000 / 60);
	assert_true(labs((long)send->span_p50_ns - 1000000) < 1000000 / 60);
	/* 22 of them ended. */
	assert_true(labs((long)recv->wait_ns - 22 * 2000000) < 22 * 200);
	assert_true(send->wait_ns < 22 * 200);
	assert_true(labs((long)recv->transfer_ns - 22 * 1000000) < 22 * 200);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "P2P"));
	ct_report_free(report);
}

static void receive_from_anybody_finds_its_message(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(2);
	for (uint32_t i = 0; i < 5; i++) {
		struct ct_match_rec match = {
			.comm = 1, .launch = i + 1, .peer = 0, .tag = 3, .seq = i
		};
		uint64_t at = 1000000 + i * 10000000ull;

		job_op(&job, 0, message(CT_OP_Send, 1, i, at + 2000000, i + 1));
		job_launch(&job, 0, waited_for(i + 1, at + 2000000, at + 3000000));
		job_op(&job, 1, message(CT_OP_Recv, -1, 0, at, i + 1));
		job_launch(&job, 1, waited_for(i + 1, at, at + 3000000));
		job_rare(&job, 1, CT_KIND_MATCH, &match, sizeof(match));
	}
	report = close_job(400000000);
	assert_int_equal(report->n_ops, 2);
	assert_int_equal(report->run.incomplete, 0);
	assert_int_equal(report->ops[0].instances, 5);
	assert_int_equal(report->ops[1].instances, 5);
	ct_report_free(report);
}

static void spans_without_a_start_never_enter_waits(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(2);
	for (uint32_t i = 0; i < 40; i++) {
		for (int r = 0; r < 2; r++) {
			struct ct_op op = message(CT_OP_AllReduce, -1, i, 1000000 + i * 1000000ull,
						  i + 1);

			job_op(&job, r, op);
			job_launch(&job, r,
				   waited_for(i + 1, r ? op.enter_ns : 0, op.enter_ns + 100000));
		}
	}
	report = close_job(100000000);
	assert_int_equal(report->run.matched, 0);
	assert_int_equal(report->n_ops, 1);
	assert_true(report->ops[0].wait_ns == CT_UNKNOWN);
	assert_true(report->ops[0].transfer_ns == CT_UNKNOWN);
	assert_true(report->ops[0].busbw_p50_Bps == CT_UNKNOWN);
	assert_true(report->ranks[0].wait_ns == CT_UNKNOWN);
	assert_true(report->ranks[0].comm_ns == CT_UNKNOWN);
	assert_true(isnan(report->run.comm_share_pct));
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	ct_report_free(report);
}

/* ---- findings ---- */

static void contradiction_comes_first(void **state)
{
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(4);
	for (int c = 0; c < 60; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 20000000;

		for (int r = 0; r < 4; r++) {
			unsigned op = c == 50 && r == 2 ? CT_OP_Barrier : CT_OP_AllReduce;

			job_collective(&job, r, op, 100, at + (r == 3 ? 9000000u : 0),
				       at + 10000000);
		}
	}
	report = close_job(1300000000);
	assert_int_equal(report->verdict.code, CT_VERDICT_MISMATCH);
	assert_int_equal(report->n_findings, 2);
	f = &report->findings[0];
	assert_int_equal(f->kind, CT_FINDING_MISMATCH);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 2);
	assert_non_null(strstr(job_pairs(f), "seq=50 field=op theirs=Barrier others=AllReduce"));
	assert_int_equal(report->comms[0].first_difference, 50);
	f = &report->findings[1];
	assert_int_equal(f->kind, CT_FINDING_STRAGGLER);
	assert_int_equal(f->ranks[0], 3);
	ct_report_free(report);
}

/* Rank 3 comes late to all but the first ten, and rank 2 leaves out the eleventh. */
static void no_rank_is_blamed_where_members_have_come_apart(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(4);
	for (int c = 0; c < 60; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 20000000;

		for (int r = 0; r < 4; r++) {
			/* most of them fit by chance */
			uint64_t count = (uint64_t)(c + (r == 2 && c >= 10)) / 3 + 100;

			job_collective(&job, r, CT_OP_AllReduce, count,
				       at + (r == 3 && c > 10 ? 9000000u : 0), at + 10000000);
		}
	}
	report = close_job(1300000000);
	assert_int_equal(report->verdict.code, CT_VERDICT_MISMATCH);
	assert_int_equal(report->findings[0].kind, CT_FINDING_SKIPPED_OP);
	assert_int_equal(report->findings[0].ranks[0], 2);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_int_equal(report->run.matched, 11);
	assert_int_equal(report->ranks[3].last_count, 0);
	ct_report_free(report);
}

static void little_communication_is_not_the_matter(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(2);
	for (int c = 0; c < 40; c++) {
		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 10,
				       1000000 + (uint64_t)c * 100000000,
				       1200000 + (uint64_t)c * 100000000);
	}
	report = close_job(4000000000);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_COMMUNICATION);
	assert_true(report->verdict.gain_max_pct < 1);
	ct_report_free(report);
}

/* ---- dump ---- */

struct counted {
	unsigned ops, finished, entered, stop_after;
	uint64_t last_enter;
	int ordered;
};

static int count_op(const struct ct_joined_op *op, void *arg)
{
	struct counted *c = arg;

	c->ordered &= op->op->enter_ns >= c->last_enter || op->op->enter_ns < 1000000000;
	c->ops++;
	c->finished += op->state == CT_STATE_FINISHED;
	c->entered += op->state == CT_STATE_ENTERED;
	assert_string_equal(op->call, "gloo::allreduce");
	assert_true(op->comm_hash == JOB_COMM);
	assert_int_equal(op->comm_rank, (int)op->process->id.rank);
	assert_int_equal(op->bytes, 1000000);
	return c->stop_after && c->ops == c->stop_after ? 42 : 0;
}

static void every_op_is_yielded_with_its_names(void **state)
{
	struct counted c = { .ordered = 1 }, stopped = { .stop_after = 7 };
	struct ct_run *run;
	const char *path;

	(void)state;
	open_job(3);
	steady(40, 1000000);
	job_collective(&job, 2, CT_OP_AllReduce, 250000, 900000000, 0);
	job_close(&job, 0);
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(ct_ops_each(run, count_op, &c, NULL), 0);
	assert_int_equal(c.ops, 121);
	assert_int_equal(c.finished, 120);
	assert_int_equal(c.entered, 1);
	assert_int_equal(ct_ops_each(run, count_op, &stopped, NULL), 42);
	assert_int_equal(stopped.ops, 7);
	ct_run_close(run);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(tables_hold_what_was_written),
		ON_DISK(a_clock_that_goes_back_is_reported),
		ON_DISK(two_communicators_are_two),
		ON_DISK(messages_take_their_span_from_the_launch_in_a_later_block),
		ON_DISK(receive_from_anybody_finds_its_message),
		ON_DISK(spans_without_a_start_never_enter_waits),
		ON_DISK(contradiction_comes_first),
		ON_DISK(no_rank_is_blamed_where_members_have_come_apart),
		ON_DISK(little_communication_is_not_the_matter),
		ON_DISK(every_op_is_yielded_with_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
