/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed time and the bubbles of pipelines in jobs of tools/synth, whose truth is known. */
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

#include "analyzer/findings/finding_list.h"
#include "tests/unit/job.h"
#include "tests/unit/synth_job.h"

static void add_fault(struct ct_synth_options *o, const char *text)
{
	char why[256];

	if (ct_fault_parse(text, &o->faults[o->job.n_faults++], why, sizeof(why)))
		fail_msg("%s", why);
}

/* *exposed_ns: what each rank was exposed, up to `ranks`. */
static struct ct_report *play(const struct ct_synth_options *o, uint64_t *exposed_ns)
{
	const struct job job = { .o.run = "run" };
	struct ct_synth_outcome outcome;
	struct ct_err err = { 0 };
	struct ct_report *report;
	void *state;
	int dirfd;

	assert_int_equal(fx_setup(&state), 0);
	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(o, dirfd, &outcome, &err) != CT_OK)
		fail_msg("%s", err.text);
	close(dirfd);
	for (int r = 0; exposed_ns && r < o->job.ranks; r++)
		exposed_ns[r] = outcome.sums.ranks[r].exposed_ns;
	ct_synth_outcome_free(&outcome);
	report = job_report(&job, -1);
	assert_int_equal(fx_teardown(&state), 0);
	return report;
}

static void exposed_time_is_within_its_error_of_the_truth(void **state)
{
	static const char *const workloads[] = { "ddp", "megatron", "fsdp", "moe", "decode" };

	(void)state;
	for (int w = 0; w < 10; w++) {
		struct ct_synth_options o = synth_job(workloads[w / 2], 8, 1 + w % 2, 15);
		uint64_t truth[8], off;
		struct ct_report *report = play(&o, truth);

		for (size_t r = 0; r < report->n_ranks; r++) {
			const struct ct_report_rank *rank = &report->ranks[r];
			uint64_t told = rank->exposed_ns;

			assert_true(told != CT_UNKNOWN);
			off = told > truth[r] ? told - truth[r] : truth[r] - told;
			if (off > rank->exposed_err_ns)
				fail_msg("%s, rank %zu: %llu±%llu, true %llu", workloads[w / 2], r,
					 (unsigned long long)told,
					 (unsigned long long)rank->exposed_err_ns,
					 (unsigned long long)truth[r]);
		}
		for (size_t k = 0; k < report->steps.n_items; k++)
			assert_true(report->steps.items[k].exposed_ns <=
				    report->steps.items[k].time_ns);
		ct_report_free(report);
	}
}

/* Streams of communication wait for each other before the first step: six wait for one launch, and
 * who computes is one of them. */
static void a_rank_that_computes_is_not_left_out_where_many_wait(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 16, 4, 5);
	struct ct_report *report;
	uint64_t truth[16];

	(void)state;
	o.job.seed = 817620;
	report = play(&o, truth);
	for (size_t i = 0; i < report->n_overlap; i++)
		assert_int_equal(report->overlap[i].measured, report->overlap[i].launches);
	for (size_t r = 0; r < report->n_ranks; r++)
		assert_in_range(report->ranks[r].exposed_ns,
				truth[r] - report->ranks[r].exposed_err_ns,
				truth[r] + report->ranks[r].exposed_err_ns);
	ct_report_free(report);
}

static struct ct_synth_options pipeline(void)
{
	struct ct_synth_options o = synth_job("megatron", 4, 1, 25);

	o.job.tp = o.job.dp = 1;
	o.job.pp = 4;
	return o;
}

static double share(const struct ct_report *report, int stage, int ideal)
{
	const struct ct_report_stage *s = &report->stages[stage];

	assert_int_equal(report->n_stages, 4);
	assert_int_equal(s->stage, stage);
	assert_int_equal(s->rank, stage);
	assert_true(s->microbatches == 8);
	assert_int_equal(s->at_most, 0);
	return 100 * (double)(ideal ? s->ideal_ns : s->bubble_ns) / (double)s->steps_ns;
}

/* The first stage waits for all of the bubble in its receives, the last one for half of it in the
 * step's end. */
static void the_bubble_of_an_even_pipeline_is_the_schedules(void **state)
{
	struct ct_synth_options o = pipeline();
	struct ct_report *report = play(&o, NULL);

	(void)state;
	assert_true(share(report, 0, 1) > 27.2 && share(report, 0, 1) < 27.3);
	assert_true(share(report, 0, 0) > 24 && share(report, 0, 0) < 29);
	assert_true(share(report, 3, 0) > 5 && share(report, 3, 0) < 20);
	assert_null(job_finding(report, CT_FINDING_EXPOSED_COMM));
	assert_null(job_finding(report, CT_FINDING_COMM_SHARE));
	ct_report_free(report);
}

/* Both copies of stage 2 compute twice as long: neither copy is slower than the other. */
static void a_stage_that_takes_longer_makes_the_others_wait_beyond_it(void **state)
{
	struct ct_synth_options o = pipeline();
	const struct ct_finding *f;
	struct ct_report *report;
	const struct ct_report_stage *first, *slow;
	double moved;

	(void)state;
	o.job.ranks = 8;
	o.job.dp = 2;
	add_fault(&o, "slow-rank:rank=4,pct=100");
	add_fault(&o, "slow-rank:rank=5,pct=100");
	report = play(&o, NULL);
	assert_int_equal(report->n_stages, 8);
	first = &report->stages[0];
	slow = &report->stages[2];
	assert_int_equal(slow->stage, 2);
	assert_true(first->bubble_ns > first->ideal_ns + first->steps_ns / 10);
	assert_true(slow->bubble_ns < slow->ideal_ns);
	f = job_finding(report, CT_FINDING_EXPOSED_COMM);
	assert_non_null(f);
	assert_non_null(strstr(job_pairs(f), "role=pp pipelines=2"));
	assert_int_equal(f->n_ranks, 0);
	assert_true(f->time_lost_pct > 5);
	assert_int_equal(report->verdict.code, CT_VERDICT_SLOW_STAGE);
	f = job_finding(report, CT_FINDING_SLOW_STAGE);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 2);
	assert_int_equal(f->ranks[0], 4);
	assert_int_equal(f->ranks[1], 5);
	/* what is known of it is reported: all of the run, because of its work */
	assert_int_equal(f->begin_at_ns, 0);
	assert_int_equal(f->end_at_ns, report->run.duration_ns);
	assert_int_equal(f->step_first, 0);
	assert_true(f->step_last > 0 && f->step_last != CT_UNKNOWN);
	assert_true(f->gpu_seconds > 0);
	assert_int_equal(f->why, CT_WHY_LONG_STAGE);
	assert_non_null(strstr(job_pairs(f), "when=all"));
	assert_non_null(strstr(job_pairs(f), "pattern=persistent"));
	/* more work for the others gains less than work that is gone */
	moved = ct_finding_fact(f, "gain_if_moved");
	assert_true(moved > 0 && moved < 0.9 * (double)f->time_lost_ns);
	assert_true(moved <= (1 - 1 / report->whatif.s) * (double)report->run.duration_ns);
	assert_non_null(strstr(f->note, "moving its extra work to the other stages"));
	assert_true(report->verdict.gain_max_pct == f->time_lost_pct);
	ct_report_free(report);
}

/* A rank and a stage at once: what each loss is, is said, and the verdict's gain is that of both. */
static void a_slow_rank_beside_a_slow_stage_reports_what_its_loss_is(void **state)
{
	struct ct_synth_options o = pipeline();
	const struct ct_finding *rank, *stage;
	struct ct_report *report;
	char text[48];

	(void)state;
	o.job.ranks = 16;
	o.job.dp = 4;
	for (int r = 8; r < 12; r++) {
		snprintf(text, sizeof(text), "slow-rank:rank=%d,pct=30", r);
		add_fault(&o, text);
	}
	add_fault(&o, "slow-rank:rank=2,pct=90");
	report = play(&o, NULL);
	rank = job_finding(report, CT_FINDING_STRAGGLER);
	stage = job_finding(report, CT_FINDING_SLOW_STAGE);
	assert_true(rank && stage);
	assert_int_equal(rank->n_ranks, 1);
	assert_int_equal(rank->ranks[0], 2);
	assert_non_null(strstr(rank->note, "what remains once stage 2, also slow, is repaired"));
	assert_non_null(strstr(stage->note, "what repairing this one alone saves"));
	assert_true(ct_finding_fact(rank, "gain_alone") < 0.9 * (double)rank->time_lost_ns);
	assert_true(fabs(report->verdict.gain_max_pct - rank->time_lost_pct -
			 stage->time_lost_pct) < 1e-9);
	ct_report_free(report);
}

/* Two pipelines and four communicators of data parallelism, all alike: a line for each role. */
static void communicators_that_are_alike_are_reported_once(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 8, 8, 10);
	unsigned n = 0, named[2] = { 0 };
	struct ct_report *report;

	(void)state;
	o.job.tp = 1;
	o.job.pp = 4;
	o.job.dp = 2;
	o.job.step_ns = 10000000;
	report = play(&o, NULL);
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		if (f->kind != CT_FINDING_EXPOSED_COMM)
			continue;
		n++;
		named[0] += strstr(job_pairs(f), " role=pp comms=2/2 ") != NULL;
		named[1] += strstr(job_pairs(f), " role=dp comms=4/4 ") != NULL;
	}
	assert_int_equal(n, 2);
	assert_int_equal(named[0], 1);
	assert_int_equal(named[1], 1);
	ct_report_free(report);
}

/* Two stages send and receive in one launch: what goes to the next one is counted all the same. */
static void two_stages_that_exchange_are_a_pipeline(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 8, 1, 25);
	struct ct_report *report;

	(void)state;
	o.job.tp = o.job.dp = o.job.pp = 2;
	report = play(&o, NULL);
	assert_int_equal(report->n_stages, 8);
	for (int i = 0; i < 8; i += 2) {
		const struct ct_report_stage *s = &report->stages[i];

		assert_int_equal(s->stage, 0);
		assert_true(s->microbatches == 4);
		assert_int_equal(s->ideal_ns, (s->steps_ns + 2) / 5);
		assert_true(5.2 * (double)s->bubble_ns > 0.85 * (double)s->steps_ns);
		assert_true(5 * s->bubble_ns < s->steps_ns);
	}
	ct_report_free(report);
}

/* What a slow link makes exposed is the link's: reported once. Messages of experts are no pipeline.
 */
static void what_a_slow_link_exposes_is_reported_once(void **state)
{
	struct ct_synth_options o = synth_job("moe", 16, 2, 40);
	struct ct_report *report;

	(void)state;
	add_fault(&o, "slow-link:src=0,dst=8,factor=0.3");
	report = play(&o, NULL);
	assert_non_null(job_finding(report, CT_FINDING_SLOW_LINK));
	assert_null(job_finding(report, CT_FINDING_EXPOSED_COMM));
	assert_null(job_finding(report, CT_FINDING_COMM_SHARE));
	assert_int_equal(report->n_stages, 0);
	ct_report_free(report);
}

static void what_the_host_times_has_no_gaps_and_nothing_exposed(void **state)
{
	struct ct_synth_options o = synth_job("megatron", 4, 1, 15);
	struct ct_report *report;

	(void)state;
	o.timing = CT_SYNTH_HOST;
	report = play(&o, NULL);
	assert_int_equal(report->n_stream_idle, 0);
	for (size_t r = 0; r < report->n_ranks; r++)
		assert_true(report->ranks[r].exposed_ns == CT_UNKNOWN);
	for (size_t k = 0; k < report->n_ops; k++)
		assert_true(report->ops[k].idle_ns == CT_UNKNOWN);
	for (size_t k = 0; k < report->steps.n_items; k++)
		assert_true(report->steps.items[k].exposed_ns == CT_UNKNOWN);
	for (size_t k = 0; k < report->n_stages; k++)
		assert_true(report->stages[k].bubble_ns == CT_UNKNOWN);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exposed_time_is_within_its_error_of_the_truth),
		cmocka_unit_test(a_rank_that_computes_is_not_left_out_where_many_wait),
		cmocka_unit_test(the_bubble_of_an_even_pipeline_is_the_schedules),
		cmocka_unit_test(a_stage_that_takes_longer_makes_the_others_wait_beyond_it),
		cmocka_unit_test(a_slow_rank_beside_a_slow_stage_reports_what_its_loss_is),
		cmocka_unit_test(communicators_that_are_alike_are_reported_once),
		cmocka_unit_test(two_stages_that_exchange_are_a_pipeline),
		cmocka_unit_test(what_a_slow_link_exposes_is_reported_once),
		cmocka_unit_test(what_the_host_times_has_no_gaps_and_nothing_exposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
