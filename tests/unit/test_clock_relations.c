/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts' clocks can be synchronized, by their common operations, and with which error. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/clock/solve.h"
#include "tests/unit/clock_job.h"

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
		.start_ns = shown(h, start), .end_ns = shown(h, end), .host = h, .slot = h
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

/* Operations of two hosts, every fourth of which leaves no doubt; the others end later on the
 * second host. */
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
	/* 30 us and the 25 us of doubt to either side; 80 us by which ends of single ranks may be
	 * wrong */
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

/* Operations of 5 ms whose ends are within 50 us of each other, for `seconds`; the second host's
 * clock gains `drift`. */
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

/* Cause and effect leave 5 ms to either side, so that only the ends show. */
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
	/* three steps of 130 us against one of 380: 130 and 82 against twice 380; 80 us of each are
	 * those for one rank a host */
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

/* What the host sees to be over may have been over for a while: that is not its accuracy. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_that_never_meet_are_not_related),
		cmocka_unit_test(messages_one_way_are_not_enough),
		cmocka_unit_test(messages_both_ways_leave_what_they_take),
		cmocka_unit_test(errors_add_up_along_the_way),
		cmocka_unit_test(the_way_is_the_one_whose_errors_add_up_to_least),
		cmocka_unit_test(ends_stay_within_what_causes_allow),
		cmocka_unit_test(ends_seen_by_the_host_count_for_what_they_are),
		cmocka_unit_test(memory_does_not_follow_the_length_of_the_run),
		cmocka_unit_test(clocks_that_drift_apart_too_fast_fail),
		cmocka_unit_test(a_drift_that_is_not_known_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
