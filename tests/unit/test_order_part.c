/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that contradict each other in a reading that begins in the middle of a run: a finding only
 * where no earlier call more or less explains them. Three members call what `usual` says, one what
 * `odd` says; a letter is a size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/findings/order_findings.h"
#include "trace/ops.h"
#include "trace/status.h"

#define MEMBERS 4u
#define FIRST 1000u /* number of the first call that is read */

static void call_all(struct ct_order_book *book, struct ct_comm *comm, uint64_t seq, char usual,
		     char odd)
{
	struct ct_member members[MEMBERS];
	struct ct_instance i = { .comm = comm, .seq = seq, .src = -1, .n = MEMBERS };
	struct ct_order *order = ct_orders_get(&book->orders, comm);
	const struct ct_member *most;

	i.n_expected = MEMBERS;
	i.members = members;
	for (uint32_t m = 0; m < MEMBERS; m++) {
		uint64_t count = (uint64_t)(m == 2 ? odd : usual);

		members[m] = (struct ct_member){
			.op = CT_OP_AllReduce,
			.dtype = CT_DTYPE_float32,
			.redop = CT_REDOP_sum,
			.root = -1,
			.count = count,
			.bytes = 4 * count,
			.index = m,
			.slot = m,
		};
	}
	assert_true(ct_order_note(order, &i) >= 0);
	if (ct_mismatch_check(&book->mismatches, &i, &most) != 1)
		return;
	ct_order_trouble(order, seq);
	assert_int_equal(ct_order_note(order, &i), 0);
}

/* How many findings there are. */
static size_t found(const char *usual, const char *odd)
{
	static const struct ct_run run;
	const struct ct_model model = { .run = &run };
	uint32_t slots[MEMBERS] = { 0 };
	uint64_t reached[MEMBERS] = { 0 };
	struct ct_comm comm = { .nranks = MEMBERS,
				.slots = slots,
				.reached = reached,
				.n_known = MEMBERS,
				.first_seq = FIRST,
				.first_difference = UINT64_MAX,
				.equal_to_seq = UINT64_MAX };
	struct ct_arena *memory = ct_arena_new();
	struct ct_findings list = { .memory = memory };
	struct ct_order_book book = { 0 };
	size_t n = strlen(usual);

	ct_mismatches_init(&book.mismatches, memory);
	ct_orders_init(&book.orders, 0);
	comm.last_seq = FIRST + n - 1;
	assert_int_equal(strlen(odd), n);
	for (size_t at = 0; at < n; at++)
		call_all(&book, &comm, FIRST + at, usual[at], odd[at]);
	assert_int_equal(ct_order_contradictions(&model, &book, &list), CT_OK);
	n = list.n;
	for (size_t f = 0; f < n; f++)
		assert_int_equal(list.all[f].kind, CT_FINDING_MISMATCH);
	ct_findings_fini(&list);
	ct_orders_fini(&book.orders);
	ct_mismatches_fini(&book.mismatches);
	ct_arena_free(memory);
	return n;
}

#define A16 "aaaaaaaaaaaaaaaa"
#define B16 "bbbbbbbbbbbbbbbb"

static void one_call_that_no_one_makes_beside_is_a_finding(void **state)
{
	(void)state;
	assert_int_equal(found(A16 "a" A16, A16 "x" A16), 1);
	assert_int_equal(found(A16 "b" A16, A16 "a" A16), 1);
	assert_int_equal(found("abcdabcdabcdabcdabcdabcdabcdabcdabcd",
			       "abcdabcdabcdabcdaxcdabcdabcdabcdabcd"),
			 1);
}

static void a_shift_is_none_though_most_calls_agree(void **state)
{
	(void)state;
	assert_int_equal(found(A16 "g" A16 A16 "g" A16, A16 "ag"
							    "aaaaaaaaaaaaaaa" A16 "ag"
							    "aaaaaaaaaaaaaaa"),
			 0);
	/* by more than is looked at beside it */
	assert_int_equal(found(A16 "g" A16 "a" A16, A16 "a" A16 "g" A16), 0);
	/* one contradiction, where other calls begin */
	assert_int_equal(found(A16 "b" B16, A16 "a" B16), 0);
	assert_int_equal(found(A16 "a" B16, A16 "b" B16), 0);
}

static void what_is_not_read_beside_may_explain_it(void **state)
{
	(void)state;
	assert_int_equal(found("a" A16, "x" A16), 0);
	assert_int_equal(found(A16 "aaa", A16 "xaa"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_call_that_no_one_makes_beside_is_a_finding),
		cmocka_unit_test(a_shift_is_none_though_most_calls_agree),
		cmocka_unit_test(what_is_not_read_beside_may_explain_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
