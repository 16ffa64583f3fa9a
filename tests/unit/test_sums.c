/* SPDX-License-Identifier: Apache-2.0 */
/* What the sums are made of: tables, chains, histograms, unions of intervals, and how figures and
 * names are spelt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/chains.h"
#include "analyzer/base/hist.h"
#include "analyzer/base/interval_cover.h"
#include "analyzer/base/interval_union.h"
#include "analyzer/base/table.h"
#include "analyzer/base/units.h"
#include "trace/status.h"

static uint64_t rng = 88172645463325252ull;

static uint64_t next_random(void)
{
	rng += 0x9e3779b97f4a7c15ull;
	return ct_mix(rng);
}

/* ---- table ---- */

/* Keys are `apart` from one another. */
static void try_table(uint64_t apart)
{
	enum { KEYS = 500 };
	struct ct_table table = { 0 };
	char values[KEYS] = { 0 };
	int there[KEYS] = { 0 };

	for (int step = 0; step < 100000; step++) {
		uint64_t key = next_random() % KEYS;

		if (next_random() % 2) {
			assert_int_equal(ct_table_put(&table, key * apart, &values[key]), CT_OK);
			there[key] = 1;
		} else {
			void *was = ct_table_remove(&table, key * apart);

			assert_ptr_equal(was, there[key] ? &values[key] : NULL);
			there[key] = 0;
		}
		key = next_random() % KEYS;
		assert_ptr_equal(ct_table_get(&table, key * apart),
				 there[key] ? &values[key] : NULL);
	}
	ct_table_fini(&table);
}

static void table_finds_what_was_put_and_forgets_what_was_removed(void **state)
{
	(void)state;
	try_table(64);
	try_table(1);
}

static void keys_get_numbers_as_they_are_met(void **state)
{
	static const struct {
		uint64_t key;
		uint32_t number;
	} met[] = { { 700, 0 }, { 0, 1 }, { 700, 0 }, { UINT64_MAX, 2 }, { 0, 1 } };
	struct ct_table table = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(met) / sizeof(met[0]); i++) {
		uint32_t number;

		assert_int_equal(ct_table_number(&table, met[i].key, &number), CT_OK);
		assert_int_equal(number, met[i].number);
	}
	assert_int_equal(table.n, 3);
	ct_table_fini(&table);
}

/* ---- chains ---- */

struct chained {
	struct ct_link link;
	int is_in;
};

/* How many are found by a key. */
static int found(const struct ct_chains *chains, uint64_t key)
{
	int n = 0;

	for (struct ct_link *link = ct_chains_get(chains, key); link;
	     link = ct_chains_same(link->next, key)) {
		assert_int_equal(link->key, key);
		assert_true(((struct chained *)link)->is_in);
		n++;
	}
	return n;
}

/* Keys are `apart` from one another; each may be there three times. */
static void try_chains(uint64_t apart)
{
	enum { KEYS = 300, OF_EACH = 3 };
	static struct chained all[KEYS][OF_EACH];
	struct ct_chains chains = { 0 };
	size_t n = 0;

	memset(all, 0, sizeof(all));
	for (int step = 0; step < 50000; step++) {
		uint64_t key = next_random() % KEYS;
		struct chained *one = &all[key][next_random() % OF_EACH];
		int in = 0;

		if (one->is_in)
			ct_chains_take(&chains, &one->link);
		else
			assert_int_equal(ct_chains_put(&chains, key * apart, &one->link), CT_OK);
		n += one->is_in ? -1 : 1;
		one->is_in ^= 1;
		key = next_random() % KEYS;
		for (int k = 0; k < OF_EACH; k++)
			in += all[key][k].is_in;
		assert_int_equal(found(&chains, key * apart), in);
		assert_int_equal(chains.n, n);
	}
	ct_chains_fini(&chains);
}

static void chains_find_all_that_have_a_key_and_forget_what_was_taken(void **state)
{
	(void)state;
	try_chains(1);
	try_chains(1 << 20);
	try_chains(0x9e3779b97f4a7c15ull);
}

/* ---- histogram ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void percentile_is_within_a_64th_of_the_true_one(void **state)
{
	enum { N = 5000 };
	static uint64_t values[N];
	static const double quantiles[] = { 0.01, 0.5, 0.9, 0.99, 1 };
	struct ct_hist hist = { 0 };

	(void)state;
	for (int i = 0; i < N; i++) {
		values[i] = next_random() >> (next_random() % 60);
		assert_int_equal(ct_hist_add(&hist, values[i]), CT_OK);
	}
	qsort(values, N, sizeof(values[0]), by_value);
	for (size_t q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]); q++) {
		uint64_t truth = values[(size_t)(quantiles[q] * N + 0.999999) - 1];
		uint64_t waits_known = ct_hist_quantile(&hist, quantiles[q]);

		assert_true(waits_known <= truth ? truth - waits_known <= truth / 64
						 : waits_known - truth <= truth / 64);
	}
	ct_hist_fini(&hist);
	assert_true(ct_hist_quantile(&hist, 0.5) == UINT64_MAX);
}

static void merged_histograms_have_the_percentiles_of_both(void **state)
{
	struct ct_hist a = { 0 }, b = { 0 }, both = { 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint64_t value = next_random() >> (next_random() % 60);

		ct_hist_add(i % 3 ? &a : &b, value);
		ct_hist_add(&both, value);
	}
	assert_int_equal(ct_hist_merge_scaled(&a, &b, 1), CT_OK);
	for (double q = 0.01; q < 1; q += 0.07)
		assert_true(ct_hist_quantile(&a, q) == ct_hist_quantile(&both, q));
	assert_true(a.n == both.n);
	ct_hist_fini(&a);
	ct_hist_fini(&b);
	ct_hist_fini(&both);
}

/* ---- union of intervals ---- */

static void union_counts_each_moment_once(void **state)
{
	struct ct_cover cover = { 0 };

	(void)state;
	assert_int_equal(ct_cover_add(&cover, 100, 200), 100);
	assert_int_equal(ct_cover_add(&cover, 150, 250), 50);
	assert_int_equal(ct_cover_add(&cover, 120, 130), 0);
	assert_int_equal(ct_cover_add(&cover, 400, 500), 100);
	assert_int_equal(ct_cover_add(&cover, 240, 410), 150);
	assert_int_equal(ct_cover_add(&cover, 50, 60), 10);
	assert_int_equal(ct_cover_add(&cover, 60, 50), 0);
	assert_int_equal(cover.total, 410);
}

static void union_of_disordered_intervals_is_exact_while_disorder_is_small(void **state)
{
	enum { LENGTH = 40000 };
	static uint8_t covered[LENGTH];
	struct ct_cover cover = { 0 };
	uint64_t truth = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		/* Goes forward, with jumps back over a few others. */
		uint64_t begin = (uint64_t)(i * 18) + next_random() % 120;
		uint64_t end = begin + next_random() % 30;

		ct_cover_add(&cover, begin, end);
		memset(covered + begin, 1, end - begin);
	}
	for (int i = 0; i < LENGTH; i++)
		truth += covered[i];
	assert_int_equal(cover.total, truth);
}

static void union_never_counts_too_much_in_any_order(void **state)
{
	enum { LENGTH = 100000 };
	static uint8_t covered[LENGTH + 100];
	struct ct_cover cover = { 0 };
	uint64_t truth = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		uint64_t begin = next_random() % LENGTH, end = begin + next_random() % 100;

		ct_cover_add(&cover, begin, end);
		memset(covered + begin, 1, end - begin);
	}
	for (int i = 0; i < LENGTH + 100; i++)
		truth += covered[i];
	assert_true(cover.total <= truth);
}

/* A file is read by blocks, so what it shows lies thousands of operations before or behind the
 * rest. */
static void union_is_exact_though_blocks_come_out_of_order(void **state)
{
	enum { MOMENTS = 200000, BLOCK = 10000 };
	struct ct_union u = { 0 };
	uint8_t *covered = calloc(MOMENTS + 100, 1);
	uint64_t total = 0;

	(void)state;
	assert_non_null(covered);
	for (int at = 0; at < MOMENTS; at += BLOCK) {
		for (int turn = 0; turn < 3; turn++) {
			for (int k = 0; k < BLOCK; k += 5) {
				uint64_t begin = (uint64_t)(at + k) + next_random() % 5;
				uint64_t end = begin + next_random() % 9;

				assert_int_equal(ct_union_add(&u, begin, end), CT_OK);
				for (uint64_t i = begin; i < end; i++) {
					total += !covered[i];
					covered[i] = 1;
				}
			}
		}
		assert_int_equal(u.total, total);
	}
	assert_true(u.cap <= CT_UNION_OPEN);
	free(covered);
	ct_union_fini(&u);
}

static void union_that_is_full_forgets_the_oldest(void **state)
{
	struct ct_union u = { 0 };

	(void)state;
	for (uint64_t k = 1; k <= CT_UNION_OPEN + 1; k++)
		assert_int_equal(ct_union_add(&u, 10 * k, 10 * k + 4), CT_OK);
	assert_int_equal(u.total, 4 * (CT_UNION_OPEN + 1));
	assert_int_equal(u.floor, 10 * (CT_UNION_OPEN / 4) + 4);
	/* covered or not: no longer known */
	assert_int_equal(ct_union_add(&u, 5, 8), CT_OK);
	assert_int_equal(u.total, 4 * (CT_UNION_OPEN + 1));
	assert_int_equal(ct_union_add(&u, 10 * CT_UNION_OPEN, 10 * CT_UNION_OPEN + 6), CT_OK);
	assert_int_equal(u.total, 4 * (CT_UNION_OPEN + 1) + 2);
	ct_union_fini(&u);
}

/* ---- texts ---- */

static void foreign_bytes_become_printable(void **state)
{
	static const struct {
		const char *from, *to;
	} texts[] = {
		{ "plain", "plain" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "a\033[31mb\nc\x7f", "a?[31mb?c?" },
		{ "\xff\xc3(\xe2\x82", "?"
				       "?(?"
				       "?" },
		{ "\xc0\xaf\xed\xa0\x80", "?????" },		/* overlong, surrogate */
		{ "x\xe2\x80\xa8y\xe2\x80\xaez", "x???y???z" }, /* line separator, right-to-left */
		{ "\xf0\x9f\x98\x80\xf4\x90\x80\x80", "\xf0\x9f\x98\x80????" },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ct_text_clean(out, sizeof(out), texts[i].from, strlen(texts[i].from));
		assert_string_equal(out, texts[i].to);
	}
	/* Cut at a whole character. */
	ct_text_clean(out, 4, "ab\xc3\xbc", 4);
	assert_string_equal(out, "ab");
}

/* A shell reads them so in tests/cli/paths.sh. */
static void paths_are_quoted_for_a_shell(void **state)
{
	static const struct {
		const char *path, *quoted;
	} paths[] = {
		{ "/tmp/run-1.x", "/tmp/run-1.x" },
		{ "", "''" },
		{ "my run", "'my run'" },
		{ "it's", "'it'\\''s'" },
		{ "$(id);*~", "'$(id);*~'" },
		{ "-rf", "./-rf" },
		{ "- f", "'./- f'" },
		{ "l\xc3\xa4ufe", "l\xc3\xa4ufe" },
		{ "\033[31m'\\", "$'\\033[31m\\047\\134'" },
		{ "\xff", "$'\\377'" },
		{ "\xc2\x9b", "$'\\302\\233'" },
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(ct_text_quote(out, sizeof(out), paths[i].path),
				 strlen(paths[i].quoted));
		assert_string_equal(out, paths[i].quoted);
		/* all or nothing */
		assert_int_equal(ct_text_quote(out, strlen(paths[i].quoted), paths[i].path), 0);
		assert_string_equal(out, "");
	}
}

static void figures_have_three_digits_and_a_unit(void **state)
{
	(void)state;
	assert_string_equal(ct_text_ns(0).s, "0ns");
	assert_string_equal(ct_text_ns(999).s, "999ns");
	assert_string_equal(ct_text_ns(1000).s, "1.00us");
	assert_string_equal(ct_text_ns(9996000).s, "10.0ms");
	assert_string_equal(ct_text_ns(410400).s, "410us");
	assert_string_equal(ct_text_ns(999600).s, "1.00ms");
	assert_string_equal(ct_text_ns(38240000000).s, "38.2s");
	assert_string_equal(ct_text_ns(86400000000000).s, "86400s");
	assert_string_equal(ct_text_ns(UINT64_MAX).s, "n/a");
	assert_string_equal(ct_text_bytes(4194304).s, "4MiB");
	assert_string_equal(ct_prose_bytes(0).s, "0 B");
	assert_string_equal(ct_prose_bytes(512).s, "512 B");
	assert_string_equal(ct_prose_bytes(65536).s, "64 KiB");
	assert_string_equal(ct_prose_bytes(1500000).s, "1.43 MiB");
	assert_string_equal(ct_prose_bytes(UINT64_C(1) << 63).s, "8 EiB");
	assert_string_equal(ct_prose_bytes(UINT64_MAX).s, "n/a");
	assert_string_equal(ct_text_Bps(1230000000).s, "1.23GB/s");
	assert_string_equal(ct_text_count(99999).s, "99999");
	assert_string_equal(ct_text_count(1234567).s, "1.23M");
	assert_string_equal(ct_text_pct(6.123).s, "6.12%");
	assert_string_equal(ct_text_pct(0.001).s, "<0.01%");
	assert_string_equal(ct_text_pct(100).s, "100.0%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_finds_what_was_put_and_forgets_what_was_removed),
		cmocka_unit_test(keys_get_numbers_as_they_are_met),
		cmocka_unit_test(chains_find_all_that_have_a_key_and_forget_what_was_taken),
		cmocka_unit_test(percentile_is_within_a_64th_of_the_true_one),
		cmocka_unit_test(merged_histograms_have_the_percentiles_of_both),
		cmocka_unit_test(union_counts_each_moment_once),
		cmocka_unit_test(union_of_disordered_intervals_is_exact_while_disorder_is_small),
		cmocka_unit_test(union_never_counts_too_much_in_any_order),
		cmocka_unit_test(union_is_exact_though_blocks_come_out_of_order),
		cmocka_unit_test(union_that_is_full_forgets_the_oldest),
		cmocka_unit_test(foreign_bytes_become_printable),
		cmocka_unit_test(paths_are_quoted_for_a_shell),
		cmocka_unit_test(figures_have_three_digits_and_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
