/* SPDX-License-Identifier: Apache-2.0 */
/* What the verdict says of communication in all, and what it does not: bounds of what it costs,
 * what stays exposed however well it is hidden, times that show nothing, traces of two jobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/arena.h"
#include "analyzer/findings/gain.h"
#include "analyzer/report/analyze.h"
#include "tests/unit/job.h"
#include "tests/unit/synth_job.h"
#include "trace/ops.h"

static void record(const struct ct_synth_options *o, const char *run)
{
	struct ct_synth_outcome outcome;
	struct ct_err err = { 0 };
	int dirfd;

	fx_mkdir(run);
	dirfd = open(fx_path(run), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(o, dirfd, &outcome, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	ct_synth_outcome_free(&outcome);
}

static struct ct_report *play(const struct ct_synth_options *o)
{
	const struct job job = { .o.run = "run" };

	record(o, "run");
	return job_report(&job, -1);
}

static struct ct_report *read_both(const char *one, const char *other)
{
	const char *const paths[] = { fx_path(one), fx_path(other) };
	struct ct_analyze_options how = CT_ANALYZE_DEFAULTS;
	struct ct_report *report = NULL;
	struct ct_err err = { 0 };
	struct ct_run *run;

	if (ct_run_open(paths, 2, NULL, &run, &err) != CT_OK ||
	    ct_analyze(run, &how, &report, &err) != CT_OK)
		fail_msg("%s", err.text);
	ct_run_close(run);
	return report;
}

/* ---- what stays ---- */

static double number_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	double value = NAN;

	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(word), "%lf", &value), 1);
	return value;
}

/* Over two hosts the data of fsdp moves for longer than its GPUs compute. */
static void what_stays_is_what_moves_longer_than_computing_takes(void **state)
{
	const struct ct_synth_options o = synth_job("fsdp", 16, 2, 30);
	struct ct_report *report = play(&o);
	const struct ct_report_exposed *e = &report->exposed;
	double stays = e->transferring_pct - (100 - e->median_pct);

	(void)state;
	assert_int_equal(report->verdict.code, CT_VERDICT_COMM_BOUND);
	assert_true(stays > 5 && stays < e->median_pct - 5);
	assert_true(fabs(number_after(report->verdict.text, "at best ") - stays) < 0.1);
	ct_report_free(report);
}

/* A stage of a pipeline that takes longer: the others wait, and next to nothing moves. The stage is
 * reported. */
static void what_is_waited_for_others_is_not_bound_by_communication(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 8, 1, 25);
	struct ct_report *report;

	(void)state;
	o.job.tp = 1;
	o.job.pp = 4;
	o.job.dp = 2;
	for (int r = 4; r < 6; r++) {
		char text[48], why[256];

		snprintf(text, sizeof(text), "slow-rank:rank=%d,pct=100", r);
		assert_int_equal(
			ct_fault_parse(text, &o.faults[o.job.n_faults++], why, sizeof(why)), 0);
	}
	report = play(&o);
	assert_true(report->exposed.wait_pct > 30);
	assert_int_equal(report->verdict.code, CT_VERDICT_SLOW_STAGE);
	ct_report_free(report);
}

/* ---- bounds ---- */

static struct ct_report_rank ranks[2];
static struct ct_report model;

/* 100 ms; what nothing is known of. */
static void begin(void)
{
	const struct ct_report_rank none = { .exposed_ns = CT_UNKNOWN,
					     .exposed_err_ns = CT_UNKNOWN,
					     .wait_ns = CT_UNKNOWN,
					     .wait_pct = NAN,
					     .ops = 100 };

	model = (struct ct_report){ .ranks = ranks, .n_ranks = 2 };
	ranks[0] = ranks[1] = none;
	model.run.duration_ns = 100000000;
	model.run.comm_share_pct = NAN;
	model.run.time_err_p50_ns = 1000;
	model.exposed = (struct ct_report_exposed){ NAN, NAN, NAN, NAN, NAN, NAN, NULL };
	model.whatif.free_gain_pct = model.whatif.balance_ratio = NAN;
}

static void the_least_of_the_known_bounds_counts(void **state)
{
	(void)state;
	begin();
	assert_true(isnan(ct_gain_pct(&model)));
	model.run.comm_share_pct = 30;
	assert_true(ct_gain_pct(&model) == 30);
	model.exposed.max_pct = 12;
	model.exposed.err_pct = 1;
	assert_true(fabs(ct_gain_exposed_pct(&model) - 13) < 1e-9);
	assert_true(fabs(ct_gain_pct(&model) - 13) < 1e-9);
	model.whatif.free_gain_pct = 7;
	model.whatif.error_pct = 1;
	assert_true(fabs(ct_gain_pct(&model) - 8) < 1e-9);
}

/* Where it is not known how long ranks were exposed, all of their waits count. */
static void waits_are_those_of_the_mean_rank(void **state)
{
	(void)state;
	begin();
	assert_true(isnan(ct_gain_wait_pct(&model)));
	ranks[0].wait_pct = 10;
	assert_true(ct_gain_wait_pct(&model) == 10);
	ranks[1].wait_pct = 20;
	assert_true(ct_gain_wait_pct(&model) == 15);
	model.exposed.wait_pct = 3;
	assert_true(ct_gain_wait_pct(&model) == 3);
}

static void times_that_say_nothing_are_no_evidence(void **state)
{
	(void)state;
	begin();
	model.memory = ct_arena_new();
	assert_null(ct_gain_why_not(&model));
	/* 100 operations of +-0.6 ms in 100 ms */
	model.run.time_err_p50_ns = 600000;
	assert_non_null(strstr(ct_gain_why_not(&model), "± 600 us"));
	model.run.time_err_p50_ns = 1000;
	model.whatif.is_contradicted = 1;
	assert_non_null(strstr(ct_gain_why_not(&model), "longer"));
	model.run.duration_ns = 0;
	assert_non_null(strstr(ct_gain_why_not(&model), "one moment"));
	ct_arena_free(model.memory);
}

/* Steps of 3 ms whose times are off by up to 200 us: the replay without communication takes longer
 * than the run. */
static void a_replay_that_is_longer_than_the_run_is_no_gain(void **state)
{
	struct ct_synth_options o = synth_job("decode", 16, 4, 30);
	struct ct_report *report;

	(void)state;
	o.job.step_ns = 3e6;
	o.jitter_us = 200;
	report = play(&o);
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_true(isnan(report->verdict.gain_max_pct));
	assert_true(isnan(report->score.total));
	assert_true(isnan(report->exposed.median_pct) && isnan(report->exposed.err_pct));
	for (size_t r = 0; r < report->n_ranks; r++)
		assert_true(report->ranks[r].exposed_ns == CT_UNKNOWN);
	for (size_t g = 0; g < report->n_stream_idle; g++)
		assert_true(report->stream_idle[g].idle_err_ns == CT_UNKNOWN ||
			    report->stream_idle[g].idle_err_ns <= report->stream_idle[g].steps_ns);
	ct_report_free(report);
}

/* Stages of a pipeline wait for each other for a fifth of the time, though next to nothing moves. */
static void a_rank_that_waits_for_others_is_not_sent_elsewhere(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 2, 1, 30);
	struct ct_report *report;

	(void)state;
	o.job.tp = o.job.dp = 1;
	o.job.pp = 2;
	report = play(&o);
	assert_true(report->exposed.wait_pct > 10);
	assert_true(report->whatif.free_gain_pct < 5);
	assert_int_equal(report->verdict.code, CT_VERDICT_HEALTHY);
	assert_non_null(strstr(report->verdict.text, "waits are the pipeline's bubble: "));
	assert_non_null(
		strstr(report->verdict.text, "as expected for 2 stages and 4 microbatches"));
	assert_null(strstr(report->verdict.text, "wait for each other"));
	assert_int_equal(report->verdict.confidence, CT_CONFIDENCE_MEDIUM);
	ct_report_free(report);
}

/* ---- two jobs ---- */

static void two_jobs_have_no_verdict(void **state)
{
	struct ct_synth_options o = synth_job("ddp", 4, 1, 20);
	struct ct_report *report;

	(void)state;
	record(&o, "one");
	o.job.seed = 6;
	o.job.ranks = 8;
	record(&o, "other");
	report = read_both("one", "other");
	assert_int_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	assert_non_null(strstr(report->verdict.text, "synth-5"));
	assert_non_null(strstr(report->verdict.text, "synth-6"));
	assert_true(isnan(report->verdict.gain_max_pct));
	assert_true(isnan(report->score.total));
	ct_report_free(report);
}

static struct job job;

/* Two ranks whose launcher gave each process a name of its own. */
static void a_rank_that_communicates_is_one_job_whatever_its_name(void **state)
{
	struct ct_report *report;
	uint64_t at = 10000000;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run", .ranks = 2, .jobs_differ = 1 });
	for (int i = 0; i < 30; i++, at += 5000000)
		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 1000, at, at + 100000);
	job_close(&job, at);
	report = job_report(&job, -1);
	assert_int_equal(report->run.is_two_jobs, 0);
	assert_int_not_equal(report->verdict.code, CT_VERDICT_NOT_ENOUGH_EVIDENCE);
	ct_report_free(report);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_DISK(what_stays_is_what_moves_longer_than_computing_takes),
		ON_DISK(what_is_waited_for_others_is_not_bound_by_communication),
		cmocka_unit_test(the_least_of_the_known_bounds_counts),
		cmocka_unit_test(waits_are_those_of_the_mean_rank),
		cmocka_unit_test(times_that_say_nothing_are_no_evidence),
		ON_DISK(a_replay_that_is_longer_than_the_run_is_no_gain),
		ON_DISK(a_rank_that_waits_for_others_is_not_sent_elsewhere),
		ON_DISK(two_jobs_have_no_verdict),
		ON_DISK(a_rank_that_communicates_is_one_job_whatever_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
