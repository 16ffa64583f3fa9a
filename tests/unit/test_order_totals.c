/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of what a process called: those that the analysis makes of the same operations, whatever
 * else is in the blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/match/match.h"
#include "analyzer/order/order.h"
#include "trace/order_totals.h"
#include "trace/status.h"

static const char *const names[] = { NULL, "ncclAllReduce", "MPI_Allgatherv" };

static const char *name_of(void *unused, uint32_t id)
{
	(void)unused;
	return id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}

static struct ct_op op_of(uint32_t comm, uint64_t seq)
{
	return (struct ct_op){ .enter_ns = 1000 * seq + 1,
			       .return_ns = 1000 * seq + 2,
			       .count = 64 + seq % 5,
			       .seq = seq,
			       .comm = comm,
			       .peer = -1,
			       .call = 1,
			       .op = seq % 7 ? CT_OP_AllReduce : CT_OP_AllGather,
			       .dtype = CT_DTYPE_float32,
			       .redop = seq % 7 ? CT_REDOP_sum : 0 };
}

static void add(struct ct_order_totals *totals, const struct ct_op *op)
{
	struct ct_block block = { 0 };

	ct_block_reset(&block, CT_BLOCK_DATA);
	assert_int_equal(ct_block_add_op(&block, op), CT_OK);
	ct_order_totals_add(totals, &block, name_of, NULL);
	ct_block_fini(&block);
}

static struct ct_comm_status_rec told(const struct ct_order_totals *totals, uint32_t comm)
{
	struct ct_comm_status_rec rec = { .comm = comm };

	ct_order_totals_report(totals, &rec);
	return rec;
}

/* As the analysis has it: one block of sums that all of them are in. */
static uint64_t sum_of(uint32_t comm, uint64_t n, uint8_t varying)
{
	struct ct_order_blocks blocks = { .most = 1, .shift = 40 };
	uint64_t sum;

	for (uint64_t seq = 0; seq < n; seq++) {
		const struct ct_op op = op_of(comm, seq);
		const struct ct_member m = { .count = op.count,
					     .bytes = op.count * 4,
					     .root = op.peer,
					     .op = op.op,
					     .dtype = op.dtype,
					     .redop = op.redop,
					     .varying = varying };

		assert_int_equal(ct_order_blocks_add(&blocks, seq, ct_order_what(&m), 0), CT_OK);
	}
	sum = blocks.blocks[0].what;
	ct_order_blocks_fini(&blocks);
	return sum;
}

static void sums_are_those_of_the_analysis(void **state)
{
	struct ct_order_totals totals = { 0 };

	(void)state;
	assert_int_equal(told(&totals, 9).called, 1);
	/* from the last to the first, in turn with another communicator */
	for (uint64_t seq = 100; seq-- > 0;) {
		const struct ct_op a = op_of(9, seq), b = op_of(10, seq + 1);

		add(&totals, &a);
		add(&totals, &b);
	}
	assert_int_equal(told(&totals, 9).called, 101);
	assert_int_equal(told(&totals, 9).order_end, 100);
	assert_int_equal(told(&totals, 9).order_hash, sum_of(9, 100, 0));
	assert_int_equal(told(&totals, 10).order_end, 101);
	assert_int_not_equal(told(&totals, 10).order_hash, told(&totals, 9).order_hash);
	assert_int_equal(told(&totals, 11).called, 1);
	ct_order_totals_fini(&totals);
}

static void counts_that_may_differ_are_left_out(void **state)
{
	struct ct_order_totals totals = { 0 };

	(void)state;
	for (uint64_t seq = 0; seq < 40; seq++) {
		struct ct_op op = op_of(1, seq);

		op.call = 2;
		add(&totals, &op);
	}
	assert_int_equal(told(&totals, 1).order_hash, sum_of(1, 40, 1));
	assert_int_not_equal(sum_of(1, 40, 1), sum_of(1, 40, 0));
	ct_order_totals_fini(&totals);
}

static void what_has_no_order_is_not_counted(void **state)
{
	struct ct_order_totals totals = { 0 };
	struct ct_op op = op_of(1, 0);

	(void)state;
	op.op = CT_OP_Send;
	add(&totals, &op);
	op.op = CT_OP_Put;
	add(&totals, &op);
	op = op_of(1, 0);
	op.flags = CT_OP_CAPTURED;
	add(&totals, &op);
	op = op_of(0, 0);
	add(&totals, &op);
	assert_int_equal(told(&totals, 1).called, 1);
	assert_int_equal(totals.n, 0);
	ct_order_totals_fini(&totals);
}

#define COMMS 3000u

/* Communicators that come and go, many of them at once. */
static void what_has_ended_leaves_room_and_no_trace(void **state)
{
	struct ct_order_totals totals = { 0 };

	(void)state;
	for (uint32_t comm = 1; comm <= COMMS; comm++) {
		struct ct_op op = op_of(comm, 0);

		add(&totals, &op);
		add(&totals, &op);
	}
	for (uint32_t comm = 1; comm <= COMMS; comm += 3)
		ct_order_totals_drop(&totals, comm);
	ct_order_totals_drop(&totals, COMMS + 1);
	for (uint32_t comm = 1; comm <= COMMS; comm++)
		assert_int_equal(told(&totals, comm).called, comm % 3 == 1 ? 1 : 3);
	assert_int_equal(totals.n, COMMS - COMMS / 3);
	for (uint32_t comm = 1; comm <= COMMS; comm += 3) {
		struct ct_op op = op_of(comm, 0);

		add(&totals, &op);
		assert_int_equal(told(&totals, comm).called, 2);
		assert_int_equal(told(&totals, comm).order_hash, sum_of(comm, 1, 0));
	}
	ct_order_totals_fini(&totals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_the_analysis),
		cmocka_unit_test(counts_that_may_differ_are_left_out),
		cmocka_unit_test(what_has_no_order_is_not_counted),
		cmocka_unit_test(what_has_ended_leaves_room_and_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
