/* SPDX-License-Identifier: Apache-2.0 */
/* A job whose host is far ahead of its GPUs, so that what a hardware queue holds is nearly used up: the tracer's events must not be
 * what fills it. The ranks are threads of one process, and the second one begins when the first one has called all that it has to:
 * where that one waits inside of the driver for room, nobody comes to make any. The program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/recorded_lists.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"

/* NCCL puts three things on a stream for each of them: 750 of 1024. */
enum { RANKS = 2, OPS = 250, COUNT = 100 };

static struct rank {
	ncclComm_t comm;
	cudaStream_t stream;
	float *data;
	int device;
} ranks[RANKS];

static pthread_barrier_t all_called;

static ncclResult_t all_reduce(struct rank *r)
{
	return ncclAllReduce(r->data, r->data, COUNT, ncclFloat32, ncclSum, r->comm, r->stream);
}

static void call_all(struct rank *r)
{
	for (int i = 0; i < OPS; i++)
		MUST(all_reduce(r) == ncclSuccess);
}

static void *run(void *arg)
{
	struct rank *r = arg;

	MUST(cudaSetDevice(r->device) == cudaSuccess);
	if (r->device == 0)
		call_all(r);
	pthread_barrier_wait(&all_called);
	if (r->device == 1)
		call_all(r);
	MUST(cudaStreamSynchronize(r->stream) == cudaSuccess);
	return NULL;
}

static void job(void)
{
	ncclComm_t comms[RANKS];
	pthread_t threads[RANKS];

	alarm(30); /* this is what a deadlock ends with */
	for (int i = 0; i < RANKS; i++)
		simNcclRank(i, i);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].comm = comms[i];
		ranks[i].device = i;
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaStreamCreateWithFlags(&ranks[i].stream, 1) == cudaSuccess);
		MUST(cudaMalloc((void **)&ranks[i].data, COUNT * sizeof(float)) == cudaSuccess);
	}
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++)
		MUST(all_reduce(&ranks[i]) == ncclSuccess);
	MUST(ncclGroupEnd() == ncclSuccess);
	usleep(500000); /* events and clocks are there */
	pthread_barrier_init(&all_called, NULL, RANKS);
	for (int i = 0; i < RANKS; i++)
		MUST(pthread_create(&threads[i], NULL, run, &ranks[i]) == 0);
	for (int i = 0; i < RANKS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	MUST(simMisuse() == 0);
}

static int run_with(const char *timing)
{
	const char *const env[] = { "SIM_PUSH_BUFFER=1024", timing, NULL };

	return recorded_run(job, env);
}

static void events_leave_room_in_the_queues(void **state)
{
	const struct recorded_lists *r;
	uint32_t timed = 0;

	(void)state;
	assert_int_equal(run_with("COMMTRACE=0"), 0);
	assert_int_equal(run_with("COMMTRACE_TIMING=events"), 0);
	r = recorded_lists(0);
	for (uint32_t i = 0; i < r->n_launches; i++)
		timed += r->launches[i].end_source == CT_SOURCE_EVENT;
	print_message("%u of %u launches timed\n", timed, r->n_launches);
	assert_int_equal(r->n_ops, RANKS * (OPS + 1));
	assert_int_equal(r->n_launches, RANKS * (OPS + 1));
	assert_true(timed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_leave_room_in_the_queues),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	recorded_remove();
	return failed;
}
