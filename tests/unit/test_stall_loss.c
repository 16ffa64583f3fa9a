/* SPDX-License-Identifier: Apache-2.0 */
/* What stalls cost that come by a rule. The truth is how much longer the job takes than the same
 * one without them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/lateness/stall_loss.h"
#include "tests/unit/gpu_job.h"
#include "trace/ops.h"
#include "trace/status.h"

static double value_of(const struct ct_finding *f, const char *name)
{
	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) == 0)
			return f->evidence[i].value;
	}
	return NAN;
}

/* Of one job: it stands in the report with an error that covers what it is off by. */
static void expect_loss(void **state, const struct gpu_job *job, enum ct_finding_kind kind,
			int host_late)
{
	struct gpu_job healthy = *job;
	uint64_t with_ns, without_ns;
	struct ct_report *report;
	const struct ct_finding *f;
	double n, expected, off;

	healthy.fault = NULL;
	ct_report_free(gpu_job_report(&healthy, &without_ns));
	fx_teardown(state);
	fx_setup(state);
	report = gpu_job_report(job, &with_ns);
	f = job_finding(report, kind);
	if (!f)
		fail_msg("%s, %s: nothing", job->workload, job->fault);
	off = (double)f->time_lost_ns - (double)(with_ns - without_ns);
	if (fabs(off) > (double)f->time_lost_err_ns || 6 * f->time_lost_err_ns > f->time_lost_ns)
		fail_msg("%s, %s: off by %.0f, error %.0f", job->workload, job->fault, off,
			 (double)f->time_lost_err_ns);
	/* as many as there are multiples from the first to the last */
	n = value_of(f, "stalls");
	expected = (double)(f->step_last - f->step_first) / value_of(f, "every") + 1;
	assert_float_equal(n, expected, 0.5);
	assert_int_equal(f->severity, CT_SEVERITY_CRITICAL);
	assert_true((strstr(f->advice, "GPU") != NULL) == !host_late);
	ct_report_free(report);
	fx_teardown(state);
	fx_setup(state);
}

static void the_loss_is_what_the_run_would_be_shorter_by(void **state)
{
	struct gpu_job job = { .workload = "ddp", .ranks = 8, .nodes = 2, .steps = 60, .seed = 5 };

	job.fault = "pause:rank=3,every=10,ms=60";
	expect_loss(state, &job, CT_FINDING_PERIODIC_STALLS, 1);
	job.fault = "starve-sm:rank=2,every=5,ms=60";
	expect_loss(state, &job, CT_FINDING_PERIODIC_STALLS, 0);
	job.fault = "rotating:every=6,ms=60";
	expect_loss(state, &job, CT_FINDING_ROTATING_STALLS, 1);
	job.workload = "decode";
	job.fault = "pause:rank=3,every=10,ms=60";
	expect_loss(state, &job, CT_FINDING_PERIODIC_STALLS, 1);
}

/* Rank 0 stalls in front of what all do, every tenth time, and is a little late for what it does
 * with rank 1. The analysis comes upon all of the latter before all of the former, since whole
 * traces are one block each. */
static void stalls_count_in_whichever_order_operations_are_read(void **state)
{
	const struct job_options options = { .run = "run", .ranks = 4, .block_ops = 100000 };
	const int pair[] = { 0, 1 };
	const struct ct_finding *f;
	struct ct_report *report;
	static struct job job;
	uint64_t now = 1000000;

	(void)state;
	job_open(&job, &options);
	job_comm(&job, 2, 0xabcdef, "pair", pair, 2);
	for (uint64_t k = 0; k < 80; k++) {
		uint64_t own = k % 10 == 9 ? 100000000 : 0;

		for (int r = 0; r < 4; r++)
			job_collective(&job, r, CT_OP_AllReduce, 2500000,
				       now + 50000000 + (r ? 0 : own), now + own + 51000000);
		now += own + 51000000;
		for (int r = 0; r < 2; r++)
			job_op(&job, r,
			       (struct ct_op){ .enter_ns = now + 5000000 - 100000 * (uint64_t)r,
					       .return_ns = now + 5100000,
					       .count = 25,
					       .comm = 2,
					       .seq = k,
					       .peer = -1,
					       .op = CT_OP_AllReduce,
					       .dtype = CT_DTYPE_float32 });
		now += 5100000;
	}
	job_close(&job, now + 1000000);
	report = job_report(&job, -1);
	f = job_finding(report, CT_FINDING_PERIODIC_STALLS);
	assert_non_null(f);
	assert_int_equal(f->n_ranks, 1);
	assert_int_equal(f->ranks[0], 0);
	/* the last one lies in the last step, or behind it */
	assert_in_range((int)(value_of(f, "stalls") + value_of(f, "stalls_outside_steps")), 8, 8);
	/* ranks 2 and 3 had 5 ms more for themselves, so that rank 0 is charged with less */
	assert_float_equal((double)f->time_lost_ns, 8e8, (double)f->time_lost_err_ns);
	assert_true(f->time_lost_err_ns < 1e8);
	ct_report_free(report);
}

/* Every second turn is rank 7's, which is a period of its own. */
static void turns_at_even_distances_are_no_pattern_of_one_rank(void **state)
{
	static const int turns[] = { 1, 7, 2, 7, 3, 7, 4, 7, 5, 7 };
	const struct job_options options = { .run = "run", .ranks = 8 };
	const struct ct_finding *f;
	struct ct_report *report;
	static struct job job;
	uint64_t now = 1000000;

	(void)state;
	job_open(&job, &options);
	for (unsigned k = 0; k < 105; k++) {
		uint64_t stall = k % 10 == 7 ? 100000000 : 0;

		for (int r = 0; r < 8; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000,
				       now + 50000000 + (r == turns[k / 10 % 10] ? stall : 0),
				       now + stall + 51000000);
		now += stall + 51000000;
	}
	job_close(&job, now + 1000000);
	report = job_report(&job, -1);
	assert_null(job_finding(report, CT_FINDING_PERIODIC_STALLS));
	f = job_finding(report, CT_FINDING_ROTATING_STALLS);
	assert_non_null(f);
	assert_float_equal(value_of(f, "every"), 10, 0.1);
	assert_float_equal(value_of(f, "stalls"), 10, 0.1);
	assert_float_equal((double)f->time_lost_ns, 1e9, (double)f->time_lost_err_ns);
	ct_report_free(report);
}

/* ---- one figure after the other ---- */

#define STEPS 100u
static uint64_t cut_ns[STEPS + 1];
static uint8_t kept[STEPS];
static struct ct_stall events[STEPS];

/* Steps of 1 s; every 10th one longer by longer_ns[..], all are charged with charge_ns but one. */
static void play(double longer_ns, double charge_ns, uint32_t forgotten, struct ct_stall_pattern *p,
		 struct ct_stall_loss *loss)
{
	const struct ct_stall_steps steps = { cut_ns, kept, STEPS };
	uint32_t n = 0;

	for (uint32_t k = 0; k < STEPS; k++) {
		int stalls = k % 10 == 5;

		kept[k] = 1;
		cut_ns[k + 1] = cut_ns[k] + 1000000000u + (stalls ? (uint64_t)longer_ns : 0);
		if (stalls && k != forgotten)
			events[n++] = (struct ct_stall){ .step = k,
							 .ns = charge_ns,
							 .err_ns = 1e3 };
	}
	*p = (struct ct_stall_pattern){ .n = n,
					.every = 10,
					.typical_ns = charge_ns,
					.first = events[0].step,
					.last = events[n - 1].step };
	assert_int_equal(ct_stalls_cost(&steps, events, n, p, loss), CT_OK);
}

static void the_lesser_of_charge_and_longer_steps_counts(void **state)
{
	struct ct_stall_pattern p;
	struct ct_stall_loss loss;

	(void)state;
	play(2e8, 2e8, STEPS, &p, &loss);
	assert_float_equal(loss.ns, 10 * 2e8, 1);
	assert_float_equal(loss.err_ns, 10e3, 1);
	assert_int_equal(loss.expected, 10);
	assert_int_equal(loss.missed, 0);
	/* computing hid a quarter */
	play(1.5e8, 2e8, STEPS, &p, &loss);
	assert_float_equal(loss.ns, 10 * 1.5e8, 1);
	assert_float_equal(loss.err_ns, 10e3 + 10 * 0.5e8, 1);
	/* something else happened, too */
	play(3e8, 2e8, STEPS, &p, &loss);
	assert_float_equal(loss.ns, 10 * 2e8, 1);
	assert_float_equal(loss.err_ns, 10e3 + 10 * 1e8, 1);
}

static void what_no_one_is_charged_with_is_in_the_error(void **state)
{
	struct ct_stall_pattern p;
	struct ct_stall_loss loss;

	(void)state;
	play(2e8, 2e8, 45, &p, &loss);
	assert_float_equal(loss.ns, 9 * 2e8, 1);
	/* and the 82 steps without a stall are that much longer on average, of which the stalls' 18
	 * may hide as much */
	assert_float_equal(loss.err_ns, 9e3 + 2e8 + 18 * 2e8 / 82, 1e3);
	assert_int_equal(loss.expected, 10);
	assert_int_equal(loss.missed, 1);
}

/* Another stall of 50 ms came in addition to one of them. */
static void what_is_longer_than_usual_is_in_the_error(void **state)
{
	const struct ct_stall_steps steps = { cut_ns, kept, STEPS };
	struct ct_stall_pattern p;
	struct ct_stall_loss loss;

	(void)state;
	play(2e8, 2e8, STEPS, &p, &loss);
	events[3].ns += 5e7;
	for (uint32_t k = events[3].step + 1; k <= STEPS; k++)
		cut_ns[k] += 50000000u;
	assert_int_equal(ct_stalls_cost(&steps, events, p.n, &p, &loss), CT_OK);
	assert_float_equal(loss.ns, 10 * 2e8 + 5e7, 1);
	assert_float_equal(loss.err_ns, 10e3 + 5e7, 1);
}

static void noise_of_the_steps_is_in_the_error(void **state)
{
	const struct ct_stall_steps steps = { cut_ns, kept, STEPS };
	struct ct_stall_pattern p;
	struct ct_stall_loss loss;

	(void)state;
	play(2e8, 2e8, STEPS, &p, &loss);
	for (uint32_t k = 1; k <= STEPS; k++)
		cut_ns[k] += k % 4 < 2 ? 40000000u : 0;
	assert_int_equal(ct_stalls_cost(&steps, events, p.n, &p, &loss), CT_OK);
	assert_true(loss.err_ns > 1e8 && loss.err_ns < 1e9);
	assert_true(fabs(loss.ns - 2e9) < loss.err_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_loss_is_what_the_run_would_be_shorter_by,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(stalls_count_in_whichever_order_operations_are_read,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(turns_at_even_distances_are_no_pattern_of_one_rank,
						fx_setup, fx_teardown),
		cmocka_unit_test(the_lesser_of_charge_and_longer_steps_counts),
		cmocka_unit_test(what_no_one_is_charged_with_is_in_the_error),
		cmocka_unit_test(what_is_longer_than_usual_is_in_the_error),
		cmocka_unit_test(noise_of_the_steps_is_in_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
