/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over what the members of a communicator called: where they show a difference, and what they
 * leave open. What the members called is written down here number by number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/hang/sums.h"
#include "trace/status.h"

#define NONE UINT64_MAX
#define NOBODY UINT64_MAX

/* One member: numbers from..to - 1, all called alike but `other` (another operation); `lost` is not
 * on record. NOBODY: none is. */
struct member {
	uint64_t from, to, other, lost;
};

static void call(struct ct_order_blocks *sums, const struct member *m, uint64_t seq)
{
	if (seq == m->lost)
		return;
	/* the operation differs from number to number, so that exchanged ones would show */
	assert_int_equal(ct_hang_sums_add(sums, seq, seq % 3 + (seq == m->other ? 100 : 0)), CT_OK);
}

/* Numbers in the order of their records, or from the last to the first. */
static void take(struct ct_hang_order *order, struct member m, int backwards)
{
	struct ct_order_blocks sums = { 0 };

	for (uint64_t i = m.from; i < m.to; i++)
		call(&sums, &m, backwards ? m.to - 1 - (i - m.from) : i);
	assert_int_equal(ct_hang_order_take(order, &sums), CT_OK);
	assert_null(sums.blocks);
}

static struct member alike(uint64_t from, uint64_t to)
{
	return (struct member){ .from = from, .to = to, .other = NOBODY, .lost = NOBODY };
}

static struct member with_other(uint64_t to, uint64_t at)
{
	struct member m = alike(0, to);

	m.other = at;
	return m;
}

static struct member with_lost(uint64_t to, uint64_t at)
{
	struct member m = alike(0, to);

	m.lost = at;
	return m;
}

static struct ct_hang_order order_of(const struct member *members, unsigned n)
{
	struct ct_hang_order order;

	ct_hang_order_init(&order);
	for (unsigned i = 0; i < n; i++)
		take(&order, members[i], i % 2);
	assert_int_equal(order.members, n);
	return order;
}

static void members_that_call_the_same_are_equal_in_whatever_order_it_is_read(void **state)
{
	const struct member all[] = { alike(0, 100), alike(0, 100), alike(0, 100) };
	struct ct_hang_order order = order_of(all, 3);

	(void)state;
	assert_true(order.differs == NONE);
	assert_int_equal(order.since, 0);
	assert_int_equal(order.issued, 100);
	assert_int_equal(order.all.after, 100);
	ct_order_blocks_fini(&order.all);
}

static void one_other_operation_is_in_the_stretch_that_is_reported(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 100; at += 9) {
		const struct member all[] = { alike(0, 100), alike(0, 100), with_other(100, at) };
		struct ct_hang_order order = order_of(all, 3);

		assert_int_equal(order.differs, at / 8 * 8);
		assert_int_equal(order.differs_to, at / 8 * 8 + 8);
		ct_order_blocks_fini(&order.all);
	}
}

static void the_first_of_several_differences_counts(void **state)
{
	const struct member all[] = { alike(0, 100), with_other(100, 70), with_other(100, 33),
				      with_other(100, 90) };
	struct ct_hang_order order = order_of(all, 4);

	(void)state;
	assert_int_equal(order.differs, 32);
	ct_order_blocks_fini(&order.all);
}

/* The same operations, two of them the other way round, in one block: a sum of what was called
 * alone would not show it. */
static void two_that_change_their_order_show(void **state)
{
	struct ct_order_blocks one = { 0 }, other = { 0 };
	struct ct_hang_order order;

	(void)state;
	ct_hang_order_init(&order);
	for (uint64_t seq = 0; seq < 8; seq++) {
		assert_int_equal(ct_hang_sums_add(&one, seq, seq), CT_OK);
		assert_int_equal(ct_hang_sums_add(&other, seq,
						  seq == 3   ? 4
						  : seq == 4 ? 3
							     : seq),
				 CT_OK);
	}
	assert_int_equal(ct_hang_order_take(&order, &one), CT_OK);
	assert_int_equal(ct_hang_order_take(&order, &other), CT_OK);
	assert_int_equal(order.differs, 0);
	ct_order_blocks_fini(&order.all);
}

static void a_rank_that_left_off_is_no_difference(void **state)
{
	for (int first = 0; first < 2; first++) {
		const struct member all[] = { alike(0, first ? 83 : 100),
					      alike(0, first ? 100 : 83) };
		struct ct_hang_order order = order_of(all, 2);

		(void)state;
		assert_true(order.differs == NONE);
		assert_int_equal(order.issued, 83);
		assert_int_equal(order.all.after, 100);
		ct_order_blocks_fini(&order.all);
	}
}

/* A third who goes as far as the first is held against what the first called there. */
static void what_only_some_called_is_compared_among_these(void **state)
{
	const struct member all[] = { alike(0, 20), alike(0, 100), with_other(100, 64) };
	struct ct_hang_order order = order_of(all, 3);

	(void)state;
	assert_int_equal(order.differs, 64);
	assert_int_equal(order.issued, 20);
	ct_order_blocks_fini(&order.all);
}

static void a_lost_record_is_no_difference(void **state)
{
	for (uint64_t at = 0; at < 100; at += 11) {
		const struct member all[] = { alike(0, 100), with_lost(100, at) };
		struct ct_hang_order order = order_of(all, 2);

		(void)state;
		assert_true(order.differs == NONE);
		/* a first record that is lost looks like a later begin */
		assert_int_equal(order.since, at ? 0 : 1);
		ct_order_blocks_fini(&order.all);
	}
}

static void before_the_first_record_of_one_nothing_is_compared(void **state)
{
	const struct member all[] = { with_other(100, 10), alike(40, 100) };
	struct ct_hang_order order = order_of(all, 2);

	(void)state;
	assert_int_equal(order.since, 40);
	assert_true(order.differs == NONE);
	ct_order_blocks_fini(&order.all);
}

static void a_rank_that_called_nothing_proves_nothing(void **state)
{
	const struct member all[] = { alike(0, 100), alike(0, 0) };
	struct ct_hang_order order = order_of(all, 2);

	(void)state;
	assert_int_equal(order.issued, 0);
	assert_true(order.differs == NONE);
	ct_order_blocks_fini(&order.all);
}

/* Longer than the blocks reach at first: they get wider, memory does not grow, and the difference
 * is still within. */
static void long_runs_are_compared_in_the_same_memory(void **state)
{
	enum { LONG = 8 * CT_HANG_SUM_BLOCKS * 5 };
	const uint64_t at = 15001;
	const struct member all[] = { alike(0, LONG), alike(0, LONG), with_other(LONG, at),
				      alike(0, 30) };
	struct ct_hang_order order = order_of(all, 4);

	(void)state;
	assert_true(order.all.n <= CT_HANG_SUM_BLOCKS && order.all.cap <= CT_HANG_SUM_BLOCKS);
	assert_int_equal(order.all.shift, CT_HANG_SUM_SHIFT + 3);
	assert_int_equal(order.differs, at >> 6 << 6);
	assert_int_equal(order.differs_to, (at >> 6 << 6) + 64);
	assert_int_equal(order.issued, 30);
	assert_int_equal(order.all.after, LONG);
	ct_order_blocks_fini(&order.all);
}

/* Blocks begin where records do: what came before costs no precision. */
static void a_run_whose_head_is_lost_is_compared_as_closely(void **state)
{
	const uint64_t from = 1000000, to = from + 2000, at = from + 900;
	struct member all[] = { alike(from, to), alike(from + 600, to), alike(from, to),
				alike(from, to) };
	struct ct_hang_order order;

	(void)state;
	all[2].other = at;
	order = order_of(all, 4);
	assert_int_equal(order.since, from + 600);
	assert_int_equal(order.all.shift, CT_HANG_SUM_SHIFT);
	assert_int_equal(order.differs, at >> 3 << 3);
	assert_int_equal(order.differs_to, (at >> 3 << 3) + 8);
	assert_int_equal(order.all.lowest, from >> 3);
	ct_order_blocks_fini(&order.all);
}

/* Exactly as far as the blocks reach, and one further. */
static void blocks_are_merged_when_the_next_number_has_no_room(void **state)
{
	struct ct_order_blocks sums = { 0 };
	const uint64_t reach = 8ull * CT_HANG_SUM_BLOCKS;

	(void)state;
	for (uint64_t seq = 0; seq < reach; seq++)
		assert_int_equal(ct_hang_sums_add(&sums, seq, 1), CT_OK);
	assert_int_equal(sums.n, CT_HANG_SUM_BLOCKS);
	assert_int_equal(sums.shift, CT_HANG_SUM_SHIFT);
	for (uint32_t i = 0; i < sums.n; i++)
		assert_int_equal(sums.blocks[i].n, 8);
	assert_int_equal(ct_hang_sums_add(&sums, reach, 1), CT_OK);
	assert_int_equal(sums.n, CT_HANG_SUM_BLOCKS / 2 + 1);
	for (uint32_t i = 0; i + 1 < sums.n; i++)
		assert_int_equal(sums.blocks[i].n, 16);
	assert_int_equal(sums.blocks[sums.n - 1].n, 1);
	assert_int_equal(sums.after, reach + 1);
	assert_int_equal(sums.first, 0);
	ct_order_blocks_fini(&sums);
	assert_true(!sums.n && !sums.after && !sums.shift);
}

/* Numbers that no recorder gives: no endless loop, no memory. */
static void wild_numbers_cost_nothing(void **state)
{
	struct ct_order_blocks sums = { 0 };

	(void)state;
	assert_int_equal(ct_hang_sums_add(&sums, UINT64_MAX - 1, 1), CT_OK);
	assert_int_equal(ct_hang_sums_add(&sums, 5, 1), CT_OK);
	assert_true(sums.cap <= CT_HANG_SUM_BLOCKS);
	assert_int_equal(sums.first, 5);
	assert_true(sums.after == UINT64_MAX);
	ct_order_blocks_fini(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_that_call_the_same_are_equal_in_whatever_order_it_is_read),
		cmocka_unit_test(one_other_operation_is_in_the_stretch_that_is_reported),
		cmocka_unit_test(the_first_of_several_differences_counts),
		cmocka_unit_test(two_that_change_their_order_show),
		cmocka_unit_test(a_rank_that_left_off_is_no_difference),
		cmocka_unit_test(what_only_some_called_is_compared_among_these),
		cmocka_unit_test(a_lost_record_is_no_difference),
		cmocka_unit_test(before_the_first_record_of_one_nothing_is_compared),
		cmocka_unit_test(a_rank_that_called_nothing_proves_nothing),
		cmocka_unit_test(long_runs_are_compared_in_the_same_memory),
		cmocka_unit_test(a_run_whose_head_is_lost_is_compared_as_closely),
		cmocka_unit_test(blocks_are_merged_when_the_next_number_has_no_room),
		cmocka_unit_test(wild_numbers_cost_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
