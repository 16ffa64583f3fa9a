/* SPDX-License-Identifier: Apache-2.0 */
/* Where one operation comes again and again, times show how many a step consists; and what comes
 * back after as many steps each time is not a change of the run. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/table.h"
#include "analyzer/steps/period.h"
#include "tests/unit/gpu_job.h"
#include "trace/ops.h"

#define MOST 4000
static uint64_t times[MOST];
static uint64_t state_of;

/* 0 .. 1 */
static double uniform(void)
{
	return (double)(ct_mix(++state_of) >> 11) / 9007199254740992.0;
}

/* Steps of 12 short parts, 8 long ones and one that is longer still. */
static uint32_t steps(unsigned n, double noise)
{
	uint32_t k = 0;

	for (unsigned s = 0; s < n; s++) {
		for (unsigned part = 0; part < 21; part++)
			times[k++] = (uint64_t)((part < 12   ? 4e6
						 : part < 20 ? 8e6
							     : 15e6) *
						(1 + noise * (uniform() - 0.5)));
	}
	return k;
}

static void parts_of_a_step_are_reported_by_their_times(void **state)
{
	uint32_t first;

	(void)state;
	for (unsigned n = 3; n < 100; n += 7) {
		assert_int_equal(ct_period_of_parts(times, steps(n, 0.2), 4000000, &first), 21);
		assert_int_equal(first, 0);
		/* recording began within a step */
		assert_int_equal(
			ct_period_of_parts(times + 5, steps(n + 1, 0.2) - 5, 4000000, &first), 21);
		assert_int_equal(first, 16);
	}
	/* less than two whole steps do not come again, but what was found are not equal steps */
	assert_int_equal(ct_period_of_parts(times, steps(2, 0), 4000000, &first), 1);
	for (unsigned k = 0; k < 60; k++)
		times[k] = uniform() < 0.5 ? 4000000 : 8000000;
	assert_int_equal(ct_period_of_parts(times, 60, 4000000, &first), 0);
	/* slower from the middle on is a change, and no part of anything */
	for (unsigned k = 0; k < 60; k++)
		times[k] = k < 31 ? 4000000 : 8000000;
	assert_int_equal(ct_period_of_parts(times, 60, 4000000, &first), 1);
	assert_int_equal(ct_period_of_parts(times, 0, 4000000, &first), 1);
}

static void equal_steps_are_whole(void **state)
{
	uint32_t first;

	(void)state;
	for (unsigned noise = 0; noise < 2; noise++) {
		for (unsigned k = 0; k < 1000; k++)
			times[k] = (uint64_t)(1e8 * (1 + 0.3 * noise * (uniform() - 0.5)));
		assert_int_equal(ct_period_of_parts(times, 1000, 100000000, &first), 1);
	}
}

static void a_stall_after_some_steps_each_leaves_them_whole(void **state)
{
	uint32_t first;

	(void)state;
	for (unsigned every = 3; every < 30; every++) {
		for (unsigned k = 0; k < 1000; k++)
			times[k] = k % every ? 100000000 : 400000000;
		assert_int_equal(ct_period_of_parts(times, 1000, 100000000, &first), 1);
	}
}

static void a_change_does_not_come_back(void **state)
{
	(void)state;
	for (unsigned from = 20; from < 180; from += 20) {
		for (unsigned to = from + 20; to <= 200; to += 20) {
			for (unsigned k = 0; k < 200; k++)
				times[k] = (uint64_t)((k >= from && k < to ? 12e7 : 1e8) *
						      (1 + 0.05 * uniform()));
			assert_int_equal(ct_period_find(times, 200, 1e7, 100, 0.1), 0);
		}
	}
	/* back and forth */
	for (unsigned k = 0; k < 200; k++)
		times[k] = k % 40 >= 22 ? 120000000 : 100000000;
	assert_int_equal(ct_period_find(times, 200, 1e7, 100, 0.1), 40);
}

/* Tensor parallelism alone: 36 equal all-reduces in each step. */
static void a_job_of_equal_operations_has_steps_and_no_change(void **state)
{
	/* of one step and a half nothing is known, but nothing has changed either */
	const unsigned cases[] = { 2, 3, 15 };

	for (unsigned c = 0; c < 3; c++) {
		const struct gpu_job job = {
			.workload = "megatron", .ranks = 2, .nodes = 1, .steps = cases[c], .seed = 2
		};
		struct ct_report *report = gpu_job_report(&job, NULL);

		assert_int_equal(report->steps.count, c ? cases[c] - 1 : 71);
		assert_true((report->steps.note != NULL) == (c == 0));
		assert_true(report->steps.covered_pct > (c == 2 ? 70 : 20));
		assert_true(report->steps.covered_pct < 100);
		assert_null(job_finding(report, CT_FINDING_CHANGE_POINT));
		ct_report_free(report);
		fx_teardown(state);
		fx_setup(state);
	}
}

/* Forty steps, 17 of them longer by less than a fifth than the rest, once or again and again. */
static struct ct_report *report_of_longer_steps(unsigned n, int again)
{
	const struct job_options options = { .run = "run", .ranks = 2 };
	static struct job job;
	uint64_t now = 1000000;

	job_open(&job, &options);
	for (unsigned k = 0; k < n; k++) {
		unsigned at = again ? k % 40 : k;

		now += at >= 23 && at < 40 ? 118000000 : 100000000;
		for (int r = 0; r < 2; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, now - 1000 * (uint64_t)r,
				       now + 1000000);
		now += 1000000;
	}
	job_close(&job, now + 1000000);
	return job_report(&job, -1);
}

static void what_comes_back_after_as_many_steps_is_no_change(void **state)
{
	struct ct_report *report = report_of_longer_steps(200, 1);

	assert_int_equal(report->steps.count, 199);
	assert_null(job_finding(report, CT_FINDING_CHANGE_POINT));
	ct_report_free(report);
	fx_teardown(state);
	fx_setup(state);
	report = report_of_longer_steps(200, 0);
	assert_non_null(job_finding(report, CT_FINDING_CHANGE_POINT));
	ct_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_step_are_reported_by_their_times),
		cmocka_unit_test(equal_steps_are_whole),
		cmocka_unit_test(a_stall_after_some_steps_each_leaves_them_whole),
		cmocka_unit_test(a_change_does_not_come_back),
		cmocka_unit_test_setup_teardown(a_job_of_equal_operations_has_steps_and_no_change,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(what_comes_back_after_as_many_steps_is_no_change,
						fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
