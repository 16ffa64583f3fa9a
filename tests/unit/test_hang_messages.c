/* SPDX-License-Identifier: Apache-2.0 */
/* When do the two ends of a message contradict each other? As the libraries' own pages demand it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/hang/match.h"
#include "trace/ops.h"

static enum ct_hang_code between(unsigned backend, uint64_t sent, unsigned sent_type, uint64_t room,
				 unsigned room_type)
{
	const struct ct_hang_op send = { .op = CT_OP_Send,
					 .count = sent,
					 .dtype = (uint8_t)sent_type,
					 .bytes = sent * ct_dtype_bytes(sent_type) };
	const struct ct_hang_op recv = { .op = CT_OP_Recv,
					 .count = room,
					 .dtype = (uint8_t)room_type,
					 .bytes = room * ct_dtype_bytes(room_type) };

	return ct_hang_message_between(backend, &send, &recv);
}

#define F32 CT_DTYPE_float32
#define F16 CT_DTYPE_float16
#define I32 CT_DTYPE_int32
#define I8 CT_DTYPE_int8
#define NOTHING CT_HANG_CODES

static void nccl_demands_the_same_count_and_type(void **state)
{
	const unsigned nccl = CT_BACKEND_NCCL;

	(void)state;
	assert_int_equal(between(nccl, 8, F32, 8, F32), NOTHING);
	assert_int_equal(between(nccl, 8, F32, 9, F32), CT_HANG_IS_MISMATCH_COUNT);
	assert_int_equal(between(nccl, 9, F32, 8, F32), CT_HANG_IS_MISMATCH_COUNT);
	assert_int_equal(between(nccl, 8, F32, 8, F16), CT_HANG_IS_MISMATCH_DTYPE);
	assert_int_equal(between(nccl, 8, F32, 8, I32), CT_HANG_IS_MISMATCH_DTYPE);
	assert_int_equal(between(nccl, 8, F32, 32, I8), CT_HANG_IS_MISMATCH_DTYPE);
}

static void mpi_lets_a_receive_have_more_room_and_describe_it_otherwise(void **state)
{
	const unsigned mpi = CT_BACKEND_MPI;

	(void)state;
	assert_int_equal(between(mpi, 8, F32, 8, F32), NOTHING);
	assert_int_equal(between(mpi, 8, F32, 1000, F32), NOTHING);
	assert_int_equal(between(mpi, 8, F32, 32, I8), NOTHING);
	assert_int_equal(between(mpi, 8, F32, 8, I32), NOTHING);
	assert_int_equal(between(mpi, 8, F32, 7, F32), CT_HANG_IS_MISMATCH_COUNT);
	assert_int_equal(between(mpi, 8, F32, 8, F16), CT_HANG_IS_MISMATCH_DTYPE);
}

static void gloo_demands_the_same_size(void **state)
{
	const unsigned gloo = CT_BACKEND_GLOO;

	(void)state;
	assert_int_equal(between(gloo, 8, I8, 8, I8), NOTHING);
	assert_int_equal(between(gloo, 8, I8, 2, I32), NOTHING);
	assert_int_equal(between(gloo, 8, I8, 9, I8), CT_HANG_IS_MISMATCH_COUNT);
	assert_int_equal(between(gloo, 9, I8, 8, I8), CT_HANG_IS_MISMATCH_COUNT);
}

static void what_is_not_known_is_no_contradiction(void **state)
{
	(void)state;
	assert_int_equal(between(CT_BACKEND_NCCL, 0, F32, 8, F32), NOTHING);
	assert_int_equal(between(CT_BACKEND_NCCL, 8, F32, 0, F32), NOTHING);
	assert_int_equal(between(CT_BACKEND_NCCL, 8, CT_DTYPE_elem1, 8, I8), NOTHING);
	assert_int_equal(between(CT_BACKEND_NCCL, 8, F32, 8, 0), CT_HANG_IS_MISMATCH_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nccl_demands_the_same_count_and_type),
		cmocka_unit_test(mpi_lets_a_receive_have_more_room_and_describe_it_otherwise),
		cmocka_unit_test(gloo_demands_the_same_size),
		cmocka_unit_test(what_is_not_known_is_no_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
