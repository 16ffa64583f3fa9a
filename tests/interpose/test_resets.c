/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that end a CUDA context and go on: what the tracer had in it is not touched again, and
 * recording goes on in the next one. The simulated driver aborts the process when something is used
 * that went with its context. The program itself is preloaded. */
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
#include "tools/sim/driver.h"
#include "tools/sim/nccl/job.h"

#define NCCL_CALL(symbol, name, since, op, params, ...) ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) ncclResult_t name params;
#include "interpose/abi/nccl_calls.def"

enum { COUNT = 100, LAUNCHES = 40 };

static ncclComm_t comm;
static cudaStream_t stream;
static float *data;

static void make(void)
{
	ncclUniqueId id;

	MUST(ncclGetUniqueId(&id) == ncclSuccess);
	MUST(ncclCommInitRank(&comm, 1, id, 0) == ncclSuccess);
	MUST(cudaStreamCreateWithFlags(&stream, 1) == cudaSuccess);
	MUST(cudaMalloc((void **)&data, COUNT * sizeof(float)) == cudaSuccess);
	usleep(300000); /* events and clocks are there */
}

static void reduce(int n)
{
	for (int i = 0; i < n; i++)
		MUST(ncclAllReduce(data, data, COUNT, ncclFloat32, ncclSum, comm, stream) ==
		     ncclSuccess);
	MUST(cudaStreamSynchronize(stream) == cudaSuccess);
}

static void start(void)
{
	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
	MUST(cudaSetDevice(0) == cudaSuccess);
}

static void go_on(void)
{
	usleep(50000); /* the poll thread looks meanwhile */
	MUST(cudaSetDevice(0) == cudaSuccess);
	make();
	reduce(LAUNCHES);
	usleep(50000);
	MUST(simMisuse() == 0);
}

static void reset(void)
{
	start();
	for (int i = 0; i < 3; i++) {
		make();
		reduce(LAUNCHES);
		MUST(ncclCommDestroy(comm) == ncclSuccess);
		MUST(cudaDeviceReset() == cudaSuccess);
		MUST(cudaSetDevice(0) == cudaSuccess);
	}
	go_on();
}

static void reset_primary(void)
{
	start();
	make();
	reduce(LAUNCHES);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
	MUST(cuDevicePrimaryCtxReset_v2(0) == CUDA_SUCCESS);
	go_on();
}

/* As a program with a static runtime does it, also while the poll thread has something to look for.
 */
static void reset_unseen(void)
{
	start();
	for (int i = 0; i < 3; i++) {
		make();
		reduce(LAUNCHES);
		usleep(50000);
		MUST(ncclCommDestroy(comm) == ncclSuccess);
		MUST(simResetUnseen(0) == CUDA_SUCCESS);
		usleep(50000); /* the poll thread looks meanwhile */
		MUST(cudaSetDevice(0) == cudaSuccess);
	}
	go_on();
}

/* The next context is there at once, with the handle of the one before. */
static void reset_unseen_and_go_on(void)
{
	CUcontext context;

	start();
	make();
	reduce(LAUNCHES);
	usleep(50000);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
	MUST(simResetUnseen(0) == CUDA_SUCCESS);
	MUST(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
	go_on();
}

static void release_primary(void)
{
	unsigned int flags;
	int active = 1;

	start();
	make();
	reduce(LAUNCHES);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
	while (active) {
		MUST(cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS);
		MUST(cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS);
	}
	go_on();
}

/* Another thread still has it. */
static void release_one(void)
{
	CUcontext context;

	start();
	make();
	for (int i = 0; i < LAUNCHES; i++) {
		MUST(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
		reduce(1);
		MUST(cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS);
	}
	MUST(cuDevicePrimaryCtxReset_v2(99) != CUDA_SUCCESS);
	reduce(LAUNCHES);
	usleep(50000);
}

static void destroy(void)
{
	CUcontext own;

	start();
	MUST(cuCtxCreate_v2(&own, 0, 0) == CUDA_SUCCESS);
	make();
	reduce(LAUNCHES);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
	MUST(cuCtxDestroy_v2(own) == CUDA_SUCCESS);
	go_on();
}

/* Streams of a part of a GPU. */
static void use_green(void)
{
	CUgreenCtx green;

	start();
	make();
	MUST(cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS);
	MUST(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
	reduce(LAUNCHES);
	usleep(50000);
}

static void all_are_timed(void (*body)(void), uint32_t n)
{
	static const char *const env[] = { "SIM_GONE=abort", NULL };
	const struct recorded_lists *r;
	uint32_t timed = 0;

	assert_int_equal(recorded_run(body, env), 0);
	r = recorded_lists(0);
	for (uint32_t i = 0; i < r->n_launches; i++)
		timed += r->launches[i].end_source == CT_SOURCE_EVENT;
	assert_int_equal(r->n_launches, n);
	assert_int_equal(r->losses[CT_LOSS_CUDA_FAILED], 0);
	assert_int_equal(timed + r->losses[CT_LOSS_EVENT_POOL_EMPTY], n);
	assert_true(timed > n / 2);
}

static void after_a_reset_recording_goes_on(void **state)
{
	(void)state;
	all_are_timed(reset, 4 * LAUNCHES);
	all_are_timed(reset_primary, 2 * LAUNCHES);
}

static void after_one_that_no_one_saw_too(void **state)
{
	(void)state;
	all_are_timed(reset_unseen, 4 * LAUNCHES);
	all_are_timed(reset_unseen_and_go_on, 2 * LAUNCHES);
}

static void after_the_last_release_too(void **state)
{
	(void)state;
	all_are_timed(release_primary, 2 * LAUNCHES);
}

static void a_release_that_is_not_the_last_changes_nothing(void **state)
{
	(void)state;
	all_are_timed(release_one, 2 * LAUNCHES);
}

static void after_a_context_was_destroyed_too(void **state)
{
	(void)state;
	all_are_timed(destroy, 2 * LAUNCHES);
}

static void launches_on_a_part_of_a_gpu_are_timed(void **state)
{
	(void)state;
	all_are_timed(use_green, LAUNCHES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_reset_recording_goes_on),
		cmocka_unit_test(after_one_that_no_one_saw_too),
		cmocka_unit_test(after_the_last_release_too),
		cmocka_unit_test(a_release_that_is_not_the_last_changes_nothing),
		cmocka_unit_test(after_a_context_was_destroyed_too),
		cmocka_unit_test(launches_on_a_part_of_a_gpu_are_timed),
	};
	int failed = cmocka_run_group_tests_name("resets", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
