/* SPDX-License-Identifier: Apache-2.0 */
/* A job with more streams than the GPU has connections: a timed event on one stream holds up
 * another one that shares its connection. The length of a step is computed by the simulator, so
 * that it can be compared between runs. The program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

/* As a rank of a job has them that is parallel in four ways. */
enum { STREAMS = 12, STEPS = 8, COUNT = 100 };
#define WORK_NS 50000000ull

static struct {
	ncclComm_t comm;
	cudaStream_t stream;
	cudaEvent_t begin, end;
} all[STREAMS];

/* How many of them there are, and what CUDA_DEVICE_MAX_CONNECTIONS is when the context is made;
 * NULL: as it was before. */
static int n_streams = STREAMS;
static const char *connections;

/* Of the parent, too: the shortest step, and how many events with timing were recorded after the
 * first step. */
static struct shared {
	uint64_t step_ns, timed;
} * shared;

static void make(float **data)
{
	ncclUniqueId id;

	MUST(dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0);
	/* recording starts */
	MUST(ncclGetUniqueId(&id) == ncclSuccess);
	MUST(!connections || setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1) == 0);
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(cudaMalloc((void **)data, COUNT * sizeof(float)) == cudaSuccess);
	for (int i = 0; i < n_streams; i++) {
		MUST(ncclGetUniqueId(&id) == ncclSuccess);
		MUST(ncclCommInitRank(&all[i].comm, 1, id, 0) == ncclSuccess);
		MUST(cudaStreamCreateWithFlags(&all[i].stream, 1) == cudaSuccess);
		MUST(cudaEventCreateWithFlags(&all[i].begin, 2) == cudaSuccess);
		MUST(cudaEventCreateWithFlags(&all[i].end, 2) == cudaSuccess);
	}
	usleep(300000); /* events and clocks are there */
}

/* On every stream something to do, and communication behind it. Returns how long it took on the
 * device. */
static uint64_t step(float *data)
{
	uint64_t begin = UINT64_MAX, end = 0, ns;

	for (int i = 0; i < n_streams; i++) {
		MUST(cudaEventRecord(all[i].begin, all[i].stream) == cudaSuccess);
		MUST(simCompute(all[i].stream, WORK_NS) == CUDA_SUCCESS);
		MUST(ncclAllReduce(data, data, COUNT, ncclFloat32, ncclSum, all[i].comm,
				   all[i].stream) == ncclSuccess);
		MUST(cudaEventRecord(all[i].end, all[i].stream) == cudaSuccess);
	}
	MUST(cudaDeviceSynchronize() == cudaSuccess);
	for (int i = 0; i < n_streams; i++) {
		MUST(simEventTime(all[i].begin, &ns) == CUDA_SUCCESS);
		begin = ns < begin ? ns : begin;
		MUST(simEventTime(all[i].end, &ns) == CUDA_SUCCESS);
		end = ns > end ? ns : end;
	}
	return end - begin;
}

static void run(void)
{
	float *data;
	uint64_t before, ns;

	make(&data);
	step(data);
	before = simTimedRecords();
	shared->step_ns = UINT64_MAX;
	for (int i = 0; i < STEPS; i++) {
		ns = step(data);
		shared->step_ns = ns < shared->step_ns ? ns : shared->step_ns;
	}
	shared->timed = simTimedRecords() - before;
	usleep(50000);
}

static uint64_t step_with(const char *setting, const char *guard)
{
	const char *const env[] = { setting, guard, NULL };

	assert_int_equal(recorded_run(run, env), 0);
	return shared->step_ns;
}

static void auto_lets_streams_run_beside_one_another(void **state)
{
	uint64_t bare = step_with("COMMTRACE=0", NULL);
	uint64_t events = step_with("COMMTRACE_TIMING=events", "COMMTRACE_GUARD=off");
	/* it decides after one of these windows, far less than the job lasts */
	uint64_t by_itself = step_with("COMMTRACE_TIMING=auto", "COMMTRACE_GUARD=0s,20ms/80ms");
	const struct recorded_lists *r = recorded_lists(0);
	uint32_t timed = 0, starts = 0;

	(void)state;
	print_message("step: %.3f ms, events %.3f, auto %.3f\n", (double)bare / 1e6,
		      (double)events / 1e6, (double)by_itself / 1e6);
	assert_true((double)by_itself <= 1.002 * (double)bare);
	assert_true((double)events >= 1.5 * (double)bare);
	assert_int_equal(shared->timed, 0);
	for (uint32_t i = 0; i < r->n_launches; i++) {
		timed += r->launches[i].end_source != CT_SOURCE_NONE;
		starts += r->launches[i].start_source != CT_SOURCE_NONE;
	}
	assert_int_equal(r->n_launches, STREAMS * (STEPS + 1));
	assert_int_equal(r->losses[CT_LOSS_CUDA_FAILED], 0);
	assert_int_equal(timed + r->losses[CT_LOSS_EVENT_POOL_EMPTY], r->n_launches);
	assert_true(timed > r->n_launches / 2);
	assert_true(starts < STREAMS);
	/* a stream keeps its number */
	for (uint32_t i = 0; i < r->n_launches; i++)
		assert_in_range(r->launches[i].stream, 1, STREAMS);
}

/* Until events are timed, if they ever are. */
static void run_on(void)
{
	float *data;

	make(&data);
	for (int i = 0; i < 4 * STEPS && !(shared->timed = simTimedRecords()); i++)
		step(data);
}

static int becomes_timed(int streams, const char *as_context_is_made)
{
	const char *const env[] = { "COMMTRACE_TIMING=auto", "COMMTRACE_GUARD=0s,20ms/80ms", NULL };

	n_streams = streams;
	connections = as_context_is_made;
	assert_int_equal(recorded_run(run_on, env), 0);
	n_streams = STREAMS;
	connections = NULL;
	return shared->timed > 0;
}

/* Of eight connections one is for anchors, and two for streams that are not seen. */
static void five_streams_that_communicate_are_timed_and_six_are_not(void **state)
{
	(void)state;
	assert_true(becomes_timed(5, NULL));
	assert_false(becomes_timed(6, NULL));
}

static void connections_are_those_of_when_the_context_was_made(void **state)
{
	(void)state;
	assert_false(becomes_timed(2, "1"));
	assert_false(becomes_timed(2, "4"));
	assert_true(becomes_timed(2, "5"));
	assert_true(becomes_timed(STREAMS, "32"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_lets_streams_run_beside_one_another),
		cmocka_unit_test(five_streams_that_communicate_are_timed_and_six_are_not),
		cmocka_unit_test(connections_are_those_of_when_the_context_was_made),
	};
	int failed;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	MUST(shared != MAP_FAILED);
	failed = cmocka_run_group_tests_name("crowded", tests, NULL, NULL);
	recorded_remove();
	return failed;
}
