/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to get stuck and out again, and communicators that do not block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "tests/sim/ranks.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/job.h"

static _Atomic int n_kernels, n_aborted;

static void count(const struct sim_nccl_span *span)
{
	n_kernels++;
	n_aborted += span->aborted;
}

/* All but rank 0 call something else. */
static void disagrees(struct rank *r, size_t count, ncclDataType_t type, ncclRedOp_t op, bool skip)
{
	uint32_t *p = device_memory(r, 64);

	join(r);
	if (r->rank == 0)
		CHECK(r, !ncclAllReduce(p, p, 4, ncclUint32, ncclSum, r->comm, r->stream));
	else if (!skip)
		CHECK(r, !ncclAllReduce(p, p, count, type, op, r->comm, r->stream));
	usleep(20000);
	if (r->rank == 0 || !skip)
		CHECK(r, cuStreamQuery(r->stream) == CUDA_ERROR_NOT_READY);
	CHECK(r, !ncclCommAbort(r->comm));
	r->comm = NULL;
	finish(r);
	release(r, p);
}

static void other_count(struct rank *r)
{
	disagrees(r, 5, ncclUint32, ncclSum, false);
}

static void other_type(struct rank *r)
{
	disagrees(r, 4, ncclInt32, ncclSum, false);
}

static void other_redop(struct rank *r)
{
	disagrees(r, 4, ncclUint32, ncclMax, false);
}

static void not_there(struct rank *r)
{
	disagrees(r, 0, 0, 0, true);
}

static void ranks_that_disagree_hang_until_they_abort(void **state)
{
	(void)state;
	assert_int_equal(in_threads(2, other_count), 0);
	assert_int_equal(in_threads(2, other_type), 0);
	assert_int_equal(in_threads(2, other_redop), 0);
	n_kernels = n_aborted = 0;
	simNcclOnKernel(count);
	assert_int_equal(in_threads(2, not_there), 0);
	assert_int_equal(n_kernels, 1);
	assert_int_equal(n_aborted, 1);
}

/* Rank 0 sends `sent` elements, rank 1 wants another number. */
static void disagree_on_size(struct rank *r, size_t sent, size_t wanted)
{
	uint32_t *p = device_memory(r, 64);

	join(r);
	if (r->rank)
		CHECK(r, !ncclRecv(p, wanted, ncclUint32, 0, r->comm, r->stream));
	else
		CHECK(r, !ncclSend(p, sent, ncclUint32, 1, r->comm, r->stream));
	if (!r->rank)
		finish(r);
	usleep(20000);
	CHECK(r, !r->rank || cuStreamQuery(r->stream) == CUDA_ERROR_NOT_READY);
	CHECK(r, !ncclCommRevoke(r->comm, 0));
	finish(r);
	CHECK(r, ncclSend(p, 4, ncclUint32, 0, r->comm, r->stream) == ncclInvalidUsage);
	release(r, p);
}

static void wants_more(struct rank *r)
{
	disagree_on_size(r, 4, 5);
}

static void wants_less(struct rank *r)
{
	disagree_on_size(r, 4, 3);
}

static void a_message_of_another_size_hangs_its_receiver(void **state)
{
	(void)state;
	assert_int_equal(in_threads(2, wants_more), 0);
	assert_int_equal(in_threads(2, wants_less), 0);
}

static void fails_or_hangs(struct rank *r)
{
	uint32_t *p = device_memory(r, 64);
	ncclResult_t error = ncclSuccess;

	join(r);
	if (r->rank == 0)
		simNcclFail(r->comm, ncclRemoteError);
	CHECK(r, !ncclCommGetAsyncError(r->comm, &error));
	CHECK(r, error == (r->rank ? ncclSuccess : ncclRemoteError));
	CHECK(r, ncclAllReduce(p, p, 4, ncclUint32, ncclSum, r->comm, r->stream) == error);
	usleep(20000);
	CHECK(r, r->rank == 0 || cuStreamQuery(r->stream) == CUDA_ERROR_NOT_READY);
	CHECK(r, !ncclCommAbort(r->comm));
	r->comm = NULL;
	finish(r);
	release(r, p);
}

static void a_failed_communicator_says_so_and_stops_its_peers(void **state)
{
	(void)state;
	assert_int_equal(in_threads(2, fails_or_hangs), 0);
}

static ncclResult_t poll(ncclComm_t comm)
{
	ncclResult_t state;

	for (int i = 0; i < 2000; i++) {
		if (ncclCommGetAsyncError(comm, &state))
			return ncclInternalError;
		if (state != ncclInProgress)
			return state;
		usleep(5000);
	}
	return ncclInProgress;
}

static ncclConfig_t nonblocking(void)
{
	return (ncclConfig_t){ .size = sizeof(ncclConfig_t),
			       .magic = NCCL_CONFIG_MAGIC,
			       .version = 22809,
			       .blocking = 0,
			       .splitShare = NCCL_CONFIG_UNDEF_INT };
}

static _Atomic int n_answered;

/* Rank 0 comes when the others have their answers. */
static void come_last(const struct rank *r, int answers)
{
	while (r->rank == 0 && n_answered < answers)
		usleep(1000);
}

static void does_not_block(struct rank *r)
{
	ncclConfig_t config = nonblocking();
	uint32_t *p = device_memory(r, 4);
	ncclComm_t child = (ncclComm_t)r;
	ncclResult_t result;

	*p = 1;
	come_last(r, 2);
	result = ncclCommInitRankConfig(&r->comm, r->n, r->id, r->rank, &config);
	CHECK(r, result == ncclInProgress || (r->rank == 0 && !result));
	n_answered++;
	CHECK(r, r->comm && !poll(r->comm));
	result = ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream);
	CHECK(r, (!result || result == ncclInProgress) && !poll(r->comm));
	finish(r);
	CHECK(r, *p == (uint32_t)r->n);
	come_last(r, 5);
	result = ncclCommSplit(r->comm, 0, r->rank, &child, NULL);
	if (r->rank) {
		int count;

		CHECK(r, result == ncclInProgress && !child);
		CHECK(r, ncclCommCount(r->comm, &count) == ncclInvalidArgument);
		n_answered++;
	}
	CHECK(r, !poll(r->comm) && child);
	result = ncclCommFinalize(r->comm);
	CHECK(r, (!result || result == ncclInProgress) && !poll(r->comm));
	CHECK(r, !ncclCommDestroy(child));
	release(r, p);
}

static void nonblocking_communicators_answer_at_once_and_can_be_polled(void **state)
{
	(void)state;
	assert_int_equal(in_threads(3, does_not_block), 0);
}

/* The other rank never comes. */
static void gives_up_init(struct rank *r)
{
	ncclConfig_t config = nonblocking();

	CHECK(r, ncclCommInitRankConfig(&r->comm, 2, r->id, 0, &config) == ncclInProgress);
	usleep(10000);
	CHECK(r, !ncclCommAbort(r->comm));
	r->comm = NULL;
}

static void an_init_that_hangs_can_be_aborted(void **state)
{
	(void)state;
	assert_int_equal(in_threads(1, gives_up_init), 0);
	assert_int_equal(shared_files(), 0);
}

static _Atomic bool returned;

static void *never_returns(void *arg)
{
	simNcclStallCall("ncclGroupEnd");
	ncclAllReduce(arg, arg, 1, ncclUint32, ncclSum, *(ncclComm_t *)arg, NULL);
	returned = true;
	return NULL;
}

static void stalls_a_call(struct rank *r)
{
	ncclComm_t *p = device_memory(r, 64);
	pthread_t thread;

	join(r);
	*p = r->comm;
	pthread_create(&thread, NULL, never_returns, p);
	pthread_detach(thread);
	usleep(20000);
	CHECK(r, !returned);
	r->comm = NULL;
}

static void a_stalled_call_never_returns(void **state)
{
	(void)state;
	assert_int_equal(in_threads(2, stalls_a_call), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_that_disagree_hang_until_they_abort),
		cmocka_unit_test(a_message_of_another_size_hangs_its_receiver),
		cmocka_unit_test(a_failed_communicator_says_so_and_stops_its_peers),
		cmocka_unit_test(nonblocking_communicators_answer_at_once_and_can_be_polled),
		cmocka_unit_test(an_init_that_hangs_can_be_aborted),
		cmocka_unit_test(a_stalled_call_never_returns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
