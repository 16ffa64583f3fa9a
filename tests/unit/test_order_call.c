/* SPDX-License-Identifier: Apache-2.0 */
/* What two members contradict each other in, and what most of several called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/order/order_call.h"
#include "trace/ops.h"

static const struct ct_order_call allreduce = { .count = 8,
						.bytes = 32,
						.root = -1,
						.op = CT_OP_AllReduce,
						.dtype = CT_DTYPE_float32,
						.redop = CT_REDOP_sum };

static void a_field_that_is_not_known_contradicts_nothing(void **state)
{
	struct ct_order_call other = allreduce;

	(void)state;
	other.op = CT_OP_Broadcast;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_OP);
	other.op = 0;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_NONE);
	assert_int_equal(ct_order_differ(&other, &allreduce), CT_MISMATCH_NONE);
	other.op = CT_OP_GraphLaunch;
	assert_int_equal(ct_order_differ(&other, &allreduce), CT_MISMATCH_NONE);
	other = allreduce;
	other.redop = CT_REDOP_max;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_REDOP);
	other.redop = 0;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_NONE);
}

static void as_many_elements_of_another_size_differ_in_type(void **state)
{
	struct ct_order_call other = allreduce;

	(void)state;
	other.dtype = CT_DTYPE_float64;
	other.bytes = 64;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_DTYPE);
	other.count = 16;
	other.bytes = 128;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_BYTES);
	other.varying = 1;
	assert_int_equal(ct_order_differ(&allreduce, &other), CT_MISMATCH_DTYPE);
}

static int is_same_letter(const void *letters, uint32_t a, uint32_t b)
{
	return ((const char *)letters)[a] == ((const char *)letters)[b];
}

static void the_majority_is_found_wherever_it_is(void **state)
{
	static const char *const with_majority[] = {
		"a", "aab", "baa", "abbbab", "bbaaa", "cababbb"
	};
	static const uint32_t agree[] = { 1, 2, 2, 4, 3, 4 };
	uint32_t n;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const char *w = with_majority[i];
		uint32_t len = 0, counted = 0, at;

		while (w[len])
			len++;
		at = ct_order_vote(len, is_same_letter, w, &n);
		for (uint32_t k = 0; k < len; k++)
			counted += w[k] == w[at];
		assert_int_equal(n, agree[i]);
		assert_int_equal(n, counted);
	}
	ct_order_vote(4, is_same_letter, "abab", &n);
	assert_int_equal(n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_that_is_not_known_contradicts_nothing),
		cmocka_unit_test(as_many_elements_of_another_size_differ_in_type),
		cmocka_unit_test(the_majority_is_found_wherever_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
