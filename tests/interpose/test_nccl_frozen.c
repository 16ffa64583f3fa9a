/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of the simulated NCCL that are aborted, revoked and shrunk while kernels are stuck:
 * the kernels complete, the operations did not. The program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/job.h"

#define NCCL_CALL(symbol, name, since, op, params, ...) ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) ncclResult_t name params;
#include "interpose/abi/nccl_calls.def"

enum { RANKS = 2, COUNT = 100 };
static struct {
	ncclComm_t comm;
	cudaStream_t stream;
	float *data;
} ranks[RANKS];

static void begin(void)
{
	ncclComm_t comms[RANKS];

	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].comm = comms[i];
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&ranks[i].stream, 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&ranks[i].data, COUNT * sizeof(float)) == cudaSuccess);
	}
}

static void reduce_on(int rank)
{
	MUST(ncclAllReduce(ranks[rank].data, ranks[rank].data, COUNT, ncclFloat32, ncclSum,
			   ranks[rank].comm, ranks[rank].stream) == ncclSuccess);
}

static void reduce(void)
{
	for (int i = 0; i < RANKS; i++)
		reduce_on(i);
	for (int i = 0; i < RANKS; i++)
		MUST(cudaStreamSynchronize(ranks[i].stream) == cudaSuccess);
}

/* One that is done, and one that rank 1 never comes to. */
static void get_stuck(void)
{
	begin();
	reduce();
	usleep(200000); /* events and clocks are there */
	reduce_on(0);
	usleep(50000);
	MUST(cudaStreamQuery(ranks[0].stream) == cudaErrorNotReady);
}

static void wait_for_the_kernel(void)
{
	MUST(cudaStreamSynchronize(ranks[0].stream) == cudaSuccess);
	usleep(100000);
}

static void *abort_it(void *comm)
{
	MUST(ncclCommAbort(comm) == ncclSuccess);
	return NULL;
}

static void abort_from_elsewhere(void)
{
	pthread_t watchdog;

	get_stuck();
	MUST(pthread_create(&watchdog, NULL, abort_it, ranks[0].comm) == 0);
	/* inside a call meanwhile, as long as the kernel is stuck */
	wait_for_the_kernel();
	pthread_join(watchdog, NULL);
}

static void revoke_it(void)
{
	get_stuck();
	MUST(ncclCommRevoke(ranks[0].comm, 0) == ncclSuccess);
	wait_for_the_kernel();
}

static void shrink_abort(void)
{
	ncclComm_t alone = NULL;
	int without[] = { 1 };

	get_stuck();
	MUST(ncclCommShrink(ranks[0].comm, without, 1, &alone, NULL, NCCL_SHRINK_ABORT) ==
	     ncclSuccess);
	wait_for_the_kernel();
	/* the new one works */
	MUST(ncclAllReduce(ranks[0].data, ranks[0].data + 1, 1, ncclFloat32, ncclSum, alone,
			   ranks[0].stream) == ncclSuccess);
	wait_for_the_kernel();
}

static void revoke_wrongly(void)
{
	get_stuck();
	MUST(ncclCommRevoke(ranks[0].comm, 77) == ncclInvalidArgument);
	reduce_on(1);
	wait_for_the_kernel();
}

static const struct recorded_lists *records_of(void (*body)(void))
{
	assert_int_equal(recorded_run(body, NULL), 0);
	return recorded_lists(0);
}

/* All that was done before, on both ranks, is; the one that was stuck is not. */
static void only_the_stuck_one_is_aborted(const struct recorded_lists *r)
{
	const struct ct_launch *launch;

	assert_true(r->n_ops >= 3);
	for (uint32_t i = 0; i < r->n_ops; i++) {
		launch = recorded_launch(r, r->ops[i].launch);
		assert_non_null(launch);
		assert_int_equal(launch->result, i == 2 ? CT_RESULT_ABORTED : 0);
	}
	launch = recorded_launch(r, r->ops[2].launch);
	assert_int_equal(r->ops[2].result, 0);
	assert_int_equal(launch->end_source, CT_SOURCE_NONE);
	/* that it had begun is known, unless it was not timed: the first two may find no events */
	if (r->losses[CT_LOSS_EVENT_POOL_EMPTY] <= RANKS)
		assert_int_equal(launch->start_source, CT_SOURCE_EVENT);
}

static void an_abort_by_another_thread_freezes(void **state)
{
	(void)state;
	only_the_stuck_one_is_aborted(records_of(abort_from_elsewhere));
}

static void a_revoke_freezes(void **state)
{
	(void)state;
	only_the_stuck_one_is_aborted(records_of(revoke_it));
}

static void a_shrink_that_aborts_freezes(void **state)
{
	const struct recorded_lists *r = records_of(shrink_abort);

	(void)state;
	only_the_stuck_one_is_aborted(r);
	assert_int_equal(r->n_ops, 4);
}

static void a_revoke_that_is_refused_does_not(void **state)
{
	const struct recorded_lists *r = records_of(revoke_wrongly);

	(void)state;
	assert_int_equal(r->n_ops, 4);
	for (uint32_t i = 0; i < r->n_ops; i++)
		assert_int_equal(recorded_launch(r, r->ops[i].launch)->result, 0);
	assert_int_not_equal(recorded_launch(r, r->ops[2].launch)->end_source, CT_SOURCE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_abort_by_another_thread_freezes),
		cmocka_unit_test(a_revoke_freezes),
		cmocka_unit_test(a_shrink_that_aborts_freezes),
		cmocka_unit_test(a_revoke_that_is_refused_does_not),
	};
	int failed = cmocka_run_group_tests_name("nccl_frozen", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
