/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are not whole, or more than one: missing ranks and records, restarts, processes that
 * did not end well, operations that never ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/render.h"
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

/* ---- what is missing ---- */

static void rank_without_trace_is_named(void **state)
{
	struct ct_report *report;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 4, .absent = 1 << 2 });
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->run.ranks_expected, 4);
	assert_int_equal(report->run.ranks_seen, 3);
	assert_int_equal(report->run.n_missing, 1);
	assert_int_equal(report->run.ranks_missing[0], 2);
	assert_false(report->run.complete);
	assert_int_equal(report->comms[0].ranks[2], -1);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "3 of 4 ranks"));
	/* What each rank did is known all the same. */
	assert_int_equal(report->ops[0].instances, 50);
	assert_true(report->ops[0].span_p50_ns != CT_UNKNOWN);
	assert_true(report->ops[0].wait_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void lost_records_are_reported_and_no_rank_is_judged_by_the_rest(void **state)
{
	struct ct_loss_rec loss = { .reason = CT_LOSS_POOL_EMPTY, .records = 25 };
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(3);
	for (int c = 0; c < 50; c++) {
		for (int r = 0; r < 3; r++) {
			uint64_t at = 1000000 + (uint64_t)c * 10000000;

			if (r == 1 && c >= 20 && c < 45)
				job.seq[r]++; /* not recorded */
			else
				job_collective(&job, r, CT_OP_AllReduce, 250000, at, at + 1000000);
		}
	}
	loss.begin_ns = job.clock[1] + 201000000;
	loss.end_ns = job.clock[1] + 450000000;
	job_rare(&job, 1, CT_KIND_LOSS, &loss, sizeof(loss));
	report = close_job(600000000);
	assert_int_equal(report->dropped_records, 25);
	assert_int_equal(report->n_dropped, 1);
	assert_string_equal(report->dropped[0].reason, "POOL_EMPTY");
	assert_int_equal(report->dropped[0].rank, 1);
	assert_int_equal(report->dropped[0].begin_at_ns, 201000000);
	assert_false(report->run.complete);
	assert_false(report->ranks[1].complete);
	assert_int_equal(report->ranks[1].dropped_records, 25);
	assert_true(report->ranks[0].complete);
	assert_int_equal(report->run.matched, 25);
	assert_int_equal(report->run.incomplete, 25);
	f = job_finding(report, CT_FINDING_DROPPED_RECORDS);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 1);
	assert_non_null(strstr(job_pairs(f), "records=25 "));
	assert_non_null(strstr(f->advice, "COMMTRACE_RING_MB"));
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	assert_int_equal(report->verdict.confidence, CT_CONFIDENCE_MEDIUM);
	ct_report_free(report);
}

/* Ranks that are late in turns, records of rank 1 missing: the advice is the remedy of the reason
 * that dropped most. */
static void waits_beside_lost_records_advise_their_remedy(void **state)
{
	static const struct ct_loss_rec losses[] = {
		{ .reason = CT_LOSS_MAX_BYTES, .records = 5 },
		{ .reason = CT_LOSS_POOL_EMPTY, .records = 20 },
	};
	struct ct_report *report;

	(void)state;
	open_job(3);
	for (int c = 0; c < 50; c++) {
		for (int r = 0; r < 3; r++) {
			uint64_t at = 1000000 + (uint64_t)c * 10000000;

			if (r == 1 && c >= 20 && c < 45)
				job.seq[r]++; /* not recorded */
			else
				job_collective(&job, r, CT_OP_AllReduce, 250000,
					       at + (c % 3 == r ? 5000000u : 0), at + 6000000);
		}
	}
	for (int i = 0; i < 2; i++)
		job_rare(&job, 1, CT_KIND_LOSS, &losses[i], sizeof(losses[i]));
	report = close_job(600000000);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "records of rank 1 are missing"));
	assert_non_null(strstr(report->verdict.advice, "COMMTRACE_RING_MB"));
	ct_report_free(report);
}

/* Ends that are not recorded are no lost records, but the trace lacks them. */
static void ends_that_are_not_recorded_are_said(void **state)
{
	const struct ct_loss_rec loss = { .reason = CT_LOSS_OPEN_TABLE_FULL, .records = 3000 };
	struct ct_report *report;
	char *text;

	(void)state;
	open_job(3);
	for (int r = 0; r < 2; r++)
		job_rare(&job, r, CT_KIND_LOSS, &loss, sizeof(loss));
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->dropped_records, 0);
	assert_int_equal(report->dropped_ends, 6000);
	text = job_text(report, 1);
	assert_non_null(strstr(text, "complete, the ends of 6000 operations not recorded: 3 of 3"));
	free(text);
	ct_report_free(report);
}

/* Nothing was recorded of some calls: that is not "nothing lost". */
static void calls_that_are_not_recorded_are_said(void **state)
{
	const struct ct_loss_rec losses[] = {
		{ .reason = CT_LOSS_STARTING, .records = 5 },
		{ .reason = CT_LOSS_NOT_INTERPOSABLE, .records = 7 },
	};
	const struct ct_text_style style = { 0 };
	struct ct_report *report;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(out);
	open_job(3);
	for (int r = 0; r < 2; r++)
		job_rare(&job, r, CT_KIND_LOSS, &losses[r], sizeof(losses[r]));
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->dropped_records, 0);
	assert_int_equal(report->dropped_calls, 12);
	ct_report_text(report, &style, out);
	fclose(out);
	assert_non_null(strstr(text, "no dropped records, but 12 calls were not recorded"));
	free(text);
	ct_report_free(report);
}

static void the_advice_on_dropped_records_follows_their_reason(void **state)
{
	static const struct ct_loss_rec losses[] = {
		{ .reason = CT_LOSS_MAX_BYTES, .records = 50 },
		{ .reason = CT_LOSS_POOL_EMPTY, .records = 20 },
	};
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	open_job(3);
	for (int i = 0; i < 2; i++)
		job_rare(&job, 1, CT_KIND_LOSS, &losses[i], sizeof(losses[i]));
	report = close_job(steady(50, 1000000));
	f = job_finding(report, CT_FINDING_DROPPED_RECORDS);
	assert_non_null(f);
	assert_non_null(strstr(f->advice, "COMMTRACE_MAX_BYTES"));
	assert_null(strstr(f->advice, "COMMTRACE_RING_MB"));
	ct_report_free(report);
}

/* Records missing from imports are not due to a setting; their number is unknown. */
static void damaged_file_is_to_be_copied_again(void **state)
{
	const struct ct_finding *f;
	struct ct_report *report;
	const char *path;
	char end[64];
	size_t bytes;
	uint8_t *data;
	char *text;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 3, .block_ops = 10 });
	job_close(&job, steady(50, 1000000));
	snprintf(end, sizeof(end), "4000001.%llx.0.seg", (unsigned long long)job.ids[1].start_ns);
	path = fx_only("run", end);
	data = fx_read(path, &bytes);
	/* its head stays whole */
	memset(data + bytes - bytes / 6, 0xa5, 16);
	fx_write(path, data, bytes);
	free(data);
	report = job_report(&job, -1);
	f = job_finding(report, CT_FINDING_DROPPED_RECORDS);
	assert_non_null(f);
	assert_non_null(strstr(job_pairs(f), "records=unknown "));
	assert_non_null(strstr(job_pairs(f), "pct_of_records=n/a"));
	assert_non_null(strstr(f->advice, "copy the file again"));
	assert_non_null(strstr(f->note, ".seg"));
	assert_null(strstr(f->advice, "COMMTRACE_RING_MB"));
	assert_true(isnan(f->evidence[0].value));
	text = job_text(report, 0);
	assert_non_null(strstr(text, "dropped   unknown number of records; rank 1: "));
	free(text);
	ct_report_free(report);
}

static void one_rank_has_no_one_to_wait_for(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job(1);
	report = close_job(steady(50, 1000000));
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "one rank"));
	assert_int_equal(report->ops[0].instances, 50);
	assert_true(report->ops[0].transfer_ns == CT_UNKNOWN);
	assert_true(report->ranks[0].wait_ns == CT_UNKNOWN);
	ct_report_free(report);
}

static void run_without_operations_is_a_report(void **state)
{
	struct ct_report *report;
	json_t *json;

	(void)state;
	open_job(2);
	report = close_job(5000000);
	assert_int_equal(report->n_ops, 0);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "no communication"));
	json = ct_report_json(report);
	assert_non_null(json);
	json_decref(json);
	ct_report_free(report);
}

static void no_such_start_is_an_error(void **state)
{
	struct ct_analyze_options options = { .restart = 3 };
	const char *path;
	struct ct_report *report;
	struct ct_run *run;
	struct ct_err err;

	(void)state;
	open_job(2);
	job_close(&job, 1000);
	path = fx_path("run");
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, &err), CT_OK);
	assert_int_equal(ct_analyze(run, &options, &report, &err), CT_NOTFOUND);
	assert_null(report);
	ct_run_close(run);
}

/* ---- starts ---- */

static void restarted_job_is_reported_by_its_last_start(void **state)
{
	struct ct_report *report;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 3 });
	steady(30, 1000000);
	job_close(&job, 0); /* all ranks were killed */
	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = 3,
					      .restart = 1,
					      .start_ns = 5000000000,
					      .pid = 4001000 });
	report = close_job(steady(40, 5001000000));
	assert_int_equal(report->run.restart, 1);
	assert_int_equal(report->run.starts, 2);
	assert_int_equal(report->run.ranks_seen, 3);
	assert_int_equal(report->run.matched, 40);
	assert_int_equal(report->n_processes, 6);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	assert_int_equal(report->ranks[0].pid, 4001000);
	ct_report_free(report);
	report = job_report(&job, 0);
	assert_int_equal(report->run.matched, 30);
	assert_false(report->run.complete); /* no ring, no orderly end */
	assert_int_equal(report->n_ended, 3);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(
		strstr(report->verdict.text, "3 processes ended in a way that was not recorded"));
	ct_report_free(report);
}

static void second_run_into_the_same_directory_is_a_start_of_its_own(void **state)
{
	struct ct_report *report;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2 });
	job_close(&job, steady(30, 1000000));
	job_open(&job, &(struct job_options){
			       .run = "run", .ranks = 2, .start_ns = 9000000000, .pid = 4001000 });
	report = close_job(steady(25, 9001000000));
	assert_int_equal(report->run.starts, 2);
	assert_int_equal(report->run.matched, 25);
	assert_true(report->run.duration_ns < 1000000000);
	ct_report_free(report);
}

/* ---- in flight and ends ---- */

static void operations_inside_their_call_are_listed(void **state)
{
	struct ct_report *report;
	uint64_t end;
	char *text;

	(void)state;
	open_job(3);
	end = steady(30, 1000000);
	for (int r = 0; r < 3; r++) {
		if (r != 1)
			job_collective(&job, r, CT_OP_AllReduce, 250000, end + (uint64_t)r, 0);
	}
	report = close_job(0);
	assert_int_equal(report->n_in_flight, 2);
	assert_int_equal(report->in_flight[0].rank, 0);
	assert_int_equal(report->in_flight[1].rank, 2);
	assert_int_equal(report->in_flight[0].seq, 30);
	assert_true(labs((long)report->in_flight[0].since_at_ns - (long)end) <= 64);
	assert_string_equal(report->in_flight[0].call, "gloo::allreduce");
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "in flight 2 operations (ranks 0,2) when recording ended"));
	free(text);
	ct_report_free(report);
}

/* Ranks 0 and 2 stand in an operation, for `age_ns` as far as heartbeats show; before, all took
 * `usual_ns` for the like. */
static struct ct_report *standing(const char *run, uint64_t usual_ns, uint64_t age_ns, int alive)
{
	uint64_t period = usual_ns < 50000000 ? 100000000 : 1000000000;
	uint64_t at = 1000000, end = at + 30 * period;

	job_open(&job, &(struct job_options){ .run = run, .ranks = 3, .alive = alive });
	for (int n = 0; n < 30; n++, at += period) {
		for (int r = 0; r < 3; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at + (uint64_t)r * 100,
				       at + usual_ns);
	}
	for (int r = 0; r < 3; r++) {
		struct ct_status_rec status = { .beat_ns = end + age_ns + job.clock[r] };

		if (r != 1)
			job_collective(&job, r, CT_OP_AllReduce, 250000, end, 0);
		job_rare(&job, r, CT_KIND_STATUS, &status, sizeof(status));
	}
	return close_job(0);
}

static void operations_that_take_unusually_long_are_not_healthy(void **state)
{
	static const struct {
		uint64_t usual_ns, age_ns;
		int alive, is_stuck;
		const char *verdict, *in_flight;
	} cases[] = {
		{ 1000000, 500000000, 1, 0, "no straggler above",
		  "in flight 2 operations (ranks 0,2) now" },
		{ 1000000, 2500000000, 1, 1, "2 operations in flight for 2.50 s, unusually long",
		  "in flight 2 operations (ranks 0,2) now" },
		/* the others took nearly a second: twice that is not a surprise yet */
		{ 900000000, 1700000000, 1, 0, "no straggler above", "(ranks 0,2) now" },
		{ 900000000, 2500000000, 1, 1, "unusually long", "(ranks 0,2) now" },
		{ 1000000, 31000000000, 1, 1,
		  "rank 1 (host0) never entered AllReduce #30; 2 ranks waiting ",
		  "(ranks 0,2) now" },
		{ 1000000, 500000000, 0, 1, "2 operations in flight when recording ended",
		  "in flight 2 operations (ranks 0,2) when recording ended" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ct_report *report;
		char *text, run[16];

		snprintf(run, sizeof(run), "run%zu", i);
		report = standing(run, cases[i].usual_ns, cases[i].age_ns, cases[i].alive);
		text = job_text(report, 0);
		if (!strstr(report->verdict.text, cases[i].verdict) ||
		    !strstr(text, cases[i].in_flight))
			fail_msg("case %zu: %s", i, text);
		assert_int_equal(report->n_stuck, cases[i].is_stuck ? 2 : 0);
		assert_int_equal(report->run.processes_running, cases[i].alive ? 3 : 0);
		assert_int_equal(report->verdict.code == CT_VERDICT_HEALTHY, !cases[i].is_stuck);
		assert_int_equal(strstr(text, " so far, job") != NULL, cases[i].alive);
		free(text);
		ct_report_free(report);
	}
}

/* A thread that listens all the time is not a reason, while the others go on; nor is what waits on
 * a GPU. */
static void a_listener_is_not_stuck(void **state)
{
	struct ct_report *report;
	uint64_t end;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2, .alive = 1 });
	job_op(&job, 0,
	       (struct ct_op){ .enter_ns = 1000000,
			       .count = 4,
			       .comm = 1,
			       .peer = 1,
			       .op = CT_OP_Recv,
			       .dtype = CT_DTYPE_float32 });
	end = steady(500, 1000000);
	for (int r = 0; r < 2; r++) {
		struct ct_status_rec status = { .beat_ns = end + job.clock[r] };

		job_rare(&job, r, CT_KIND_STATUS, &status, sizeof(status));
	}
	report = close_job(0);
	assert_int_equal(report->n_in_flight, 1);
	assert_true(report->in_flight[0].age_ns > 4000000000ull);
	assert_int_equal(report->n_stuck, 0);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	ct_report_free(report);
}

static void open_op_of_the_last_status_counts_unless_its_record_came(void **state)
{
	struct ct_open_op_rec open = { .tid = 9, .slot = 0 };
	struct ct_op op = { .count = 5, .seq = 30, .comm = 1, .peer = -1, .op = CT_OP_Barrier };
	struct ct_report *report;
	uint64_t end;

	(void)state;
	open_job(2);
	end = steady(30, 1000000);
	for (int r = 0; r < 2; r++) {
		op.enter_ns = job.clock[r] + end;
		ct_op_pack(&op, open.words);
		open.words[0] = CT_TAG(1, CT_KIND_OP, 7);
		open.words[CT_OP_W_END] = 0;
		job_flush(&job, r);
		/* Rank 1's is the slot that will be written next. */
		open.lap = r == 1 ? 1 + job.slots[1] : 999999;
		job_rare(&job, r, CT_KIND_OPEN_OP, &open, sizeof(open));
		job_flush(&job, r);
	}
	job_collective(&job, 1, CT_OP_Barrier, 0, end, end + 1000000);
	report = close_job(0);
	assert_int_equal(report->n_in_flight, 1);
	assert_int_equal(report->in_flight[0].rank, 0);
	assert_string_equal(report->in_flight[0].op_name, "Barrier");
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(rank_without_trace_is_named),
		ON_DISK(damaged_file_is_to_be_copied_again),
		ON_DISK(lost_records_are_reported_and_no_rank_is_judged_by_the_rest),
		ON_DISK(waits_beside_lost_records_advise_their_remedy),
		ON_DISK(ends_that_are_not_recorded_are_said),
		ON_DISK(waits_beside_lost_records_advise_their_remedy),
		ON_DISK(calls_that_are_not_recorded_are_said),
		ON_DISK(waits_beside_lost_records_advise_their_remedy),
		ON_DISK(the_advice_on_dropped_records_follows_their_reason),
		ON_DISK(one_rank_has_no_one_to_wait_for),
		ON_DISK(run_without_operations_is_a_report),
		ON_DISK(no_such_start_is_an_error),
		ON_DISK(restarted_job_is_reported_by_its_last_start),
		ON_DISK(second_run_into_the_same_directory_is_a_start_of_its_own),
		ON_DISK(operations_inside_their_call_are_listed),
		ON_DISK(operations_that_take_unusually_long_are_not_healthy),
		ON_DISK(a_listener_is_not_stuck),
		ON_DISK(open_op_of_the_last_status_counts_unless_its_record_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
