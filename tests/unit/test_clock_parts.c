/* SPDX-License-Identifier: Apache-2.0 */
/* What clocks are related with: hulls of bounds, bands, lines among outliers, maps from one clock
 * to another. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/clock/couple.h"
#include "analyzer/clock/edge.h"
#include "analyzer/clock/hull.h"
#include "analyzer/model/clock_map.h"
#include "tests/unit/clock_job.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hull_is_as_tight_as_its_points),
		cmocka_unit_test(a_full_hull_only_loosens),
		cmocka_unit_test(a_band_allows_exactly_what_its_points_allow),
		cmocka_unit_test(a_line_is_found_among_outliers),
		cmocka_unit_test(maps_go_back_and_forth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
