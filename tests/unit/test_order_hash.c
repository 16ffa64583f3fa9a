/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of what members called: equal calls are seen to be equal however long the run is and in
 * whatever order its records are read, and a difference lies in the block that is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/base/table.h"
#include "analyzer/order/order_hash.h"
#include "trace/status.h"

static struct ct_order_hash hash;

static void add(uint32_t member, uint64_t seq, uint64_t what)
{
	assert_int_equal(ct_order_hash_add(&hash, 4, member, seq, what, 0), CT_OK);
}

static struct ct_order_sums sums(void)
{
	struct ct_order_sums s;

	ct_order_hash_compare(&hash, &s);
	ct_order_hash_fini(&hash);
	return s;
}

static uint64_t call_at(uint64_t seq)
{
	return ct_mix(seq % 7);
}

static void equal_calls_are_equal_to_the_end(void **state)
{
	struct ct_order_sums s;

	(void)state;
	for (uint64_t seq = 5; seq < 100005; seq++)
		for (uint32_t m = 0; m < 4; m++)
			add(m, seq, call_at(seq));
	s = sums();
	assert_int_equal(s.equal_after, 100005);
	assert_true(s.is_equal_throughout);
	assert_int_equal(s.differ_to, 0);
}

static void order_of_reading_does_not_matter(void **state)
{
	const uint64_t n = 3000, base = 1ull << 40;
	struct ct_order_sums a, b;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		for (uint32_t m = 0; m < 4; m++)
			add(m, base + i, call_at(i));
	a = sums();
	/* one member after the other, each from another index on, some of them backwards */
	for (uint32_t m = 0; m < 4; m++)
		for (uint64_t i = 0; i < n; i++) {
			uint64_t at = m & 1 ? n - 1 - i : (i + 777 * m) % n;

			add(m, base + at, call_at(at));
		}
	b = sums();
	assert_true(a.is_equal_throughout && b.is_equal_throughout);
	assert_true(a.digest == b.digest);
	assert_int_equal(b.equal_after, base + n);
}

static void swapped_calls_are_a_difference(void **state)
{
	struct ct_order_sums s;

	(void)state;
	for (uint64_t seq = 0; seq < 10000; seq++)
		for (uint32_t m = 0; m < 4; m++) {
			uint64_t of = m == 2 && (seq == 7000 || seq == 7001) ? 14001 - seq : seq;

			add(m, seq, call_at(of));
		}
	s = sums();
	assert_false(s.is_equal_throughout);
	assert_true(s.differ_from <= 7000 && s.differ_to > 7001);
	assert_true(s.differ_to - s.differ_from <= 1024);
	assert_int_equal(s.equal_after, s.differ_from);
}

static void missing_calls_say_nothing(void **state)
{
	struct ct_order_sums s;

	(void)state;
	for (uint64_t seq = 0; seq < 1000; seq++)
		for (uint32_t m = 0; m < 4; m++)
			if (m != 3 || (seq >= 100 && seq < 900))
				add(m, seq, call_at(seq));
	s = sums();
	assert_int_equal(s.differ_to, 0);
	assert_false(s.is_equal_throughout);
	/* blocks that all have, of 64 numbers */
	assert_int_equal(s.equal_after, 896);
}

static void what_is_vague_is_no_difference(void **state)
{
	struct ct_order_sums s;

	(void)state;
	for (uint64_t seq = 0; seq < 64; seq++)
		for (uint32_t m = 0; m < 4; m++)
			assert_int_equal(ct_order_hash_add(&hash, 4, m, seq,
							   seq == 20 && m ? 8 : call_at(seq),
							   seq == 20 && m),
					 CT_OK);
	s = sums();
	assert_int_equal(s.differ_to, 0);
	assert_false(s.is_equal_throughout);
	assert_int_equal(s.equal_after, 64);
}

static void hostile_numbers_end(void **state)
{
	struct ct_order_sums s;

	(void)state;
	for (uint32_t m = 0; m < 4; m++) {
		add(m, 0, 1);
		add(m, UINT64_MAX, 1);
		add(m, 1ull << 63, 1);
		add(m, UINT64_MAX, 2);
	}
	s = sums();
	assert_true(s.is_equal_throughout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_calls_are_equal_to_the_end),
		cmocka_unit_test(order_of_reading_does_not_matter),
		cmocka_unit_test(swapped_calls_are_a_difference),
		cmocka_unit_test(missing_calls_say_nothing),
		cmocka_unit_test(what_is_vague_is_no_difference),
		cmocka_unit_test(hostile_numbers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
