/* SPDX-License-Identifier: Apache-2.0 */
/* What all analyses are made of: arrays that grow, comparison functions, statistics. */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/mix.h"
#include "trace/status.h"

static void an_array_grows_by_doubling_and_keeps_what_it_has(void **state)
{
	uint64_t *all = NULL;
	uint32_t cap = 0, moved = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t before = cap;

		assert_int_equal(ct_grow(&all, &cap, i + 1, sizeof(*all)), CT_OK);
		assert_true(cap > i);
		moved += cap != before;
		all[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(all[i], i);
	assert_true(moved < 12);
	assert_int_equal(ct_grow(&all, &cap, 100000, sizeof(*all)), CT_OK);
	assert_true(cap >= 100000);
	free(all);
}

static void an_array_that_cannot_grow_stays_as_it_is(void **state)
{
	struct {
		char bytes[1u << 20];
	} *all = NULL;
	uint32_t cap = 0;

	(void)state;
	assert_int_equal(ct_grow(&all, &cap, (1u << 31) + 1, 1), CT_NOMEM);
	assert_int_equal(ct_grow(&all, &cap, UINT32_MAX, sizeof(*all)), CT_NOMEM);
	assert_int_equal(ct_grow(&all, &cap, 1, SIZE_MAX / 2), CT_NOMEM);
	assert_null(all);
	assert_int_equal(cap, 0);
}

static void new_elements_are_zero_where_that_is_asked_for(void **state)
{
	uint16_t *all = NULL;
	uint32_t cap = 0;

	(void)state;
	mallopt(M_PERTURB, 0x5a); /* fresh memory is not zero by chance */
	assert_int_equal(ct_grow_zeroed(&all, &cap, 3, sizeof(*all)), CT_OK);
	for (uint32_t i = 0; i < cap; i++) {
		assert_int_equal(all[i], 0);
		all[i] = 0xffff;
	}
	for (uint32_t old = cap, i = 0; i < 5; i++, old = cap) {
		assert_int_equal(ct_grow_zeroed(&all, &cap, cap + 1, sizeof(*all)), CT_OK);
		assert_int_equal(all[old - 1], 0xffff);
		for (; old < cap; old++) {
			assert_int_equal(all[old], 0);
			all[old] = 0xffff;
		}
	}
	mallopt(M_PERTURB, 0);
	free(all);
}

struct pair {
	uint64_t first;
	int second;
};

CT_SORT_BY(by_both, struct pair, CT_UP(first) ?: CT_DOWN(second))

static void keys_of_a_comparison_decide_in_their_order(void **state)
{
	const struct pair low = { 1, 5 }, high = { UINT64_MAX, 5 }, less = { 1, -5 };

	(void)state;
	assert_int_equal(by_both(&low, &high), -1);
	assert_int_equal(by_both(&high, &low), 1);
	assert_int_equal(by_both(&low, &less), -1);
	assert_int_equal(by_both(&less, &low), 1);
	assert_int_equal(by_both(&low, &low), 0);
}

struct sorted {
	uint32_t key, at;
};

CT_SORT_BY(by_sorted_key, struct sorted, CT_UP(key))

static int by_key_of(const void *a, const void *b, void *keys)
{
	const uint32_t *key = keys;

	return CT_CMP(key[*(const uint32_t *)a], key[*(const uint32_t *)b]);
}

/* Of n with this many different keys: in order, equal ones as they came. `reversed`: the greatest
 * comes first. */
static void check_sort(uint32_t n, uint32_t keys, int reversed)
{
	struct sorted *all = calloc(n + 1, sizeof(*all));
	uint32_t *key = calloc(n + 1, sizeof(*key)), *order = calloc(n + 1, sizeof(*order));
	uint32_t random = 12345;

	for (uint32_t k = 0; k < n; k++) {
		random = random * 1664525 + 1013904223;
		key[k] = reversed ? (n - k) * keys / n : (random >> 8) % keys;
		all[k] = (struct sorted){ key[k], k };
		order[k] = k;
	}
	all[n].key = 77;
	ct_sort(all, n, sizeof(*all), by_sorted_key);
	ct_sort_r(order, n, sizeof(*order), by_key_of, key);
	for (uint32_t k = 0; k < n; k++) {
		assert_int_equal(key[all[k].at], all[k].key);
		assert_int_equal(order[k], all[k].at);
		assert_true(!k || all[k - 1].key < all[k].key ||
			    (all[k - 1].key == all[k].key && all[k - 1].at < all[k].at));
	}
	assert_int_equal(all[n].key, 77);
	free(all);
	free(key);
	free(order);
}

static void sorting_keeps_equal_elements_as_they_came(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 100; n++) {
		check_sort(n, 1, 0);
		check_sort(n, 3, 0);
		check_sort(n, 1000, 0);
		check_sort(n, 50, 1);
	}
	check_sort(10007, 100, 0);
	check_sort(10007, 10007, 1);
}

struct large {
	uint32_t key;
	char room[CT_SORT_LARGEST];
};

CT_SORT_BY(by_large_key, struct large, CT_UP(key))

static void large_elements_are_sorted_too(void **state)
{
	static struct large all[50];

	(void)state;
	for (uint32_t k = 0; k < 50; k++) {
		all[k].key = k * 7 % 50;
		all[k].room[CT_SORT_LARGEST - 1] = (char)all[k].key;
	}
	ct_sort(all, 50, sizeof(*all), by_large_key);
	for (uint32_t k = 0; k < 50; k++) {
		assert_int_equal(all[k].key, k);
		assert_int_equal(all[k].room[CT_SORT_LARGEST - 1], k);
	}
}

static void numbers_are_compared_as_what_they_are(void **state)
{
	const int minus = -1, plus = 1;
	const uint32_t most = UINT32_MAX, one = 1;
	const int64_t least = INT64_MIN, none = 0;
	const double half = 0.5, more = 0.75;

	(void)state;
	assert_int_equal(ct_by_int(&minus, &plus), -1);
	assert_int_equal(ct_by_u32(&most, &one), 1);
	assert_int_equal(ct_by_i64(&least, &none), -1);
	assert_int_equal(ct_by_double(&half, &more), -1);
	assert_int_equal(ct_by_double_down(&half, &more), 1);
}

static void binomial_tail_is_right(void **state)
{
	(void)state;
	assert_true(ct_binomial_tail(0, 10, 0.5) == 0);
	assert_float_equal(ct_binomial_tail(1, 1, 0.25), log10(0.25), 1e-9);
	assert_float_equal(ct_binomial_tail(10, 10, 0.5), 10 * log10(0.5), 1e-9);
	/* P(Bin(50, 1/64) >= 5) by the sum of its terms */
	assert_float_equal(ct_binomial_tail(5, 50, 1.0 / 64), -2.95874, 1e-5);
	assert_true(ct_binomial_tail(5, 10, 0) < -100);
	assert_true(ct_binomial_tail(11, 10, 0.5) < -100);
	assert_true(ct_binomial_tail(1000000, 1000000, 0.25) < -600000);
	assert_true(ct_binomial_tail(250000, 1000000, 0.25) > -0.4);
	assert_true(ct_binomial_tail(1, 1000000, 0.25) > -1e-6);
	/* 4 times 0.00099 and 0.00013 */
	assert_false(ct_is_beyond_chance(9, 13, 4));
	assert_true(ct_is_beyond_chance(10, 13, 4));
	assert_false(ct_is_beyond_chance(1000, 1000, 1));
}

static void the_median_is_in_the_middle(void **state)
{
	double odd[] = { 5, 1, 3 }, even[] = { 8, 1, 2, 4 }, one[] = { 7 };

	(void)state;
	assert_float_equal(ct_median(odd, 3), 3, 0);
	assert_float_equal(ct_median(even, 4), 3, 0);
	assert_float_equal(ct_median_high(even, 4), 4, 0);
	assert_float_equal(ct_median(one, 1), 7, 0);
	assert_true(isnan(ct_median(one, 0)));
	assert_true(isnan(ct_median_high(one, 0)));
}

static void the_spread_of_a_normal_sample_is_its_deviation(void **state)
{
	double values[1001];

	(void)state;
	/* by the inverse of the error function, which is what erf() makes of it again */
	for (int i = 0; i < 1001; i++) {
		double p = (i + 0.5) / 1001 * 2 - 1, low = -5, high = 5;

		while (high - low > 1e-9) {
			double middle = (low + high) / 2;

			*(erf(middle) < p ? &low : &high) = middle;
		}
		values[i] = 10 + 3 * sqrt(2) * low;
	}
	assert_float_equal(ct_spread(values, 1001, 10), 3, 0.02);
}

static void a_quantile_lies_between_its_neighbours(void **state)
{
	const double sorted[] = { 0, 10, 20, 40 };

	(void)state;
	assert_float_equal(ct_quantile(sorted, 4, 0), 0, 0);
	assert_float_equal(ct_quantile(sorted, 4, 0.5), 15, 1e-12);
	assert_float_equal(ct_quantile(sorted, 4, 0.75), 25, 1e-12);
	assert_float_equal(ct_quantile(sorted, 4, 1), 40, 0);
}

static void sums_stay_at_the_most(void **state)
{
	(void)state;
	assert_true(ct_plus(1, 2) == 3);
	assert_true(ct_plus(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(ct_plus(UINT64_MAX - 1, 5) == UINT64_MAX);
	assert_true(ct_plus_u32(UINT32_MAX - 1, UINT64_MAX) == UINT32_MAX);
	assert_true(ct_plus_u32(7, 8) == 15);
}

static void what_is_sorted_is_found_where_it_begins(void **state)
{
	const int sorted[] = { 2, 4, 4, 4, 9 };

	(void)state;
	assert_int_equal(CT_BISECT(i, 0, 5, sorted[i] < 4), 1);
	assert_int_equal(CT_BISECT(i, 0, 5, sorted[i] <= 4), 4);
	assert_int_equal(CT_BISECT(i, 0, 5, sorted[i] < 0), 0);
	assert_int_equal(CT_BISECT(i, 0, 5, sorted[i] < 10), 5);
	assert_int_equal(CT_BISECT(i, 2, 5, sorted[i] < 4), 2);
	assert_int_equal(CT_BISECT(i, 0, 0, sorted[i] < 4), 0);
}

/* Who makes many texts asks once, at the end. */
static void want_of_memory_sticks_to_an_arena(void **state)
{
	struct ct_arena *arena = ct_arena_new();

	(void)state;
	assert_string_equal(ct_arena_printf(arena, "%d %s", 3, "ranks"), "3 ranks");
	assert_false(ct_arena_failed(arena));
	assert_null(ct_arena_calloc(arena, SIZE_MAX, 2));
	assert_true(ct_arena_failed(arena));
	assert_string_equal(ct_arena_text(arena, "a name", 6), "a name");
	assert_true(ct_arena_failed(arena));
	ct_arena_free(arena);
	arena = ct_arena_new();
	ct_arena_fail(arena);
	assert_true(ct_arena_failed(arena));
	ct_arena_free(arena);
}

static void hashes_are_the_published_ones(void **state)
{
	(void)state;
	/* draft-eastlake-fnv, FNV-1a of 64 bits */
	assert_true(ct_fnv_text(CT_FNV_START, "") == 0xcbf29ce484222325ull);
	assert_true(ct_fnv_text(CT_FNV_START, "a") == 0xaf63dc4c8601ec8cull);
	assert_true(ct_fnv_text(CT_FNV_START, "foobar") == 0x85944171f73967e8ull);
	assert_true(ct_fnv(CT_FNV_START, "foobarbaz", 6) == 0x85944171f73967e8ull);
}

static void neighbors_go_to_slots_far_apart(void **state)
{
	(void)state;
	for (uint64_t key = 0; key < 1000; key++) {
		const uint32_t a = ct_mix_slot(key, 8), b = ct_mix_slot(key + 1, 8);

		assert_in_range(a, 0, 255);
		assert_in_range((b - a) & 255, 158, 159); /* 256 over the golden ratio */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_grows_by_doubling_and_keeps_what_it_has),
		cmocka_unit_test(an_array_that_cannot_grow_stays_as_it_is),
		cmocka_unit_test(new_elements_are_zero_where_that_is_asked_for),
		cmocka_unit_test(want_of_memory_sticks_to_an_arena),
		cmocka_unit_test(keys_of_a_comparison_decide_in_their_order),
		cmocka_unit_test(sorting_keeps_equal_elements_as_they_came),
		cmocka_unit_test(large_elements_are_sorted_too),
		cmocka_unit_test(numbers_are_compared_as_what_they_are),
		cmocka_unit_test(binomial_tail_is_right),
		cmocka_unit_test(the_median_is_in_the_middle),
		cmocka_unit_test(the_spread_of_a_normal_sample_is_its_deviation),
		cmocka_unit_test(a_quantile_lies_between_its_neighbours),
		cmocka_unit_test(sums_stay_at_the_most),
		cmocka_unit_test(hashes_are_the_published_ones),
		cmocka_unit_test(neighbors_go_to_slots_far_apart),
		cmocka_unit_test(what_is_sorted_is_found_where_it_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
