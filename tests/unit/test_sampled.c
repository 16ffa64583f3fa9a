/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of which not everything was timed: what the figures are of, what is said about it, and that
 * no rank is blamed for untimed operations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/job.h"
#include "trace/ops.h"

#define MS 1000000ull
#define ERR 2500u
enum { RANKS = 4 };

static struct job job;
static uint32_t launches[RANKS];

static void open_job(void)
{
	job_open(&job,
		 &(struct job_options){ .run = "run", .ranks = RANKS, .backend = CT_BACKEND_NCCL });
	memset(launches, 0, sizeof(launches));
}

enum timed { NOT_TIMED, BY_EVENTS, BY_HOST };

/* An all-reduce of one rank. Not timed: its op says so, and there is no launch record. */
static void reduce(int rank, uint64_t count, uint64_t start, uint64_t end, int timed)
{
	const struct ct_op op = {
		.op = CT_OP_AllReduce,
		.count = count,
		.peer = -1,
		.dtype = CT_DTYPE_float32,
		.seq = job.seq[rank]++,
		.enter_ns = start - 50000,
		.return_ns = start - 40000,
		.launch = ++launches[rank],
		.flags = timed ? 0 : CT_OP_UNTIMED,
	};

	job_op(&job, rank, op);
	if (timed)
		job_launch(&job, rank,
			   (struct ct_launch){ .id = op.launch,
					       .comm = 1,
					       .n_ops = 1,
					       .stream = 7,
					       .start_ns = timed == BY_HOST ? 0 : start,
					       .end_ns = end,
					       .start_err_ns = timed == BY_HOST ? 0 : ERR,
					       .end_err_ns = ERR,
					       .start_source = timed == BY_HOST ? CT_SOURCE_NONE
										: CT_SOURCE_EVENT,
					       .end_source = timed == BY_HOST ? CT_SOURCE_POLL
									      : CT_SOURCE_EVENT });
}

static struct ct_report *close_job(uint64_t end, const struct ct_cost_rec *cost)
{
	struct ct_cost_rec rec = cost ? *cost
				      : (struct ct_cost_rec){ .timed_by = CT_TIMED_BY_EVENTS };

	rec.gpu_events = 100;
	for (int r = 0; r < RANKS; r++) {
		struct ct_cost_rec own = rec;

		own.raised_ns += rec.raised_ns ? job.clock[r] : 0;
		own.lowered_ns += rec.lowered_ns ? job.clock[r] : 0;
		job_rare(&job, r, CT_KIND_COST, &own, sizeof(own));
	}
	job_close(&job, end);
	return job_report(&job, -1);
}

/* Rank 1 times every one, the others one in four: its own are of no row. */
static void an_instance_counts_with_all_of_its_members_or_not_at_all(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 200; c++) {
		int common = c % 4 == 0;

		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 5 + (common ? 1 : 9)) * MS,
			       common || r == 1);
	}
	report = close_job(4010 * MS, NULL);
	assert_int_equal(report->n_ops, 1);
	assert_int_equal(report->ops[0].instances, 200);
	assert_in_range(report->ops[0].span_p50_ns, MS - MS / 50, MS + MS / 50);
	assert_in_range(report->ops[0].span_p99_ns, MS - MS / 50, MS + MS / 50);
	assert_in_range(report->ops[0].transfer_ns, 50 * MS - MS, 50 * MS + MS);
	assert_int_equal(report->run.matched, 50);
	assert_int_equal(report->run.incomplete, 0);
	assert_true(fabs(report->ranks[0].timed_ratio - 0.25) < 1e-9);
	assert_true(fabs(report->ranks[1].timed_ratio - 1) < 1e-9);
	assert_true(fabs(report->run.timed_ratio - 1.75 / 4) < 1e-9);
	/* what is not known is not a smaller number */
	assert_true(report->ranks[0].comm_ns == CT_UNKNOWN);
	ct_report_free(report);
}

/* Rank 1 had gone over to events when the others had not: what it timed alone is of no row,
 * whatever it shows. */
static void a_member_that_the_host_timed_makes_an_instance_untimed(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 200; c++) {
		int common = c >= 150;

		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 5 + (common ? 1 : 9)) * MS,
			       common || r == 1 ? BY_EVENTS : BY_HOST);
	}
	report = close_job(4010 * MS, NULL);
	assert_int_equal(report->ops[0].instances, 200);
	assert_int_equal(report->run.matched, 50);
	assert_in_range(report->ops[0].span_p99_ns, MS - MS / 50, MS + MS / 50);
	assert_in_range(report->ops[0].transfer_ns, 50 * MS - MS, 50 * MS + MS);
	ct_report_free(report);
}

enum gone { NOTHING, SECONDS, TWO_TIMES, BEGINNING, END, MUCH, HERE_AND_THERE };

/* Of 3000 steps, is this one timed? But for MUCH one in ten or fewer are not. */
static int is_timed(enum gone gone, uint64_t step)
{
	switch (gone) {
	case SECONDS:
		return step < 1000 || step >= 1300;
	case TWO_TIMES:
		return (step < 50 || step >= 310) && (step < 1000 || step >= 1300);
	case BEGINNING:
		return step >= 200;
	case END:
		return step < 2800;
	case MUCH:
		return step < 1000 || step >= 2000;
	case HERE_AND_THERE:
		return step % 10 != 0;
	case NOTHING:
		break;
	}
	return 1;
}

/* Of a minute rank 2 is late by 5 ms in each step of 20 ms. */
static struct ct_report *late_with_gaps(enum gone gone)
{
	enum { STEPS = 3000 };

	open_job();
	for (uint64_t c = 0; c < STEPS; c++) {
		uint64_t at = c * 20 * MS + 2 * MS;
		int timed = is_timed(gone, c);

		for (int r = 0; r < RANKS; r++) {
			reduce(r, 8000, at, at + 4 * MS, timed);
			reduce(r, 1000, at + 6 * MS + (r == 2 ? 5 * MS : 0), at + 13 * MS, timed);
		}
	}
	return close_job((STEPS * 20 + 10) * MS, NULL);
}

static void seconds_that_are_left_out_leave_the_others_to_be_judged(void **state)
{
	struct ct_report *report = late_with_gaps(SECONDS);
	void *fresh = NULL;

	(void)state;
	assert_false(isnan(report->whatif.s));
	assert_non_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_int_equal(job_finding(report, CT_FINDING_STRAGGLER)->n_ranks, 1);
	assert_int_equal(job_finding(report, CT_FINDING_STRAGGLER)->ranks[0], 2);
	ct_report_free(report);
	assert_int_equal(fx_teardown(&fresh), 0);
	assert_int_equal(fx_setup(&fresh), 0);
	report = late_with_gaps(HERE_AND_THERE);
	assert_true(isnan(report->whatif.s));
	assert_non_null(report->whatif.why_not);
	ct_report_free(report);
}

struct shares {
	double comm_pct, gaps_pct, comm_ns;
};

static struct shares shares_of(enum gone gone)
{
	struct ct_report *report = late_with_gaps(gone);
	struct shares s = {
		.comm_pct = report->run.comm_share_pct,
		.gaps_pct = NAN,
		.comm_ns = report->ranks[0].comm_ns == CT_UNKNOWN
				   ? NAN
				   : (double)report->ranks[0].comm_ns,
	};
	void *fresh = NULL;
	char *text = job_text(report, 0);

	/* what it is a share of */
	assert_int_equal(!strstr(text, " with timed launches (busiest rank)"),
			 gone == NOTHING || isnan(s.comm_pct));
	free(text);
	for (size_t r = 0; r < report->n_stream_idle; r++) {
		const struct ct_report_stream_idle *g = &report->stream_idle[r];

		if (g->rank == 2 && g->idle_waiting_for_compute_ns != CT_UNKNOWN)
			s.gaps_pct = 100 *
				     (double)(g->idle_launch_ns + g->idle_host_bound_ns +
					      g->idle_waiting_for_compute_ns) /
				     (double)g->steps_ns;
	}
	ct_report_free(report);
	assert_int_equal(fx_teardown(&fresh), 0);
	assert_int_equal(fx_setup(&fresh), 0);
	return s;
}

static void seconds_that_are_left_out_are_of_no_share(void **state)
{
	static const enum gone rows[] = { SECONDS, TWO_TIMES, BEGINNING, END };
	const struct shares all = shares_of(NOTHING);

	(void)state;
	/* 11 of 20 ms; rank 2 is free for 7 ms after each operation, and one of these gaps is
	 * within a step */
	assert_true(fabs(all.comm_pct - 55) < 0.5);
	assert_true(fabs(all.gaps_pct - 35) < 0.5);
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		const struct shares some = shares_of(rows[k]);

		assert_true(fabs(some.comm_pct - all.comm_pct) < 0.5);
		assert_true(fabs(some.gaps_pct - all.gaps_pct) < 0.5);
		/* a sum is of what was timed */
		assert_true(some.comm_ns < 0.95 * all.comm_ns);
	}
}

static void what_is_missing_here_and_there_is_not_left_out(void **state)
{
	struct ct_report *report = late_with_gaps(HERE_AND_THERE);
	void *fresh = NULL;
	char *text = job_text(report, 0);

	(void)state;
	assert_non_null(strstr(text,
			       "comm time n/a: launches without times lie between timed ones for "
			       "less than 5.00 s"));
	free(text);
	ct_report_free(report);
	assert_int_equal(fx_teardown(&fresh), 0);
	assert_int_equal(fx_setup(&fresh), 0);
	assert_true(isnan(shares_of(HERE_AND_THERE).comm_pct));
	assert_true(isnan(shares_of(HERE_AND_THERE).gaps_pct));
	/* nor is a third of the run */
	assert_true(isnan(shares_of(MUCH).comm_pct));
}

/* Rank 2 is late by 5 ms to every operation that is timed. Before it there may be another one. */
static struct ct_report *late_rank(int other, int other_is_timed)
{
	open_job();
	for (uint64_t c = 0; c < 200; c++) {
		uint64_t at = c * 20 * MS + 2 * MS;

		for (int r = 0; r < RANKS; r++) {
			uint64_t late = r == 2 ? 5 * MS : 0;

			/* which is done when rank 2 goes on; where it was held up is not in this
			 * trace */
			if (other)
				reduce(r, 8000, at, at + 4 * MS + late, other_is_timed);
			reduce(r, 1000, at + 6 * MS + late, at + 12 * MS, 1);
		}
	}
	return close_job(4010 * MS, NULL);
}

static void no_rank_is_charged_for_what_it_did_before_that_was_not_timed(void **state)
{
	struct ct_report *report = late_rank(0, 0);
	void *fresh = NULL;

	(void)state;
	/* it is late by itself, since nothing else is there */
	assert_non_null(job_finding(report, CT_FINDING_STRAGGLER));
	ct_report_free(report);
	assert_int_equal(fx_teardown(&fresh), 0);
	assert_int_equal(fx_setup(&fresh), 0);
	report = late_rank(1, 0);
	assert_null(job_finding(report, CT_FINDING_STRAGGLER));
	assert_int_equal(report->run.matched, 200);
	ct_report_free(report);
}

static void a_rank_that_came_last_is_reported_with_what_was_not_timed(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 200; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS + (r == 2 ? 5 * MS : 0),
			       (c * 20 + 12) * MS, c % 4 != 0);
	report = close_job(4010 * MS, NULL);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "rank 2 was last in "));
	assert_non_null(strstr(report->verdict.text, "; only 75.0 % of the launches were timed"));
	assert_non_null(strstr(report->verdict.advice, "COMMTRACE_SAMPLE=1 COMMTRACE_BUDGET=off"));
	ct_report_free(report);
}

static void what_was_left_out_is_said(void **state)
{
	const struct ct_cost_rec cost = {
		.write_cpu_ns = 1000,
		.timed_by = CT_TIMED_BY_EVENTS,
		.timed_why = CT_TIMED_WHY_AUTO,
		.sample = 1u << 30,
		.budget_millionths = 10000,
		.duty_on_ms = 10000,
		.duty_ms = 60000,
		.budget_backoffs = 3,
		.level = 1,
		.coarsest = 2,
	};
	struct ct_report *report;
	char *text;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, c % 4 == 0);
	report = close_job(2010 * MS, &cost);
	assert_int_equal(report->overhead[0].budget_backoffs, 3);
	assert_int_equal(report->overhead[0].events, 100);
	text = job_text(report, 0);
	assert_non_null(strstr(text,
			       "\ntimed     25.0 % of launches (sample 4, duty 10.0 s/60.0 s, "
			       "budget down to 1 in 4): sums are of\n          these\n"));
	free(text);
	text = job_text(report, 1);
	assert_non_null(strstr(text, "    sample 4, duty 10.0 s/60.0 s, budget 1.00 %, "
				     "backoffs 3, level 1, coarsest 2\n"));
	free(text);
	ct_report_free(report);
}

static void what_auto_had_to_take_is_in_the_first_line(void **state)
{
	const struct ct_cost_rec cost = {
		.write_cpu_ns = 1000,
		.timed_by = CT_TIMED_BY_PLUGIN,
		.timed_why = CT_TIMED_WHY_ONE_CONNECTION,
		.plugin_loaded = 1,
	};
	struct ct_report *report;
	char *text;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, 1);
	report = close_job(2010 * MS, &cost);
	assert_string_equal(report->run.timing_why, "CUDA_DEVICE_MAX_CONNECTIONS=1");
	text = job_text(report, 0);
	assert_non_null(strstr(text, "(CUDA_DEVICE_MAX_CONNECTIONS=1)"));
	free(text);
	ct_report_free(report);
}

/* A run that ended before auto used events has no device times: that, and what to do about it, is
 * said. */
static void that_it_was_too_early_for_events_is_said(void **state)
{
	const struct ct_cost_rec cost = {
		.write_cpu_ns = 1000,
		.timed_by = CT_TIMED_BY_HOST,
		.timed_why = CT_TIMED_WHY_EARLY,
	};
	struct ct_report *report;
	char *text;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, BY_HOST);
	report = close_job(2010 * MS, &cost);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "(too early for events)\nevents    not used yet: there are no "
				     "device times, and findings rest on host times; "));
	assert_non_null(strstr(text, "--set TIMING=events"));
	free(text);
	ct_report_free(report);
}

static void that_streams_were_too_many_is_said(void **state)
{
	const struct ct_cost_rec cost = {
		.write_cpu_ns = 1000,
		.timed_by = CT_TIMED_BY_HOST,
		.timed_why = CT_TIMED_WHY_STREAMS,
	};
	struct ct_report *report;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, 1);
	report = close_job(2010 * MS, &cost);
	assert_string_equal(report->run.timing_why,
			    "too many streams for CUDA_DEVICE_MAX_CONNECTIONS");
	assert_true(report->run.timing_is_forced);
	ct_report_free(report);
}

/* When events were used, what a step was taken for, and what timing did to it; in the report the
 * median rank's. */
static void what_was_decided_is_said(void **state)
{
	const struct ct_cost_rec cost = {
		.write_cpu_ns = 1000,
		.timed_by = CT_TIMED_BY_HOST,
		.timed_why = CT_TIMED_WHY_SLOWER,
		.raised_ns = 12000 * MS,
		.lowered_ns = 250000 * MS,
		.change_millionths = 51200,
		.change_err_millionths = 8000,
		.windows_off = 2,
		.windows_on = 17,
		.step_ns = 400 * MS,
		.step_collectives = 20,
	};
	struct ct_report *report;
	char *text;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, 1);
	report = close_job(2010 * MS, &cost);
	assert_true(fabs(report->run.step_change_pct - 5.12) < 1e-9);
	assert_true(fabs(report->run.step_change_err_pct - 0.8) < 1e-9);
	assert_int_equal(report->run.events_from_ns, 12000 * MS);
	assert_int_equal(report->run.events_until_ns, 250000 * MS);
	text = job_text(report, 0);
	assert_non_null(strstr(text, "(timed events made steps longer)"));
	assert_non_null(strstr(text,
			       "\nevents    used from 12.0 s until 250 s: lateness and exposed "
			       "communication are of that time\n"));
	assert_non_null(strstr(text, "5.12 ± 0.80 %"));
	free(text);
	text = job_text(report, 1);
	assert_non_null(strstr(text, "    timed events made steps longer\n"));
	assert_non_null(strstr(
		text, "\n    events from 12.0 s, events until 250 s, step 400 ms, step change "
		      "+5.12 ± 0.80 % "));
	free(text);
	ct_report_free(report);
}

/* What is not known is not an effect of nothing, and has a reason. */
static void what_was_not_measured_is_said(void **state)
{
	static const struct {
		enum ct_unmeasured unmeasured;
		uint32_t duty_ms;
		const char *why;
	} rows[] = {
		{ CT_UNMEASURED_FEW, 0, "too few windows of 40.0 s: 1 without timing, 5 with" },
		{ CT_UNMEASURED_LONG, 0,
		  "steps of 15.0 s are longer than a third of a window of 40.0 s" },
		{ CT_UNMEASURED_NO_STEP, 0, "no two steps alike were seen" },
		{ CT_UNMEASURED_NO_COLLECTIVES, 0, "no collectives outside CUDA graphs" },
		{ CT_UNMEASURED_OFF, 0, "COMMTRACE_GUARD=off" },
		{ CT_UNMEASURED_OFF, 60000, "COMMTRACE_DUTY is set" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ct_cost_rec cost = {
			.write_cpu_ns = 1000,
			.timed_by = CT_TIMED_BY_EVENTS,
			.timed_why = CT_TIMED_WHY_AUTO,
			.change_err_millionths = UINT32_MAX,
			.windows_off = 1,
			.windows_on = 5,
			.guard_off_ms = 40000,
			.duty_ms = rows[i].duty_ms,
			.step_ns = 15000 * MS,
			.unmeasured = (uint8_t)rows[i].unmeasured,
		};
		struct ct_report *report;
		void *fresh = NULL;

		assert_int_equal(fx_teardown(&fresh), 0);
		assert_int_equal(fx_setup(&fresh), 0);
		open_job();
		for (uint64_t c = 0; c < 100; c++)
			for (int r = 0; r < RANKS; r++)
				reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, 1);
		report = close_job(2010 * MS, &cost);
		assert_true(isnan(report->run.step_change_pct));
		assert_int_equal(report->run.events_from_ns, CT_UNKNOWN);
		assert_null(report->run.timing_why);
		assert_string_equal(report->run.step_change_why, rows[i].why);
		ct_report_free(report);
	}
}

/* Without steps it is of throughput. */
static void an_effect_on_throughput_is_called_so(void **state)
{
	const struct ct_cost_rec cost = {
		.write_cpu_ns = 1000,
		.timed_by = CT_TIMED_BY_EVENTS,
		.timed_why = CT_TIMED_WHY_AUTO,
		.change_millionths = 1000,
		.change_err_millionths = 3000,
		.windows_off = 2,
		.windows_on = 17,
		.step_ns = 3 * MS,
		.step_collectives = 1,
		.step_kind = CT_STEP_COLLECTIVE,
	};
	struct ct_report *report;
	char *text;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 100; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, 1);
	report = close_job(2010 * MS, &cost);
	text = job_text(report, 1);
	assert_non_null(strstr(text, "collective 3.00 ms, step change +0.10 ± 0.30 %"));
	free(text);
	ct_report_free(report);
}

/* Lateness shows only between two operations that are timed. */
static void a_sample_is_not_called_healthy(void **state)
{
	struct ct_report *report;

	(void)state;
	open_job();
	for (uint64_t c = 0; c < 200; c++)
		for (int r = 0; r < RANKS; r++)
			reduce(r, 1000, (c * 20 + 5) * MS, (c * 20 + 6) * MS, c % 4 == 0);
	report = close_job(4010 * MS, NULL);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "only 25.0 % of the launches were timed"));
	ct_report_free(report);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_instance_counts_with_all_of_its_members_or_not_at_all),
		TEST(a_member_that_the_host_timed_makes_an_instance_untimed),
		TEST(seconds_that_are_left_out_leave_the_others_to_be_judged),
		TEST(seconds_that_are_left_out_are_of_no_share),
		TEST(what_is_missing_here_and_there_is_not_left_out),
		TEST(what_was_decided_is_said),
		TEST(what_was_not_measured_is_said),
		TEST(an_effect_on_throughput_is_called_so),
		TEST(a_sample_is_not_called_healthy),
		TEST(no_rank_is_charged_for_what_it_did_before_that_was_not_timed),
		TEST(a_rank_that_came_last_is_reported_with_what_was_not_timed),
		TEST(what_was_left_out_is_said),
		TEST(what_auto_had_to_take_is_in_the_first_line),
		TEST(that_streams_were_too_many_is_said),
		TEST(that_it_was_too_early_for_events_is_said),
	};

	return cmocka_run_group_tests_name("sampled", tests, NULL, NULL);
}
