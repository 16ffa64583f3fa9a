/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed time and the bubbles of pipelines in jobs of tools/synth, whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/job.h"
#include "tools/synth/synth.h"

static struct ct_synth_options options(const char *workload, int ranks, int nodes, unsigned steps)
{
	struct ct_synth_options o = ct_synth_defaults();

	o.job.name = workload;
	o.job.ranks = ranks;
	o.job.nodes = nodes;
	o.job.steps = steps;
	o.job.seed = 5;
	return o;
}

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
		struct ct_synth_options o = options(workloads[w / 2], 8, 1 + w % 2, 15);
		uint64_t truth[8], off;
		struct ct_report *report = play(&o, truth);

		for (size_t r = 0; r < report->n_ranks; r++) {
			const struct ct_report_rank *rank = &report->ranks[r];
			uint64_t told = rank->exposed_ns;

			assert_true(told != CT_UNKNOWN);
			off = told > truth[r] ? told - truth[r] : truth[r] - told;
			/* in the first step streams wait for what the host has not launched yet: that is not the
			 * operation's time */
			if (off > rank->exposed_err_ns + truth[r] / 50)
				fail_msg("%s, rank %zu: %llu±%llu, true %llu", workloads[w / 2], r,
					 (unsigned long long)told,
					 (unsigned long long)rank->exposed_err_ns,
					 (unsigned long long)truth[r]);
		}
		for (size_t k = 0; k < report->cycles.n_items; k++)
			assert_true(report->cycles.items[k].exposed_ns <=
				    report->cycles.items[k].time_ns);
		ct_report_free(report);
	}
}

static struct ct_synth_options pipeline(void)
{
	struct ct_synth_options o = options("megatron", 4, 1, 25);

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
	return 100 * (double)(ideal ? s->ideal_ns : s->bubble_ns) / (double)s->cycles_ns;
}

/* The first stage waits for all of the bubble in its receives, the last one for half of it in the step's end. */
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

static void a_stage_that_takes_longer_makes_the_others_wait_beyond_it(void **state)
{
	struct ct_synth_options o = pipeline();
	const struct ct_finding *f;
	struct ct_report *report;

	(void)state;
	add_fault(&o, "slow-rank:rank=2,pct=100");
	report = play(&o, NULL);
	f = job_finding(report, CT_FINDING_EXPOSED_COMM);
	if (!f && !job_finding(report, CT_FINDING_STRAGGLER))
		fail_msg("stages wait %.1f %% and %.1f %%, and nobody says so", share(report, 0, 0),
			 share(report, 3, 0));
	if (f) {
		assert_non_null(strstr(f->line, "role=pp"));
		assert_int_equal(f->n_ranks, 0);
	}
	assert_true(share(report, 0, 0) > share(report, 0, 1) + 10);
	assert_true(share(report, 2, 0) < share(report, 2, 1));
	ct_report_free(report);
}

static void what_the_host_times_has_no_gaps_and_nothing_exposed(void **state)
{
	struct ct_synth_options o = options("megatron", 4, 1, 15);
	struct ct_report *report;

	(void)state;
	o.timing = CT_SYNTH_HOST;
	report = play(&o, NULL);
	assert_int_equal(report->n_gaps, 0);
	for (size_t r = 0; r < report->n_ranks; r++)
		assert_true(report->ranks[r].exposed_ns == CT_UNKNOWN);
	for (size_t k = 0; k < report->n_ops; k++)
		assert_true(report->ops[k].gap_ns == CT_UNKNOWN);
	for (size_t k = 0; k < report->cycles.n_items; k++)
		assert_true(report->cycles.items[k].exposed_ns == CT_UNKNOWN);
	for (size_t k = 0; k < report->n_stages; k++)
		assert_true(report->stages[k].bubble_ns == CT_UNKNOWN);
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exposed_time_is_within_its_error_of_the_truth),
		cmocka_unit_test(the_bubble_of_an_even_pipeline_is_the_schedules),
		cmocka_unit_test(a_stage_that_takes_longer_makes_the_others_wait_beyond_it),
		cmocka_unit_test(what_the_host_times_has_no_gaps_and_nothing_exposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
