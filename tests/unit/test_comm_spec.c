/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/model/comm_spec.h"

#define KEY 0xc0ffee0123456789u

static void a_name_or_the_first_digits_name_it(void **state)
{
	(void)state;
	assert_true(ct_comm_spec_fits("dp", "dp", KEY));
	assert_true(ct_comm_spec_fits("c0ffee0123456789", "dp", KEY));
	assert_true(ct_comm_spec_fits("c0ffee01", NULL, KEY));
	assert_true(ct_comm_spec_fits("C0FF", NULL, KEY));
	assert_false(ct_comm_spec_fits("c0f", NULL, KEY));
	assert_false(ct_comm_spec_fits("c0ffee02", "dp", KEY));
	assert_false(ct_comm_spec_fits("d", "dp", KEY));
	assert_false(ct_comm_spec_fits("", "dp", KEY));
	/* A key of 0 is none. */
	assert_false(ct_comm_spec_fits("0000", NULL, 0));
}

static void what_tables_print_of_a_hash_names_one_communicator(void **state)
{
	(void)state;
	assert_string_equal(ct_comm_digits(KEY).s, "c0ffee01");
	assert_string_equal(ct_comm_digits(0x100000000u).s, "00000001");
	/* numbers of an import */
	assert_string_equal(ct_comm_digits(0x1000002).s, "1000002");
	assert_string_equal(ct_comm_digits(3).s, "0003");
	assert_true(ct_comm_spec_fits("1000002", NULL, 0x1000002));
	assert_true(ct_comm_spec_fits("0003", NULL, 3));
	assert_true(ct_comm_spec_fits("0000000000000003", NULL, 3));
	assert_false(ct_comm_spec_fits("1000002", NULL, 0x1000003));
	assert_false(ct_comm_spec_fits("0003", NULL, 0x30003));
	assert_false(ct_comm_spec_fits("3", NULL, 3));
}

static void so_does_what_tables_print_of_a_name(void **state)
{
	(void)state;
	assert_true(ct_comm_spec_fits("WORLD", "MPI_COMM_WORLD", KEY));
	assert_true(ct_comm_spec_fits("MPI_COMM_WORLD", "MPI_COMM_WORLD", KEY));
	assert_true(ct_comm_spec_fits("ten..oup", "tensor_parallel_group", KEY));
	assert_false(ct_comm_spec_fits("ten..xup", "tensor_parallel_group", KEY));
	assert_false(ct_comm_spec_fits("..", "tensor_parallel_group", KEY));
	assert_false(ct_comm_spec_fits("tensor..sor_", "tensor_", KEY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_or_the_first_digits_name_it),
		cmocka_unit_test(what_tables_print_of_a_hash_names_one_communicator),
		cmocka_unit_test(so_does_what_tables_print_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
