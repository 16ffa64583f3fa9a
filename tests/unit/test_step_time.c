/* SPDX-License-Identifier: Apache-2.0 */
/* Percentages are of step time, in runs of few steps as in long ones: a planted fault has the share
 * that it has in each step, whatever of the run comes before the first step. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/job.h"
#include "tools/synth/synth.h"

static struct ct_report *play(unsigned steps, double *true_pct)
{
	struct ct_synth_options o = ct_synth_defaults();
	const struct job job = { .o.run = "run" };
	struct ct_synth_comparison *others;
	struct ct_synth_outcome outcome;
	struct ct_report *report;
	struct ct_err err = { 0 };
	char why[256];
	int dirfd;

	o.job.name = "ddp";
	o.job.ranks = 8;
	o.job.steps = steps;
	o.job.n_faults = 1;
	assert_int_equal(ct_fault_parse("slow-rank:rank=5,pct=20", o.faults, why, sizeof(why)), 0);
	fx_mkdir("run");
	dirfd = open(fx_path("run"), O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	others = ct_synth_compare_begin(&o);
	assert_int_equal(ct_synth_write(&o, dirfd, &outcome, &err), CT_OK);
	assert_int_equal(ct_synth_compare_end(others, &outcome, &err), CT_OK);
	close(dirfd);
	report = job_report(&job, -1);
	assert_true(report->step_time.has_steps);
	*true_pct = 100 * (double)(outcome.duration_ns - outcome.ideal_ns) / steps /
		    (ct_step_time_ns(&report->step_time) / (double)report->steps.count);
	ct_synth_outcome_free(&outcome);
	return report;
}

/* Within its error; what is named no rank's, as a bound. */
static void hold(const struct ct_report *report, double true_pct, unsigned steps)
{
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);
	double gain = report->verdict.gain_max_pct;

	if (!f && (gain < true_pct - 0.2 || gain > true_pct + 1))
		fail_msg("%u steps: at most %.2f %% where %.2f %% are true", steps, gain, true_pct);
	if (f && fabs(f->time_lost_pct - true_pct) >
			 f->time_lost_pct * (double)f->time_lost_err_ns / (double)f->time_lost_ns)
		fail_msg("%u steps: %.2f %% where %.2f %% are true", steps, f->time_lost_pct,
			 true_pct);
	assert_true(!f || gain == f->time_lost_pct);
}

static void a_fault_has_its_share_in_runs_of_any_length(void **state)
{
	static const unsigned steps[] = { 3, 10, 30, 100 };
	double comm_pct = NAN, wait_pct = NAN, true_pct;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct ct_report *report;

		assert_int_equal(fx_setup(state), 0);
		report = play(steps[i], &true_pct);
		assert_true(true_pct > 15 && true_pct < 18);
		hold(report, true_pct, steps[i]);
		if (i && (fabs(report->run.comm_share_pct - comm_pct) > 2 ||
			  fabs(report->ranks[0].wait_pct - wait_pct) > 2))
			fail_msg("%u steps: %.1f %% in communication, %.1f %% waiting; %.1f and "
				 "%.1f of fewer steps",
				 steps[i], report->run.comm_share_pct, report->ranks[0].wait_pct,
				 comm_pct, wait_pct);
		comm_pct = report->run.comm_share_pct;
		wait_pct = report->ranks[0].wait_pct;
		ct_report_free(report);
		assert_int_equal(fx_teardown(state), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_has_its_share_in_runs_of_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
