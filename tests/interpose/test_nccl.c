/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's data-moving calls and groups: what goes around the library's own functions, and what is
 * recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/fake_libnccl.h"
#include "tests/interpose/recorded_lists.h"
#include "tests/interpose/spy_gpu.h"
#include "trace/ops.h"

/* What a call returns here must always come back as it was. */
static void returns(ncclResult_t is, ncclResult_t should_be)
{
	MUST(is == should_be);
}

static ncclComm_t make_comm(int nranks, int rank)
{
	ncclUniqueId id = { { 0 } };
	ncclComm_t comm = NULL;

	memset(&id, nranks, sizeof(id));
	returns(ncclCommInitRank(&comm, nranks, id, rank), ncclSuccess);
	spy_start();
	return comm;
}

static void all_reduce(ncclComm_t comm, int stream, size_t count)
{
	returns(ncclAllReduce(NULL, NULL, count, ncclFloat32, ncclSum, comm, STREAM(stream)),
		ncclSuccess);
}

/* A body runs in a child, where assertions are MUST; afterwards its records are looked at. */
static const struct recorded_lists *records_of(void (*body)(void))
{
	assert_int_equal(recorded_run(body, NULL), 0);
	return recorded_lists(0);
}

static void nothing_is_lost(const struct recorded_lists *r)
{
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
	/* whatever stands in an op as its launch comes to one record, and one only */
	for (uint32_t i = 0; i < r->n_ops; i++)
		assert_non_null(recorded_launch(r, r->ops[i].launch));
}

/* ---- single calls
 * -------------------------------------------------------------------------------------- */

static void call_all(void)
{
	static const size_t uneven[] = { 0, 40, 41, 7 }, even[] = { 22, 22, 22, 22 };
	ncclComm_t c = make_comm(4, 1);

	returns(ncclAllReduce(c, c, 10, ncclFloat16, ncclMax, c, STREAM(1)), ncclSuccess);
	returns(ncclReduce(c, c, 11, ncclInt64, ncclAvg, 3, c, STREAM(1)), ncclSuccess);
	returns(ncclBroadcast(c, c, 12, ncclUint8, 2, c, STREAM(1)), ncclSuccess);
	returns(ncclBcast(c, 13, ncclInt8, 0, c, STREAM(1)), ncclSuccess);
	returns(ncclReduceScatter(c, c, 14, ncclBfloat16, ncclProd, c, STREAM(1)), ncclSuccess);
	returns(ncclAllGather(c, c, 15, ncclFloat64, c, STREAM(1)), ncclSuccess);
	returns(ncclAlltoAll(c, c, 16, ncclUint32, c, STREAM(1)), ncclSuccess);
	returns(ncclGather(c, c, 17, ncclFloat8e4m3, 1, c, STREAM(1)), ncclSuccess);
	returns(ncclScatter(c, c, 18, ncclFloat8e5m2, 2, c, STREAM(1)), ncclSuccess);
	returns(ncclSend(c, 19, ncclInt32, 3, c, STREAM(1)), ncclSuccess);
	returns(ncclRecv(c, 20, ncclUint64, 2, c, STREAM(1)), ncclSuccess);
	returns(ncclAllToAll(c, c, 21, ncclUint32, c, STREAM(1)), ncclSuccess);
	returns(ncclAllToAllv(c, uneven, uneven, c, even, even, ncclUint32, c, STREAM(1)),
		ncclSuccess);
	/* a reduction of the program's own, a type of a later version */
	returns(ncclAllReduce(c, c, 23, (ncclDataType_t)77, (ncclRedOp_t)0x12345, c, STREAM(1)),
		ncclSuccess);
}

static void every_call_is_recorded_as_its_row_says(void **state)
{
	static const struct {
		const char *name;
		int op, dtype, redop, peer;
	} rows[] = {
		{ "ncclAllReduce", CT_OP_AllReduce, CT_DTYPE_float16, CT_REDOP_max, -1 },
		{ "ncclReduce", CT_OP_Reduce, CT_DTYPE_int64, CT_REDOP_avg, 3 },
		{ "ncclBroadcast", CT_OP_Broadcast, CT_DTYPE_uint8, 0, 2 },
		{ "ncclBcast", CT_OP_Broadcast, CT_DTYPE_int8, 0, 0 },
		{ "ncclReduceScatter", CT_OP_ReduceScatter, CT_DTYPE_bfloat16, CT_REDOP_prod, -1 },
		{ "ncclAllGather", CT_OP_AllGather, CT_DTYPE_float64, 0, -1 },
		{ "ncclAlltoAll", CT_OP_AllToAll, CT_DTYPE_uint32, 0, -1 },
		{ "ncclGather", CT_OP_Gather, CT_DTYPE_float8e4m3, 0, 1 },
		{ "ncclScatter", CT_OP_Scatter, CT_DTYPE_float8e5m2, 0, 2 },
		{ "ncclSend", CT_OP_Send, CT_DTYPE_int32, 0, 3 },
		{ "ncclRecv", CT_OP_Recv, CT_DTYPE_uint64, 0, 2 },
		{ "ncclAllToAll", CT_OP_AllToAll, CT_DTYPE_uint32, 0, -1 },
		{ "ncclAllToAllv", CT_OP_AllToAll, CT_DTYPE_uint32, 0, -1 },
		{ "ncclAllReduce", CT_OP_AllReduce, 0, CT_REDOP_custom, -1 },
	};
	const struct recorded_lists *r = records_of(call_all);

	(void)state;
	assert_int_equal(r->n_ops, sizeof(rows) / sizeof(rows[0]));
	for (uint32_t i = 0; i < r->n_ops; i++) {
		const struct ct_op *op = &r->ops[i];

		assert_string_equal(recorded_name(r, op->call), rows[i].name);
		assert_int_equal(op->op, rows[i].op);
		assert_int_equal(op->dtype, rows[i].dtype);
		assert_int_equal(op->redop, rows[i].redop);
		assert_int_equal(op->peer, rows[i].peer);
		assert_int_equal(op->count, 10 + i);
		assert_int_equal(op->result, 0);
		assert_true(op->return_ns >= op->enter_ns);
		/* collectives count up, each channel of transfers for itself */
		assert_int_equal(op->seq, i < 9 ? i : i < 11 ? 0 : i - 2);
	}
	nothing_is_lost(r);
}

static void call_in_brackets(void)
{
	ncclComm_t comm = make_comm(2, 0);

	all_reduce(comm, 7, 100);
	spy_heard("B7 ncclAllReduce E7");
	MUST(spy_last()->bytes == 400 && spy_last()->n_ops == 1 && spy_last()->seq == 0);
	MUST(spy_last()->op == CT_OP_AllReduce && spy_last()->enter_ns != 0);
	fake_result(ncclRemoteError);
	returns(ncclBroadcast(comm, comm, 1, ncclInt8, 0, comm, STREAM(3)), ncclRemoteError);
	spy_heard("B3 ncclBroadcast D3=6");
	/* all that a later version may return, too */
	for (int i = 1; i < 12; i++) {
		fake_result((ncclResult_t)i);
		if (i != ncclInProgress)
			returns(ncclSend(comm, 1, ncclInt8, 1, comm, STREAM(3)), (ncclResult_t)i);
	}
}

static void a_call_is_launched_between_begin_and_end(void **state)
{
	const struct recorded_lists *r = records_of(call_in_brackets);

	(void)state;
	assert_int_equal(r->ops[1].result, ncclRemoteError);
	assert_int_equal(recorded_launch(r, r->ops[1].launch)->result, ncclRemoteError);
	nothing_is_lost(r);
}

static void call_empty(void)
{
	ncclComm_t comm = make_comm(2, 0);

	all_reduce(comm, 1, 0);
	spy_heard("ncclAllReduce");
	returns(ncclSend(NULL, 0, ncclInt8, 1, comm, STREAM(1)), ncclSuccess);
	spy_heard("B1 ncclSend E1");
	ncclGroupStart();
	all_reduce(comm, 1, 0);
	ncclGroupEnd();
	spy_heard("ncclGroupStart ncclAllReduce ncclGroupEnd");
}

static void an_empty_collective_is_an_op_without_a_span(void **state)
{
	const struct recorded_lists *r = records_of(call_empty);

	(void)state;
	assert_int_equal(r->n_ops, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct ct_launch *launch = recorded_launch(r, r->ops[i].launch);

		/* so that the time which the call took is not taken for the operation's */
		assert_non_null(launch);
		if (r->ops[i].op == CT_OP_Send)
			continue;
		assert_int_equal(launch->start_source, CT_SOURCE_NONE);
		assert_int_equal(launch->end_source, CT_SOURCE_NONE);
		assert_int_equal(launch->result, 0);
	}
	assert_int_equal(r->ops[2].seq, 1);
	nothing_is_lost(r);
}

static void call_with_errno(void)
{
	ncclComm_t comm = make_comm(2, 0);
	ncclResult_t state;

	errno = 77;
	all_reduce(comm, 1, 1);
	ncclGroupStart();
	all_reduce(comm, 1, 1);
	ncclGroupEnd();
	ncclCommGetAsyncError(comm, &state);
	ncclCommDestroy(comm);
	MUST(errno == 77);
}

static void errno_stays_as_the_library_left_it(void **state)
{
	(void)state;
	assert_int_equal(recorded_run(call_with_errno, NULL), 0);
}

/* ---- groups
 * -------------------------------------------------------------------------------------------- */

static void group_two_ops(void)
{
	ncclComm_t comm = make_comm(4, 0);

	ncclGroupStart();
	returns(ncclSend(comm, 5, ncclInt32, 2, comm, STREAM(1)), ncclSuccess);
	returns(ncclRecv(comm, 6, ncclInt64, 3, comm, STREAM(1)), ncclSuccess);
	spy_heard("ncclGroupStart ncclSend ncclRecv");
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("B1 ncclGroupEnd E1");
	MUST(spy_last()->n_ops == 2 && spy_last()->bytes == 20 + 48);
	MUST(spy_last()->op == CT_OP_Send && spy_last()->peer == 2 && spy_last()->seq == 0);
	ncclGroupStart();
	ncclGroupEnd();
	spy_heard("ncclGroupStart ncclGroupEnd");
}

static void the_ops_of_a_group_share_a_launch_at_its_end(void **state)
{
	const struct recorded_lists *r = records_of(group_two_ops);
	const struct ct_host_rec *end = recorded_host(r, "ncclGroupEnd", 0);

	(void)state;
	assert_int_equal(r->n_ops, 2);
	assert_int_equal(r->ops[0].launch, r->ops[1].launch);
	assert_int_equal(r->n_launches, 1);
	assert_int_equal(r->launches[0].n_ops, 2);
	/* the end waits for others, so it is on record, as the communicator's that it is about */
	assert_non_null(end);
	assert_int_equal(end->comm, r->ops[0].comm);
	assert_int_equal(end->nranks, 4);
	assert_true(end->enter_ns >= r->ops[1].return_ns);
	assert_non_null(recorded_host(r, "ncclGroupEnd", 1));
	nothing_is_lost(r);
}

static void group_over_streams(void)
{
	ncclComm_t a = make_comm(2, 0), b = make_comm(3, 0);

	ncclGroupStart();
	all_reduce(a, 1, 1);
	all_reduce(b, 1, 1);
	all_reduce(a, 2, 1);
	all_reduce(a, 1, 1);
	spy_start();
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("B1 B1 B2 ncclGroupEnd E1 E1 E2");
}

static void each_comm_and_stream_of_a_group_has_a_launch(void **state)
{
	const struct recorded_lists *r = records_of(group_over_streams);

	(void)state;
	assert_int_equal(r->n_launches, 3);
	assert_int_equal(r->ops[0].launch, r->ops[3].launch);
	assert_int_not_equal(r->ops[0].launch, r->ops[1].launch);
	assert_int_not_equal(r->ops[0].launch, r->ops[2].launch);
	assert_int_not_equal(r->ops[1].launch, r->ops[2].launch);
	assert_int_equal(recorded_host(r, "ncclGroupEnd", 0)->comm, 0);
	nothing_is_lost(r);
}

static void group_nested(void)
{
	ncclComm_t comm = make_comm(2, 0);

	ncclGroupStart();
	ncclGroupStart();
	all_reduce(comm, 1, 1);
	spy_start();
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("");
	all_reduce(comm, 1, 1);
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("ncclAllReduce B1 ncclGroupEnd E1");
	all_reduce(comm, 1, 1);
	spy_heard("B1 ncclAllReduce E1");
}

static void only_the_outermost_end_launches(void **state)
{
	const struct recorded_lists *r = records_of(group_nested);

	(void)state;
	assert_int_equal(r->n_launches, 2);
	assert_null(recorded_host(r, "ncclGroupEnd", 1));
	nothing_is_lost(r);
}

static void group_fails(void)
{
	ncclComm_t comm = make_comm(2, 0);

	ncclGroupStart();
	all_reduce(comm, 1, 1);
	fake_result(ncclSystemError);
	spy_start();
	returns(ncclGroupEnd(), ncclSystemError);
	spy_heard("B1 ncclGroupEnd D1=2");
	fake_result(ncclSuccess);
	/* what failed is not there any more */
	ncclGroupStart();
	all_reduce(comm, 2, 1);
	spy_start();
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("B2 ncclGroupEnd E2");
}

static void a_group_that_fails_has_no_span(void **state)
{
	const struct recorded_lists *r = records_of(group_fails);

	(void)state;
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->result, ncclSystemError);
	assert_int_equal(recorded_host(r, "ncclGroupEnd", 0)->result, ncclSystemError);
	nothing_is_lost(r);
}

static void group_simulated(void)
{
	ncclSimInfo_t info = { .size = sizeof(info) };
	ncclComm_t comm = make_comm(2, 0);

	ncclGroupStart();
	all_reduce(comm, 1, 1);
	spy_start();
	returns(ncclGroupSimulateEnd(&info), ncclSuccess);
	spy_heard("ncclGroupSimulateEnd");
	MUST(info.estimatedTime == 1);
	all_reduce(comm, 1, 1);
	spy_heard("B1 ncclAllReduce E1");
}

static void a_simulated_group_launches_nothing(void **state)
{
	const struct recorded_lists *r = records_of(group_simulated);

	(void)state;
	assert_int_equal(recorded_launch(r, r->ops[0].launch)->result, CT_RESULT_ABORTED);
	nothing_is_lost(r);
}

static void group_alone(void)
{
	ncclComm_t comm = make_comm(1, 0);

	ncclGroupStart();
	spy_start();
	all_reduce(comm, 1, 1);
	spy_heard("B1 ncclAllReduce E1");
	/* these are made of sends and receives, which wait for the group's end */
	returns(ncclAlltoAll(comm, comm, 1, ncclInt8, comm, STREAM(2)), ncclSuccess);
	returns(ncclSend(comm, 1, ncclInt8, 0, comm, STREAM(2)), ncclSuccess);
	spy_heard("ncclAlltoAll ncclSend");
	ncclGroupEnd();
	spy_heard("B2 ncclGroupEnd E2");
}

static void one_rank_alone_launches_at_the_call(void **state)
{
	const struct recorded_lists *r = records_of(group_alone);

	(void)state;
	assert_int_equal(r->n_launches, 2);
	assert_int_equal(r->comms[0].key_source, CT_KEY_LIBRARY);
	nothing_is_lost(r);
}

static void group_unbalanced(void)
{
	ncclUniqueId id = { { 1 } };
	ncclConfig_t config = { .size = sizeof(config), .magic = NCCL_CONFIG_MAGIC };
	ncclComm_t comm = make_comm(2, 0), none = NULL;

	returns(ncclGroupEnd(), ncclInvalidUsage);
	spy_heard("");
	/* the library's own depth is one too high now */
	fake_result(ncclUnhandledCudaError);
	returns(ncclCommInitRankConfig(&none, 2, id, 0, &config), ncclUnhandledCudaError);
	fake_result(ncclSuccess);
	spy_start();
	returns(ncclGroupEnd(), ncclSuccess);
	returns(ncclGroupEnd(), ncclInvalidUsage);
	spy_start();
	ncclGroupStart();
	all_reduce(comm, 1, 1);
	returns(ncclGroupEnd(), ncclSuccess);
	spy_heard("ncclGroupStart ncclAllReduce B1 ncclGroupEnd E1");
}

static void a_depth_that_does_not_fit_does_no_harm(void **state)
{
	const struct recorded_lists *r = records_of(group_unbalanced);

	(void)state;
	assert_int_equal(recorded_host(r, "ncclGroupEnd", 0)->result, ncclInvalidUsage);
	assert_int_equal(recorded_host(r, "ncclCommInitRankConfig", 0)->result,
			 ncclUnhandledCudaError);
	assert_int_equal(r->n_comms, 1);
	nothing_is_lost(r);
}

static void group_too_wide(void)
{
	ncclComm_t comm = make_comm(2, 0);

	ncclGroupStart();
	for (int i = 0; i < 130; i++)
		all_reduce(comm, i, 1);
	ncclGroupEnd();
}

static void more_streams_than_fit_cost_timing_only(void **state)
{
	const struct recorded_lists *r = records_of(group_too_wide);

	(void)state;
	assert_int_equal(r->n_ops, 130);
	assert_int_equal(r->losses[CT_LOSS_OPEN_TABLE_FULL], 2);
	for (uint32_t i = 0; i < r->n_ops; i++)
		assert_non_null(recorded_launch(r, r->ops[i].launch));
}

static void *leave_group_open(void *comm)
{
	ncclGroupStart();
	all_reduce(comm, 1, 1);
	return NULL;
}

/* More of them, one after the other, than there are blocks for threads. */
static void group_left_open(void)
{
	ncclComm_t comm = make_comm(2, 0);
	pthread_t thread;

	for (int i = 0; i < 300; i++) {
		MUST(pthread_create(&thread, NULL, leave_group_open, comm) == 0);
		pthread_join(thread, NULL);
	}
}

static void a_thread_that_ends_in_a_group_gives_it_up(void **state)
{
	const struct recorded_lists *r = records_of(group_left_open);

	(void)state;
	assert_int_equal(r->n_ops, 300);
	assert_int_equal(recorded_launch(r, r->ops[299].launch)->result, CT_RESULT_ABORTED);
	nothing_is_lost(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_recorded_as_its_row_says),
		cmocka_unit_test(a_call_is_launched_between_begin_and_end),
		cmocka_unit_test(an_empty_collective_is_an_op_without_a_span),
		cmocka_unit_test(errno_stays_as_the_library_left_it),
		cmocka_unit_test(the_ops_of_a_group_share_a_launch_at_its_end),
		cmocka_unit_test(each_comm_and_stream_of_a_group_has_a_launch),
		cmocka_unit_test(only_the_outermost_end_launches),
		cmocka_unit_test(a_group_that_fails_has_no_span),
		cmocka_unit_test(a_simulated_group_launches_nothing),
		cmocka_unit_test(one_rank_alone_launches_at_the_call),
		cmocka_unit_test(a_depth_that_does_not_fit_does_no_harm),
		cmocka_unit_test(more_streams_than_fit_cost_timing_only),
		cmocka_unit_test(a_thread_that_ends_in_a_group_gives_it_up),
	};
	int failed = cmocka_run_group_tests_name("nccl", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
