/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose recording begins before CUDA does: ncclGetUniqueId() starts it, and cuInit()
 * comes later. The driver is torn down by a handler that cuInit() registers, so that it is gone
 * before handlers run that are older. The program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/job.h"

#define NCCL_CALL(symbol, name, since, op, params, ...) ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) ncclResult_t name params;
#include "interpose/abi/nccl_calls.def"

enum { COUNT = 100, LAUNCHES = 200 };

static ncclComm_t comm;
static cudaStream_t stream;
static float *data;

static void reduce(int n)
{
	for (int i = 0; i < n; i++)
		MUST(ncclAllReduce(data, data, COUNT, ncclFloat32, ncclSum, comm, stream) ==
		     ncclSuccess);
	MUST(cudaStreamSynchronize(stream) == cudaSuccess);
}

static void begin(void)
{
	ncclUniqueId id;

	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
	MUST(ncclGetUniqueId(&id) == ncclSuccess);
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(ncclCommInitRank(&comm, 1, id, 0) == ncclSuccess);
	MUST(cudaStreamCreateWithFlags(&stream, 1) == cudaSuccess);
	MUST(cudaMalloc((void **)&data, COUNT * sizeof(float)) == cudaSuccess);
	usleep(300000); /* events and clocks are there */
}

/* Shorter than the poll thread's naps: what it has not seen by then it sees at the end. */
static void run_shortly(void)
{
	begin();
	reduce(LAUNCHES);
}

/* When the driver is gone the program's own cleaning up may still come. */
static void destroy_late(void)
{
	ncclResult_t error;

	ncclCommGetAsyncError(comm, &error);
}

static void clean_up_late(void)
{
	MUST(atexit(destroy_late) == 0);
	run_shortly();
}

static void the_last_launches_are_timed(const struct recorded_lists *r)
{
	uint32_t timed = 0;

	for (uint32_t i = 0; i < r->n_launches; i++)
		timed += r->launches[i].end_source == CT_SOURCE_EVENT;
	assert_int_equal(r->n_launches, LAUNCHES);
	assert_int_equal(r->losses[CT_LOSS_CUDA_FAILED], 0);
	assert_int_equal(timed + r->losses[CT_LOSS_EVENT_POOL_EMPTY], LAUNCHES);
	assert_true(timed > LAUNCHES / 2);
}

static void what_ends_before_the_driver_is_timed(void **state)
{
	(void)state;
	assert_int_equal(recorded_run(run_shortly, NULL), 0);
	the_last_launches_are_timed(recorded_lists(0));
}

static void the_driver_is_left_alone_when_it_is_gone(void **state)
{
	static const char *const env[] = { "SIM_GONE=abort", NULL };

	(void)state;
	assert_int_equal(recorded_run(run_shortly, env), 0);
	the_last_launches_are_timed(recorded_lists(0));
	assert_int_equal(recorded_run(clean_up_late, env), 0);
	the_last_launches_are_timed(recorded_lists(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_before_the_driver_is_timed),
		cmocka_unit_test(the_driver_is_left_alone_when_it_is_gone),
	};
	int failed = cmocka_run_group_tests_name("driver_exit", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
