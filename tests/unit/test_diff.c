/* SPDX-License-Identifier: Apache-2.0 */
/* The rank-sum test against all ways to deal the values out; its interval, ties and neighbours;
 * false discovery rate by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/arena.h"
#include "analyzer/diff/diff.h"
#include "analyzer/diff/rank_sum.h"
#include "analyzer/render/render.h"
#include "trace/status.h"

/* Pairs in which b is larger; an equal one counts half. */
static double pairs_won(const double *a, size_t n, const double *b, size_t m)
{
	double u = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			u += b[k] > a[i] ? 1 : b[k] < a[i] ? 0 : 0.5;
	return u;
}

/* The share of all ways to choose m of the n + m values whose pairs are as uneven as these, or
 * more. */
static double exact_p(const double *a, size_t n, const double *b, size_t m)
{
	double all[24], seen = fabs(pairs_won(a, n, b, m) - (double)(n * m) / 2), ways = 0,
			so_far = 0;

	memcpy(all, a, n * sizeof(*all));
	memcpy(all + n, b, m * sizeof(*all));
	for (unsigned set = 0; set < 1u << (n + m); set++) {
		double x[24], y[24];
		size_t nx = 0, ny = 0;

		if ((size_t)__builtin_popcount(set) != m)
			continue;
		for (size_t i = 0; i < n + m; i++) {
			if (set >> i & 1)
				y[ny++] = all[i];
			else
				x[nx++] = all[i];
		}
		ways++;
		so_far += fabs(pairs_won(x, nx, y, ny) - (double)(n * m) / 2) >= seen - 1e-9;
	}
	return so_far / ways;
}

static void the_chance_is_that_of_all_ways_to_deal_the_values_out(void **state)
{
	/* neighbours unlike each other, so that they do not count as fewer */
	static const double a[] = { 3.1, 9.4, 1.2, 8.8, 2.7, 7.5, 4.4, 6.1 };
	static const double b[] = { 5.0, 9.9, 3.3, 12.0, 6.6, 10.5, 4.9, 11.1 };
	struct ct_rank_sum test;

	(void)state;
	assert_int_equal(ct_rank_sum(a, 8, b, 8, &test), CT_OK);
	assert_true(fabs(test.p - exact_p(a, 8, b, 8)) < 0.01);
	assert_true(test.p > 0.02 && test.p < 0.2);
	assert_true(fabs(test.delta - (2 * pairs_won(a, 8, b, 8) / 64 - 1)) < 1e-12);
	/* ties */
	static const double c[] = { 1, 3, 1, 2, 1, 3, 2, 1 }, d[] = { 3, 2, 3, 1, 3, 2, 3, 3 };

	assert_int_equal(ct_rank_sum(c, 8, d, 8, &test), CT_OK);
	/* by the formula with ties, by hand: of few values with ties no approximation is near the
	 * exact 0.15 */
	assert_true(fabs(test.p - 0.10325) < 1e-4);
	/* all the same */
	assert_int_equal(ct_rank_sum(c, 1, c, 1, &test), CT_OK);
	assert_int_equal((int)test.p, 1);
}

static void the_shift_is_the_median_of_all_differences(void **state)
{
	static const double a[] = { 1, 4, 2, 8, 5, 7 }, b[] = { 11, 14, 12, 18, 15, 17 };
	struct ct_rank_sum test;

	(void)state;
	assert_int_equal(ct_rank_sum(a, 6, b, 6, &test), CT_OK);
	assert_true(fabs(test.shift - 10) < 1e-12);
	assert_true(test.low < 10 && test.low >= 4);
	assert_true(test.high > 10 && test.high <= 16);
	assert_true(fabs(test.delta - 1) < 1e-12);
}

/* The same values in runs of equal ones: half of them show nothing new. */
static void values_like_their_neighbours_count_as_fewer(void **state)
{
	double mixed_a[32], mixed_b[32], slow_a[32], slow_b[32];
	struct ct_rank_sum mixed, slow;

	(void)state;
	for (size_t i = 0; i < 32; i++) {
		mixed_a[i] = (double)(i * 7 % 32);
		mixed_b[i] = (double)(i * 7 % 32) + 6;
		slow_a[i] = (double)i;
		slow_b[i] = (double)i + 6;
	}
	assert_int_equal(ct_rank_sum(mixed_a, 32, mixed_b, 32, &mixed), CT_OK);
	assert_int_equal(ct_rank_sum(slow_a, 32, slow_b, 32, &slow), CT_OK);
	assert_true(mixed.p < 0.05);
	assert_true(slow.p > 0.5);
	assert_true(slow.low < mixed.low && slow.high > mixed.high);
}

/* Benjamini and Hochberg's step-up by hand: p n / rank, from the largest down never growing. */
static void many_tests_are_adjusted_together(void **state)
{
	double p[] = { 0.04, 0.001, 0.03, 0.5, 0.012 };
	static const double expected[] = { 0.05, 0.005, 0.05, 0.5, 0.03 };

	(void)state;
	assert_int_equal(ct_adjust_p(p, 5), CT_OK);
	for (size_t i = 0; i < 5; i++)
		assert_true(fabs(p[i] - expected[i]) < 1e-12);
}

/* ---- repetitions of the base ---- */

/* Steps of about `ms`, each a little longer or shorter. */
static void fill(struct ct_diff_samples *samples, double ms)
{
	for (uint64_t i = 0; i < 40; i++) {
		double ns = ms * 1e6 * (1 + 0.002 * (double)(i * 7 % 5));

		assert_int_equal(ct_diff_samples_add_step(samples, i << 20, (uint64_t)ns, 10),
				 CT_OK);
	}
}

static enum ct_diff_result compare(const double *base_ms, size_t n, double ms)
{
	struct ct_report report = { 0 };
	struct ct_diff_samples samples[9] = { 0 };
	struct ct_diff_run runs[9];
	struct ct_arena *memory = ct_arena_new();
	enum ct_diff_result result;
	struct ct_diff diff;

	report.steps.anchor_op = "AllReduce";
	for (size_t i = 0; i <= n; i++) {
		fill(&samples[i], i < n ? base_ms[i] : ms);
		runs[i] = (struct ct_diff_run){ &samples[i], &report };
	}
	assert_int_equal(ct_diff_make(runs, n, &runs[n], memory, &diff), CT_OK);
	assert_int_equal(diff.n_rows, 1);
	result = diff.rows[0].result;
	for (size_t i = 0; i <= n; i++)
		ct_diff_samples_fini(&samples[i]);
	ct_arena_free(memory);
	return result;
}

static void a_change_counts_beyond_what_repetitions_differ_by(void **state)
{
	static const double steady[] = { 10, 10.01, 9.99, 10 }, shaky[] = { 10, 11, 9.2, 10.4 };

	(void)state;
	assert_int_equal(compare(steady, 1, 10.8), CT_DIFF_SLOWER);
	assert_int_equal(compare(steady, 1, 9.3), CT_DIFF_FASTER);
	assert_int_equal(compare(steady, 1, 10), CT_DIFF_SAME);
	/* less than one percent is not worth reporting */
	assert_int_equal(compare(steady, 1, 10.09), CT_DIFF_SAME);
	assert_int_equal(compare(steady, 4, 10.8), CT_DIFF_SLOWER);
	assert_int_equal(compare(shaky, 4, 10.8), CT_DIFF_SAME);
	assert_int_equal(compare(shaky, 4, 9.3), CT_DIFF_SAME);
	assert_int_equal(compare(shaky, 4, 30), CT_DIFF_SLOWER);
}

static void blocks_widen_with_the_run_and_lose_nothing(void **state)
{
	struct ct_diff_samples samples = { 0 };
	const struct ct_diff_kind *kind;
	uint64_t n = 0;
	double sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(ct_diff_samples_add_step(&samples, i * i << 16, 1000, 1), CT_OK);
	assert_int_equal(samples.kinds.n, 1);
	kind = samples.kinds.all[0];
	for (unsigned b = 0; b < CT_DIFF_BLOCKS; b++) {
		n += kind->blocks[b].n;
		sum += kind->blocks[b].log_ns;
	}
	assert_int_equal(n, 1000);
	assert_true(fabs(sum - 1000 * log(1000)) < 1e-6);
	ct_diff_samples_fini(&samples);
}

static int says_how_much_slower(const struct ct_diff *diff)
{
	const struct ct_text_style style = { .unwrapped = 1 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int says;

	ct_diff_text(diff, "base", 1, "run", &style, out);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "efficiency"));
	says = strstr(text, " slower, ") != NULL;
	free(text);
	return says;
}

/* Twice the ranks and twice the samples in steps that take longer: 90 % of each rank's rate. Blocks
 * that differ a little. */
static void ranks_and_samples_give_the_scaling_efficiency(void **state)
{
	struct ct_report reports[2] = { { .run.ranks_expected = 4, .throughput.per_s = 1000 },
					{ .run.ranks_expected = 8, .throughput.per_s = 1800 } };
	struct ct_diff_samples samples[2] = { { .shift = 0 } };
	struct ct_diff_run runs[2] = { { &samples[0], &reports[0] }, { &samples[1], &reports[1] } };
	struct ct_arena *memory = ct_arena_new();
	struct ct_diff diff;

	(void)state;
	for (size_t b = 0; b < 32; b++) {
		double wobble = 1 + (double)(b * 7 % 5) / 1000;

		for (int r = 0; r < 2; r++) {
			assert_int_equal(ct_diff_samples_add_rate(&samples[r], b,
								  (r ? 1800 : 1000) * wobble),
					 CT_OK);
			/* what widens for steps leaves the blocks of rates alone */
			assert_int_equal(ct_diff_samples_add_step(&samples[r], b << 40,
								  (r ? 1111 : 1000) + b % 5, 1),
					 CT_OK);
		}
	}
	assert_int_equal(ct_diff_make(&runs[0], 1, &runs[1], memory, &diff), CT_OK);
	assert_true(fabs(diff.scaling.efficiency_pct - 90) < 0.1);
	assert_true(diff.scaling.low_pct < 90 && diff.scaling.low_pct > 89.5);
	assert_true(diff.scaling.high_pct > 90 && diff.scaling.high_pct < 90.5);
	assert_true(fabs(diff.scaling.per_s - 1800) < 1e-6);
	/* of another number of ranks steps and operations differ by design */
	assert_false(says_how_much_slower(&diff));
	diff.scaling.ranks = diff.scaling.base_ranks;
	assert_true(says_how_much_slower(&diff));
	/* each step takes longer, each sample less */
	assert_null(ct_diff_regression(&diff, 5));
	diff.scaling.per_s = NAN;
	assert_string_equal(ct_diff_regression(&diff, 5)->op, "step");
	ct_diff_samples_fini(&samples[0]);
	ct_diff_samples_fini(&samples[1]);
	ct_arena_free(memory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chance_is_that_of_all_ways_to_deal_the_values_out),
		cmocka_unit_test(the_shift_is_the_median_of_all_differences),
		cmocka_unit_test(values_like_their_neighbours_count_as_fewer),
		cmocka_unit_test(many_tests_are_adjusted_together),
		cmocka_unit_test(a_change_counts_beyond_what_repetitions_differ_by),
		cmocka_unit_test(blocks_widen_with_the_run_and_lose_nothing),
		cmocka_unit_test(ranks_and_samples_give_the_scaling_efficiency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
