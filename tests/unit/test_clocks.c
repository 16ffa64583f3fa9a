/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of hosts, related by the operations they have in common: how well, and whether the published error holds. The truth
 * are the clocks of clock_job.
 *
 * unit_clocks --measure SEEDS prints the table of docs/ANALYSIS.md, "Clocks". */
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
		/* without small operations cause and effect leave a millisecond: the ends have to tell */
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

/* ---- who meets whom ---- */

static int add_event(struct ct_clock_points *points, enum ct_clock_kind kind,
		     const struct ct_clock_member *members, uint32_t n, uint32_t one)
{
	const struct ct_clock_event event = { .kind = kind, .members = members, .n = n, .one = one };

	return ct_clock_points_add(points, &event);
}

/* Host h's clock shows (h + 1) * 1000 s more, and gains h * 10 ppm. */
static uint64_t shown(uint32_t h, double t)
{
	return (uint64_t)llround((t * (1 + 1e-5 * h) + 1000.0 * (h + 1)) * 1e9);
}

static struct ct_clock_member member(uint32_t h, double start, double end)
{
	return (struct ct_clock_member){
		.start_ns = shown(h, start), .end_ns = shown(h, end), .host = h, .seat = h
	};
}

/* One operation every 10 ms for 30 s between two hosts. */
static void join(struct ct_clock_points *points, uint32_t a, uint32_t b, enum ct_clock_kind kind)
{
	for (int k = 0; k < 3000; k++) {
		double t = 0.01 * k;
		struct ct_clock_member m[2] = { member(a, t, t + 2e-3),
						member(b, t + 1e-3, t + 2e-3) };

		assert_int_equal(add_event(points, kind, m, 2, 0), 0);
	}
}

static void expect_relation(const struct ct_clocks *clocks, uint32_t h, uint32_t ref, double within)
{
	for (double t = 1; t < 29; t += 0.7) {
		uint64_t at, err;
		double off;

		assert_int_equal(ct_clocks_at(clocks, h, shown(h, t), &at, &err), 1);
		off = fabs((double)(int64_t)(at - shown(ref, t)));
		assert_true(off <= (double)err + 1);
		assert_true(off <= within);
	}
}

static void hosts_that_never_meet_are_not_related(void **state)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;
	uint64_t ref = 7;

	(void)state;
	assert_int_equal(ct_clock_points_init(&points, 4, 0), 0);
	join(&points, 0, 1, CT_CLOCK_SYNC);
	join(&points, 2, 3, CT_CLOCK_SYNC);
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	assert_int_equal(ct_clocks_host(clocks, 0)->quality, CT_CLOCK_ACCURATE);
	assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_ACCURATE);
	for (uint32_t h = 2; h < 4; h++) {
		assert_int_equal(ct_clocks_host(clocks, h)->quality, CT_CLOCK_ABSENT);
		assert_true(ct_clocks_host(clocks, h)->err_ns == CT_CLOCK_UNKNOWN);
		assert_int_equal(ct_clocks_at(clocks, h, shown(h, 5), &ref, NULL), 0);
	}
	assert_int_equal(ref, 7);
	assert_int_equal(ct_clocks_at(clocks, 4, 1, &ref, NULL), 0);
	assert_int_equal(ct_clocks_at(NULL, 0, 1, &ref, NULL), 0);
	ct_clocks_free(clocks);
	ct_clock_points_fini(&points);
}

static void messages_one_way_are_not_enough(void **state)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;
	uint64_t ref;

	(void)state;
	assert_int_equal(ct_clock_points_init(&points, 2, 0), 0);
	join(&points, 0, 1, CT_CLOCK_FROM_ONE);
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_INCOMPLETE);
	assert_int_equal(ct_clocks_at(clocks, 1, shown(1, 5), &ref, NULL), 0);
	ct_clocks_free(clocks);
	ct_clock_points_fini(&points);
}

static void messages_both_ways_leave_what_they_take(void **state)
{
	static const enum ct_clock_kind back[] = { CT_CLOCK_FROM_ONE, CT_CLOCK_TO_ONE };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ct_clock_points points;
		struct ct_clocks *clocks;

		assert_int_equal(ct_clock_points_init(&points, 2, 0), 0);
		/* what comes back: from the other one, or as a reduction to this one */
		for (int i = 0; i < 3000; i++) {
			double t = 0.01 * i;
			struct ct_clock_member m[2] = { member(0, t, t + 2e-3),
							member(1, t + 1e-3, t + 2e-3) };

			assert_int_equal(add_event(&points, CT_CLOCK_FROM_ONE, m, 2, 0), 0);
			assert_int_equal(add_event(&points, back[k], m, 2, k == 0), 0);
		}
		assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
		assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_APPROXIMATE);
		/* 0's start to 1's end 2 ms, 1's start to 0's end 1 ms, 25 us to either side */
		assert_in_range(ct_clocks_host(clocks, 1)->err_ns, 1500000, 1560000);
		expect_relation(clocks, 1, 0, 1.6e6);
		ct_clocks_free(clocks);
		ct_clock_points_fini(&points);
	}
}

/* Operations of two hosts, every fourth of which leaves no doubt; the others end later on the second host. */
static struct ct_clocks *late_ends(double late)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;

	assert_int_equal(ct_clock_points_init(&points, 2, 0), 0);
	for (int k = 0; k < 3000; k++) {
		double t = 0.01 * k, by = k % 4 ? late : 0;
		struct ct_clock_member m[2] = { member(0, t, t + 30e-6),
						member(1, t, t + 30e-6 + by) };

		assert_int_equal(add_event(&points, CT_CLOCK_SYNC, m, 2, 0), 0);
	}
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	ct_clock_points_fini(&points);
	return clocks;
}

static void ends_stay_within_what_causes_allow(void **state)
{
	/* 30 us and the 25 us of doubt to either side; 80 us by which ends of single ranks may be wrong */
	struct ct_clocks *clocks = late_ends(75e-6);

	(void)state;
	expect_relation(clocks, 1, 0, 57e3);
	ct_clocks_free(clocks);
	/* Ends that are wrong by more say nothing: then all of the interval is the error. */
	clocks = late_ends(200e-6);
	assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_APPROXIMATE);
	assert_in_range(ct_clocks_host(clocks, 1)->err_ns, 105000, 115000);
	expect_relation(clocks, 1, 0, 57e3);
	ct_clocks_free(clocks);
	clocks = late_ends(800e-6);
	assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_FAIL);
	assert_int_equal(ct_clocks_host(clocks, 1)->conflict.kind, CT_CONFLICT_ENDS);
	ct_clocks_free(clocks);
}

/* Operations of 5 ms whose ends are within 50 us of each other, for `seconds`; the second host's clock gains `drift`. */
static struct ct_clocks *drifting(double drift, double seconds)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;

	assert_int_equal(ct_clock_points_init(&points, 2, 0), 0);
	for (int k = 0; k < (int)(seconds / 0.01); k++) {
		double t = 0.01 * k, by = 50e-6 * (k * 7 % 10) / 10;
		struct ct_clock_member m[2] = { member(0, t, t + 5e-3),
						member(1, t + drift * t,
						       t + 5e-3 + by + drift * (t + 5e-3)) };

		assert_int_equal(add_event(&points, CT_CLOCK_SYNC, m, 2, 0), 0);
	}
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	ct_clock_points_fini(&points);
	return clocks;
}

/* Cause and effect leave 5 ms to either side, so that only the ends tell. */
static void clocks_that_drift_apart_too_fast_fail(void **state)
{
	static const double fast[] = { 860e-6, -860e-6, 10000e-6, -10000e-6, 450e-6 };
	static const double slow[] = { 250e-6, -250e-6, 310e-6, 0 };
	struct ct_clocks *clocks;

	(void)state;
	for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++) {
		clocks = drifting(fast[i], 2);
		assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_FAIL);
		assert_int_equal(ct_clocks_host(clocks, 1)->conflict.kind,
				 fabs(fast[i]) < 5e-3 ? CT_CONFLICT_DRIFT : CT_CONFLICT_CAUSE);
		assert_int_equal(ct_clocks_host(clocks, 1)->conflicts, 1);
		assert_int_equal(ct_clocks_host(clocks, 1)->compared, 1);
		ct_clocks_free(clocks);
	}
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		clocks = drifting(slow[i], 2);
		assert_int_equal(ct_clocks_host(clocks, 1)->conflict.kind, CT_CONFLICT_NONE);
		ct_clocks_free(clocks);
	}
	/* so short that the errors explain it */
	clocks = drifting(450e-6, 0.2);
	assert_int_equal(ct_clocks_host(clocks, 1)->conflict.kind, CT_CONFLICT_NONE);
	ct_clocks_free(clocks);
}

/* What a few operations at one moment say of the drift is less than what clocks do at most. */
static void a_drift_that_is_not_known_is_not_followed(void **state)
{
	struct ct_clocks *clocks = drifting(0, 0.1);
	uint64_t at = 0, later = 0, err = 0, first = ct_clocks_host(clocks, 1)->first_ns;

	(void)state;
	assert_int_equal(ct_clocks_at(clocks, 1, first, &at, &err), 1);
	assert_int_equal(err, ct_clocks_host(clocks, 1)->err_ns);
	assert_int_equal(ct_clocks_at(clocks, 1, first + 1000000000, &later, &err), 1);
	assert_int_equal(later - at, 1000000000);
	assert_int_equal(err - ct_clocks_host(clocks, 1)->err_ns, 300000);
	ct_clocks_free(clocks);
}

/* One operation every 10 ms, with this error of every time. */
static void join_roughly(struct ct_clock_points *points, uint32_t a, uint32_t b, uint32_t err_ns)
{
	for (int k = 0; k < 3000; k++) {
		double t = 0.01 * k;
		struct ct_clock_member m[2] = { member(a, t, t + 2e-3),
						member(b, t + 1e-3, t + 2e-3) };

		m[0].end_err_ns = m[1].end_err_ns = err_ns;
		assert_int_equal(add_event(points, CT_CLOCK_SYNC, m, 2, 0), 0);
	}
}

static void the_way_is_the_one_whose_errors_add_up_to_least(void **state)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;

	(void)state;
	assert_int_equal(ct_clock_points_init(&points, 5, 0), 0);
	/* three steps of 130 us against one of 380: 130 and 82 against twice 380; 80 us of each are those for one rank a host */
	join_roughly(&points, 0, 1, 25000);
	join_roughly(&points, 1, 2, 25000);
	join_roughly(&points, 2, 3, 25000);
	join_roughly(&points, 0, 3, 150000);
	join_roughly(&points, 3, 4, 150000);
	join_roughly(&points, 1, 4, 1000);
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	assert_int_equal(ct_clocks_host(clocks, 3)->hops, 1);
	assert_int_equal(ct_clocks_host(clocks, 4)->hops, 2);
	assert_in_range(ct_clocks_host(clocks, 3)->err_ns, 2 * 150000 + 80000, 2 * 150000 + 83000);
	assert_in_range(ct_clocks_host(clocks, 4)->err_ns, 2 * 26000 + 160000, 2 * 26000 + 166000);
	ct_clocks_free(clocks);
	ct_clock_points_fini(&points);
}

static void errors_add_up_along_the_way(void **state)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;

	(void)state;
	assert_int_equal(ct_clock_points_init(&points, 5, 2), 0);
	join(&points, 2, 4, CT_CLOCK_SYNC);
	join(&points, 1, 4, CT_CLOCK_SYNC);
	join(&points, 1, 3, CT_CLOCK_SYNC);
	join(&points, 0, 3, CT_CLOCK_SYNC);
	assert_int_equal(ct_clocks_solve(&points, 2, &clocks), 0);
	assert_int_equal(ct_clocks_reference(clocks), 2);
	for (uint32_t h = 0; h < 5; h++)
		expect_relation(clocks, h, 2, 1000);
	assert_int_equal(ct_clocks_host(clocks, 4)->hops, 1);
	assert_int_equal(ct_clocks_host(clocks, 1)->hops, 2);
	assert_int_equal(ct_clocks_host(clocks, 3)->hops, 3);
	assert_int_equal(ct_clocks_host(clocks, 0)->hops, 4);
	assert_true(ct_clocks_host(clocks, 0)->err_ns > 3 * ct_clocks_host(clocks, 4)->err_ns);
	ct_clocks_free(clocks);
	ct_clock_points_fini(&points);
}

/* What the host sees to be over may have been over for a while: that is no accuracy. */
static void ends_seen_by_the_host_count_for_what_they_are(void **state)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;
	uint64_t dice = 5;

	(void)state;
	assert_int_equal(ct_clock_points_init(&points, 2, 0), 0);
	for (int k = 0; k < 3000; k++) {
		double t = 0.01 * k;
		/* one host looks late, by 0 to 1 ms */
		struct ct_clock_member m[2] = { member(0, t, t + 2e-3),
						member(1, t + 1e-3,
						       t + 2e-3 + 1e-3 * clock_job_random(&dice)) };
		const struct ct_clock_event event = {
			.kind = CT_CLOCK_SYNC, .members = m, .n = 2, .by_host = 1
		};

		assert_int_equal(ct_clock_points_add(&points, &event), 0);
	}
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_APPROXIMATE);
	expect_relation(clocks, 1, 0, 600e3);
	assert_true(ct_clocks_host(clocks, 1)->err_ns > 300000);
	ct_clocks_free(clocks);
	ct_clock_points_fini(&points);
}

static void memory_does_not_follow_the_length_of_the_run(void **state)
{
	struct ct_clock_points points;
	struct ct_clocks *clocks;
	double off = 0;

	(void)state;
	assert_int_equal(ct_clock_points_init(&points, 2, 0), 0);
	/* four days, 25 operations in 10 s */
	for (int k = 0; k < 864000; k++) {
		double t = 0.4 * k;
		struct ct_clock_member m[2] = { member(0, t, t + 2e-3),
						member(1, t + 1e-3, t + 2e-3) };

		assert_int_equal(add_event(&points, CT_CLOCK_SYNC, m, 2, 0), 0);
	}
	assert_true(points.edges[0]->n_fits <= CT_EDGE_FITS);
	assert_true(points.edges[0]->n_fits >= CT_EDGE_FITS / 2 - 1);
	assert_true(points.edges[0]->n_bounds <= CT_EDGE_BOUNDS);
	assert_int_equal(ct_clocks_solve(&points, 0, &clocks), 0);
	assert_int_equal(ct_clocks_host(clocks, 1)->quality, CT_CLOCK_ACCURATE);
	for (double t = 0; t < 345600; t += 777) {
		uint64_t ref;

		assert_int_equal(ct_clocks_at(clocks, 1, shown(1, t), &ref, NULL), 1);
		off = fmax(off, fabs((double)(int64_t)(ref - shown(0, t))));
	}
	assert_true(off < 1000);
	ct_clocks_free(clocks);
	ct_clock_points_fini(&points);
}

/* ---- the parts ---- */

/* All points, without a hull. */
static double floor_of(const int64_t (*points)[2], int n, double slope)
{
	double floor = INFINITY;

	for (int i = 0; i < n; i++)
		floor = fmin(floor, (double)points[i][1] - slope * (double)points[i][0]);
	return floor;
}

static void a_hull_is_as_tight_as_its_points(void **state)
{
	static int64_t points[5000][2];
	uint64_t dice = 99;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct ct_hull hull = { .n = 0 };
		int n = 1 + (int)(5000 * clock_job_random(&dice));

		for (int i = 0; i < n; i++) {
			/* on some days far from each other, on some at equal times */
			double span = round % 2 ? 6e10 : 50;

			points[i][0] = (int64_t)(span * (clock_job_random(&dice) - 0.5));
			points[i][1] = (int64_t)(1e9 * clock_job_random(&dice)) - (1ll << 39);
			ct_hull_add(&hull, points[i][0], points[i][1]);
		}
		assert_true(hull.n <= CT_HULL_MAX);
		for (double slope = -300e-6; slope <= 300e-6; slope += 7e-6)
			assert_true(fabs(ct_hull_floor(&hull, slope) -
					 floor_of((const int64_t(*)[2])points, n, slope)) < 0.1);
	}
}

/* Points on a curve are all corners: what is dropped may only loosen. */
static void a_full_hull_only_loosens(void **state)
{
	static int64_t points[1000][2];
	struct ct_hull hull = { .n = 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		points[i][0] = i * 60000000ll;
		points[i][1] = (int64_t)(i - 500) * (i - 500) * 100;
		ct_hull_add(&hull, points[i][0], points[i][1]);
	}
	assert_int_equal(hull.n, CT_HULL_MAX);
	for (double slope = -300e-6; slope <= 300e-6; slope += 7e-6) {
		double exact = floor_of((const int64_t(*)[2])points, 1000, slope);

		assert_true(ct_hull_floor(&hull, slope) >= exact - 0.1);
		assert_true(ct_hull_floor(&hull, slope) < exact + 50000);
	}
}

static void a_band_allows_exactly_what_its_points_allow(void **state)
{
	struct ct_clock_band band = { .most = { .n = 0 } };
	struct ct_clock_line line;
	double least, most;

	(void)state;
	assert_int_equal(ct_clock_band_middle(&band, &line), 0);
	ct_clock_band_at_most(&band, 0, 100000);
	ct_clock_band_at_most(&band, 1000000000, 200000);
	assert_int_equal(ct_clock_band_middle(&band, &line), 0);
	ct_clock_band_at_least(&band, 0, 0);
	ct_clock_band_at_least(&band, 1000000000, 100000);
	assert_int_equal(ct_clock_band_middle(&band, &line), 1);
	assert_true(fabs(line.slope - 1e-4) < 1e-9);
	assert_true(fabs(line.margin - 50000) < 1);
	assert_true(fabs(line.at_zero - 50000) < 1);
	ct_clock_band_interval(&band, &line, 500000000, &least, &most);
	assert_true(fabs(least - 50000) < 1 && fabs(most - 150000) < 1);
	/* lines cross over between the ends, up to a slope of 300 ppm */
	ct_clock_band_interval(&band, &line, 2000000000, &least, &most);
	assert_true(fabs(least - 100000) < 1 && fabs(most - 400000) < 1);
	/* and nothing goes through this */
	ct_clock_band_at_most(&band, 500000000, 10000);
	assert_int_equal(ct_clock_band_middle(&band, &line), 1);
	assert_true(fabs(line.margin + 20000) < 1);
}

static void a_line_is_found_among_outliers(void **state)
{
	struct ct_couple_sample samples[400];
	double scratch[400];
	struct ct_couple_line line;
	uint64_t dice = 7;

	(void)state;
	for (int i = 0; i < 400; i++) {
		int64_t x = (int64_t)(1e10 * clock_job_random(&dice));

		samples[i] = (struct ct_couple_sample){
			.x = x,
			.y = 1000000 + x / 20000 + (int64_t)(2000 * clock_job_random(&dice)),
			.err_ns = 100,
		};
		/* a fifth is late by milliseconds, mostly early in the window */
		if (i % 5 == 0)
			samples[i].y += 3000000 - x / 5000;
	}
	ct_couple_fit(samples, 400, scratch, &line);
	assert_true(fabs(line.slope - 50e-6) < 0.2e-6);
	assert_true(fabs(line.y - 1001000 - 50e-6 * line.x) < 300);
	assert_in_range(line.rejected, 75, 80);
	assert_true(line.se > 10 && line.se < 200);
}

static void maps_go_back_and_forth(void **state)
{
	struct ct_clock_map there = { .knots = NULL }, back = { .knots = NULL }, both;

	(void)state;
	for (int k = 0; k < 100; k++) {
		uint64_t t = 5000000000ull + 10000000000ull * (uint64_t)k;
		int64_t more = -3000000000ll + 200000ll * k * (k % 7);

		assert_int_equal(ct_map_add(&there, t, more, 10), 0);
		assert_int_equal(ct_map_add(&back, t + (uint64_t)more, -more, 20), 0);
	}
	assert_int_equal(ct_map_compose(&there, &back, &both), 0);
	for (uint64_t t = 5000000000ull; t < 995000000000ull; t += 333333333) {
		double err;

		assert_true(llabs((int64_t)(ct_map_at(&both, t, &err) - t)) <= 3);
		assert_true(fabs(err - 30) < 1e-6);
	}
	ct_map_fini(&there);
	ct_map_fini(&back);
	ct_map_fini(&both);
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
		cmocka_unit_test(hosts_that_never_meet_are_not_related),
		cmocka_unit_test(messages_one_way_are_not_enough),
		cmocka_unit_test(messages_both_ways_leave_what_they_take),
		cmocka_unit_test(errors_add_up_along_the_way),
		cmocka_unit_test(the_way_is_the_one_whose_errors_add_up_to_least),
		cmocka_unit_test(ends_stay_within_what_causes_allow),
		cmocka_unit_test(ends_seen_by_the_host_count_for_what_they_are),
		cmocka_unit_test(memory_does_not_follow_the_length_of_the_run),
		cmocka_unit_test(a_hull_is_as_tight_as_its_points),
		cmocka_unit_test(a_full_hull_only_loosens),
		cmocka_unit_test(a_band_allows_exactly_what_its_points_allow),
		cmocka_unit_test(a_line_is_found_among_outliers),
		cmocka_unit_test(maps_go_back_and_forth),
		cmocka_unit_test(clocks_that_drift_apart_too_fast_fail),
		cmocka_unit_test(a_drift_that_is_not_known_is_not_followed),
	};

	if (argc == 3 && !strcmp(argv[1], "--measure"))
		return measure((unsigned)atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
