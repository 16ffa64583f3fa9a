/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of hosts, related by the operations they have in common: how well, and whether the
 * published error holds. The truth are the clocks of clock_job.
 *
 * unit_clocks --measure SEEDS prints the table of docs/dev/algorithms/clocks.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/clock/solve.h"
#include "analyzer/model/clock_map.h"
#include "tests/unit/clock_job.h"

static const struct scenario {
	const char *name;
	struct clock_job job;
	double limit_us; /* largest error; 0: only the published one has to hold */
} scenarios[] = {
	{ "8 x 8", { .hosts = 8 }, 15 },
	{ "no small operations", { .no_small = 1 }, 15 },
	{ "straggler host, no small", { .straggler = 4, .no_small = 1 }, 15 },
	{ "straggler is the reference, no small", { .straggler = 1, .no_small = 1 }, 15 },
	{ "wander 1e-8", { .wander = 1e-8 }, 15 },
	{ "wander 1e-7", { .wander = 1e-7 }, 15 },
	{ "wander 1e-7, 1800 s", { .wander = 1e-7, .seconds = 1800 }, 15 },
	{ "64 x 1", { .hosts = 64, .per_host = 1 }, 40 },
	{ "64 x 1, straggler, no small",
	  { .hosts = 64, .per_host = 1, .straggler = 4, .no_small = 1 },
	  40 },
	{ "systematic skew 0..100 us", { .skew_us = 100 }, 0 },
	{ "20 s", { .seconds = 20 }, 15 },
};

#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))
#define MOMENTS 200

struct outcome {
	double squares, max_us, err_us; /* err: sum of the published ones */
	unsigned n, covered;
	unsigned quality[5];
	double selftest_us;
};

/* Compare with the truth at moments all over the run. */
static void compare(const struct clock_job *job, const struct ct_clocks *clocks,
		    struct outcome *out)
{
	for (int h = 0; h < job->hosts; h++) {
		const struct ct_clock_host *host = ct_clocks_host(clocks, (uint32_t)h);

		out->quality[host->quality]++;
		for (int k = 0; k < MOMENTS && h && host->quality != CT_CLOCK_FAIL; k++) {
			double t = 5 + (job->end_s - 10) * k / (MOMENTS - 1), off;
			uint64_t ref, err;

			if (!ct_clocks_at(clocks, (uint32_t)h, clock_job_local(job, h, t), &ref,
					  &err))
				continue;
			off = (double)(int64_t)(ref - clock_job_local(job, 0, t)) / 1e3;
			out->squares += off * off;
			out->max_us = fmax(out->max_us, fabs(off));
			out->err_us += (double)err / 1e3;
			out->covered += fabs(off) <= (double)err / 1e3;
			out->n++;
		}
	}
	if (ct_clocks_host(clocks, 0)->selftest_ns != CT_CLOCK_UNKNOWN)
		out->selftest_us = (double)ct_clocks_host(clocks, 0)->selftest_ns / 1e3;
}

static struct ct_clocks *solve(struct clock_job *job)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;

	assert_int_equal(ct_clock_points_init(&points, (uint32_t)(job->hosts ? job->hosts : 8), 0),
			 0);
	clock_job_run(job, &points);
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	ct_clock_points_fini(&points);
	return clocks;
}

static void run(const struct scenario *s, unsigned seed, struct outcome *out)
{
	struct clock_job job = s->job;
	struct ct_clocks *clocks;

	job.seed = seed;
	clocks = solve(&job);
	compare(&job, clocks, out);
	ct_clocks_free(clocks);
	clock_job_fini(&job);
}

static int measure(unsigned seeds)
{
	int bad = 0;

	printf("%-38s %9s %9s %9s %9s %9s %s\n", "scenario", "rms us", "max us", "u_h us",
	       "covered", "selftest", "quality");
	for (size_t i = 0; i < N_SCENARIOS; i++) {
		const struct scenario *s = &scenarios[i];
		struct outcome out = { 0 };

		for (unsigned seed = 0; seed < seeds; seed++)
			run(s, 1000 + seed, &out);
		printf("%-38s %9.1f %9.1f %9.1f %8.2f%% %9.1f", s->name, sqrt(out.squares / out.n),
		       out.max_us, out.err_us / out.n, 100.0 * out.covered / out.n,
		       out.selftest_us);
		for (unsigned q = 0; q < 5; q++) {
			if (out.quality[q])
				printf(" %u %s", out.quality[q], ct_clock_quality_name(q));
		}
		printf("\n");
		fflush(stdout);
		bad |= (s->limit_us > 0 && out.max_us > s->limit_us) || out.covered < 0.95 * out.n;
	}
	return bad;
}

/* ---- the table ---- */

static void every_scenario_is_within_its_limit_and_its_published_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SCENARIOS; i++) {
		struct scenario s = scenarios[i];
		struct outcome out = { 0 };

		if (s.job.seconds > 300)
			s.job.seconds = 600;
		run(&s, 0, &out);
		assert_true(out.n > 0);
		if (s.limit_us > 0 && out.max_us > s.limit_us)
			fail_msg("%s: off by %.1f us", s.name, out.max_us);
		if (out.covered < 0.95 * out.n)
			fail_msg("%s: the published error holds at %u of %u", s.name, out.covered,
				 out.n);
		assert_int_equal(out.quality[CT_CLOCK_FAIL] + out.quality[CT_CLOCK_ABSENT] +
					 out.quality[CT_CLOCK_INCOMPLETE],
				 0);
	}
}

static void the_selftest_shows_how_far_ends_of_one_host_lie_apart(void **state)
{
	struct clock_job even = { .seconds = 20, .jitter_from_us = 1, .jitter_to_us = 2 };
	struct clock_job uneven = even, single = even;
	struct ct_clocks *clocks;

	(void)state;
	uneven.skew_us = 300;
	single.per_host = 1;
	clocks = solve(&even);
	assert_in_range(ct_clocks_host(clocks, 3)->selftest_ns, 0, 10000);
	ct_clocks_free(clocks);
	clocks = solve(&uneven);
	/* of two values in 0..300 the median distance is 88; of eight ranks about that */
	assert_in_range(ct_clocks_host(clocks, 3)->selftest_ns, 30000, 200000);
	/* and the published error knows of it */
	assert_true(ct_clocks_host(clocks, 3)->err_ns > 50000);
	ct_clocks_free(clocks);
	clocks = solve(&single);
	assert_true(ct_clocks_host(clocks, 3)->selftest_ns == CT_CLOCK_UNKNOWN);
	ct_clocks_free(clocks);
	clock_job_fini(&even);
	clock_job_fini(&uneven);
	clock_job_fini(&single);
}

/* Of a host with eight ranks, one that always leaves late does not move its clock. */
static void one_late_rank_does_not_move_its_host(void **state)
{
	struct scenario s = { "late rank", { .seconds = 60, .late_rank_us = 2000 }, 15 };
	struct outcome out = { 0 };

	(void)state;
	run(&s, 3, &out);
	assert_true(out.n > 0);
	assert_true(out.max_us < s.limit_us);
}

/* What cause and effect allow holds the truth, errors of times and all. */
static void causes_alone_leave_an_interval_that_holds_the_truth(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 3; seed++) {
		struct scenario s = { "causes",
				      { .seconds = 130, .wander = 1e-8, .no_ends = 1 },
				      0 };
		struct outcome out = { 0 };

		run(&s, seed, &out);
		assert_int_equal(out.quality[CT_CLOCK_APPROXIMATE], 7);
		assert_int_equal(out.covered, out.n);
		/* small operations leave some ten microseconds, and the errors of two times */
		assert_true(out.err_us / out.n > 25 && out.err_us / out.n < 120);
	}
}

/* ---- contradictions ---- */

static void expect_fail(struct clock_job job, uint32_t guilty)
{
	struct ct_clocks *clocks = solve(&job);
	uint64_t ref;

	for (uint32_t h = 1; h < 8; h++) {
		const struct ct_clock_host *host = ct_clocks_host(clocks, h);

		assert_int_equal(host->quality, h == guilty ? CT_CLOCK_FAIL : CT_CLOCK_ACCURATE);
		assert_int_equal(ct_clocks_at(clocks, h, job.base[h], &ref, NULL), h != guilty);
	}
	assert_true(ct_clocks_host(clocks, guilty)->conflict.kind != CT_CONFLICT_NONE);
	assert_true(ct_clocks_host(clocks, guilty)->err_ns == CT_CLOCK_UNKNOWN);
	ct_clocks_free(clocks);
	clock_job_fini(&job);
}

static void a_clock_that_is_set_fails_and_only_that_one(void **state)
{
	static const double steps[] = { 5e-3, -5e-3, 0.5e-3, -0.5e-3, 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct clock_job job = {
			.seconds = 60, .stepped = 4, .step_at = 33, .step_s = steps[i]
		};

		expect_fail(job, 3);
		/* without small operations cause and effect leave a millisecond: the ends have to
		 * show */
		job.no_small = 1;
		expect_fail(job, 3);
	}
}

static void a_set_clock_is_found_where_it_was_set(void **state)
{
	struct clock_job job = { .seconds = 120, .stepped = 4, .step_at = 83, .step_s = 2e-3 };
	struct ct_clocks *clocks = solve(&job);
	const struct ct_clock_conflict *conflict = &ct_clocks_host(clocks, 3)->conflict;
	double at = (double)(int64_t)(conflict->at_ns -
				      clock_job_local(&job, (int)conflict->host, 83)) /
		    1e9;

	(void)state;
	assert_true(conflict->host == 3 || conflict->with == 3);
	assert_true(fabs(at) < 30);
	ct_clocks_free(clocks);
	clock_job_fini(&job);
}

static void a_reference_that_was_set_fails_everybody(void **state)
{
	struct clock_job job = { .seconds = 60, .stepped = 1, .step_at = 33, .step_s = 5e-3 };
	struct ct_clocks *clocks = solve(&job);

	(void)state;
	for (uint32_t h = 1; h < 8; h++)
		assert_int_equal(ct_clocks_host(clocks, h)->quality, CT_CLOCK_FAIL);
	ct_clocks_free(clocks);
	clock_job_fini(&job);
}

static void operations_matched_wrongly_fail(void **state)
{
	(void)state;
	/* One kind of operation, of one host, with the one before it. */
	expect_fail((struct clock_job){ .seconds = 60, .shifted = 6 }, 5);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scenario_is_within_its_limit_and_its_published_error),
		cmocka_unit_test(the_selftest_shows_how_far_ends_of_one_host_lie_apart),
		cmocka_unit_test(one_late_rank_does_not_move_its_host),
		cmocka_unit_test(causes_alone_leave_an_interval_that_holds_the_truth),
		cmocka_unit_test(a_clock_that_is_set_fails_and_only_that_one),
		cmocka_unit_test(a_set_clock_is_found_where_it_was_set),
		cmocka_unit_test(a_reference_that_was_set_fails_everybody),
		cmocka_unit_test(operations_matched_wrongly_fail),
	};

	if (argc == 3 && !strcmp(argv[1], "--measure"))
		return measure((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
