/* SPDX-License-Identifier: Apache-2.0 */
/* When a rank was late: one statement from its charges, though noise charges every rank a little
 * all the time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/lateness/late_span.h"
#include "tests/unit/job.h"
#include "trace/status.h"

#define STEPS 200u
static double charged[STEPS];
static uint64_t drawn;

static double uniform(void)
{
	return (double)(ct_mix(++drawn) >> 11) / 9007199254740992.0;
}

/* Steps, each charged with noise of 0 .. 0.5 ms, and with 4 ms from `from` to `to`. */
static struct ct_late_span span_of(uint32_t n, uint32_t from, uint32_t to)
{
	struct ct_late_span span;

	for (uint32_t k = 0; k < n; k++) {
		charged[k] = 0.5e6 * uniform() + (k >= from && k <= to ? 4e6 : 0);
	}
	assert_int_equal(ct_late_span_find(charged, n, &span), CT_OK);
	return span;
}

static void lateness_has_a_beginning_and_an_end(void **state)
{
	struct ct_late_span span;

	(void)state;
	span = span_of(STEPS, 0, 19);
	assert_int_equal(span.first, 0);
	assert_int_equal(span.last, 19);
	span = span_of(STEPS, 40, 59);
	assert_int_equal(span.first, 40);
	assert_int_equal(span.last, 59);
	span = span_of(STEPS, 100, 199);
	assert_in_range(span.first, 100, 102);
	assert_in_range(span.last, 197, 199);
	span = span_of(STEPS, 0, 199);
	assert_in_range(span.first, 0, 4);
	assert_in_range(span.last, 195, 199);
}

static void stalls_here_and_there_reach_from_the_first_to_the_last(void **state)
{
	struct ct_late_span span = span_of(STEPS, STEPS, STEPS);

	(void)state;
	for (uint32_t k = 15; k < STEPS; k += 20)
		charged[k] = 3e8;
	assert_int_equal(ct_late_span_find(charged, STEPS, &span), CT_OK);
	assert_int_equal(span.first, 15);
	assert_int_equal(span.last, 195);
	/* nothing is charged */
	memset(charged, 0, sizeof(charged));
	assert_int_equal(ct_late_span_find(charged, STEPS, &span), CT_NOTFOUND);
	assert_int_equal(ct_late_span_find(charged, 0, &span), CT_NOTFOUND);
}

/* ---- whole runs ---- */

static struct ct_report *report_of(uint64_t slow, double from, double to)
{
	const struct job_options options = { .run = "run", .ranks = 8, .ranks_per_host = 4 };
	const struct job_loop loop = { .steps = 200,
				       .ops = 1,
				       .step_ms = 100,
				       .noise = 0.01,
				       .skew_us = 10,
				       .transfer_us = 1000,
				       .slow = slow,
				       .slow_pct = 20,
				       .from = from,
				       .to = to };
	static struct job job;
	uint64_t end;

	job_open(&job, &options);
	end = job_run(&job, &loop, 1000000, NULL);
	job_close(&job, end + 1000000);
	return job_report(&job, -1);
}

/* Steps, times and words say the same. */
static void expect(void **state, uint64_t slow, double from, double to, const char *pattern)
{
	struct ct_report *report = report_of(slow, from, to);
	const struct ct_finding *f = job_finding(report, CT_FINDING_STRAGGLER);
	double run = (double)report->run.duration_ns;
	char words[32];

	if (!f)
		f = job_finding(report, CT_FINDING_STRAGGLER_HOST);
	assert_non_null(f);
	assert_float_equal((double)f->step_first, 199 * from, 5);
	assert_float_equal((double)f->step_last, 199 * to, 5);
	assert_float_equal((double)f->begin_at_ns / run, from, 0.05);
	assert_float_equal((double)f->end_at_ns / run, to, 0.05);
	snprintf(words, sizeof(words), "pattern=%s", pattern);
	assert_non_null(strstr(job_pairs(f), words));
	assert_true((strstr(job_pairs(f), "when=all ") != NULL) ==
		    (strcmp(pattern, "persistent") == 0));
	ct_report_free(report);
	fx_teardown(state);
	fx_setup(state);
}

static void when_a_rank_is_late_is_reported_alike_everywhere(void **state)
{
	expect(state, 1 << 5, 0, 1, "persistent");
	expect(state, 1 << 5, 0, 0.15, "transient");
	expect(state, 1 << 5, 0.5, 1, "part-of-run");
}

/* Each of them is charged with little, since the others are as late. */
static void when_ranks_are_late_together_is_reported_by_all_of_them(void **state)
{
	expect(state, 0xe0, 0.5, 1, "part-of-run");
	expect(state, 0xf0, 0, 1, "persistent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lateness_has_a_beginning_and_an_end),
		cmocka_unit_test(stalls_here_and_there_reach_from_the_first_to_the_last),
		cmocka_unit_test_setup_teardown(when_a_rank_is_late_is_reported_alike_everywhere,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
			when_ranks_are_late_together_is_reported_by_all_of_them, fx_setup,
			fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
