/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a report are found by what they are, whatever order they stand in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/base/arena.h"
#include "analyzer/model/report_rows.h"

#define COMMS 997u /* prime: a step through them meets each once */

static struct ct_report report;
static struct ct_report_comm comms[2 * COMMS];
static struct ct_report_op ops[3 * COMMS];

/* Each key with two sizes; each class of operations once alone and twice in groups. */
static int setup(void **state)
{
	(void)state;
	memset(&report, 0, sizeof(report));
	report.memory = ct_arena_new();
	report.comms = comms;
	report.ops = ops;
	for (uint32_t i = 0; i < COMMS; i++) {
		uint32_t at = i * 389 % COMMS;

		comms[at] = (struct ct_report_comm){ .hash = i / 2, .nranks = 2 + i % 2 };
		comms[COMMS + at] = (struct ct_report_comm){ .hash = UINT64_MAX - i, .nranks = 2 };
		ops[at] = (struct ct_report_op){ .comm_hash = i / 8,
						 .op = 1 + i % 2,
						 .dtype = i / 2 % 2,
						 .size_range = i / 4 % 2 };
		ops[COMMS + at] = ops[2 * COMMS + at] = ops[at];
		ops[COMMS + at].group = "collectives";
		ops[2 * COMMS + at].size_range += 2;
	}
	report.n_comms = 2 * COMMS;
	report.n_ops = 3 * COMMS;
	return report.memory ? ct_report_rows_index(&report) : -1;
}

static int teardown(void **state)
{
	(void)state;
	ct_arena_free(report.memory);
	return 0;
}

static void each_communicator_is_found_by_key_and_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < report.n_comms; i++)
		assert_ptr_equal(ct_report_row_of_comm(&report, comms[i].hash, comms[i].nranks),
				 &comms[i]);
	assert_null(ct_report_row_of_comm(&report, 5, 4));
	assert_null(ct_report_row_of_comm(&report, COMMS, 2));
}

static void each_class_is_found_and_no_group(void **state)
{
	size_t n;

	(void)state;
	for (size_t i = 0; i < report.n_ops; i++) {
		const struct ct_report_op *op = &ops[i];
		struct ct_report_op **rows = ct_report_rows_of_op(&report, op->comm_hash, op->op,
								  op->dtype, op->size_range, &n);

		assert_int_equal(n, 1);
		assert_null(rows[0]->group);
		assert_true(op->group || rows[0] == op);
	}
	assert_null(ct_report_rows_of_op(&report, 3, 1, 0, 7, &n));
	assert_int_equal(n, 0);
}

static void what_is_there_twice_is_found_twice(void **state)
{
	size_t n;
	struct ct_report_op **rows;

	(void)state;
	ops[1] = ops[2];
	assert_int_equal(ct_report_rows_index(&report), 0);
	rows = ct_report_rows_of_op(&report, ops[1].comm_hash, ops[1].op, ops[1].dtype,
				    ops[1].size_range, &n);
	assert_int_equal(n, 2);
	assert_true(rows[0] != rows[1]);
	assert_true(rows[0] == &ops[1] || rows[1] == &ops[1]);
}

static void without_rows_nothing_is_found(void **state)
{
	const struct ct_report none = { 0 };
	size_t n;

	(void)state;
	assert_null(ct_report_row_of_comm(&none, 1, 1));
	assert_null(ct_report_rows_of_op(&none, 1, 1, 1, 1, &n));
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_communicator_is_found_by_key_and_size, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_class_is_found_and_no_group, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_there_twice_is_found_twice, setup,
						teardown),
		cmocka_unit_test(without_rows_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
