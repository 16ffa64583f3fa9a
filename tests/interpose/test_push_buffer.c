/* SPDX-License-Identifier: Apache-2.0 */
/* A job whose host is far ahead of its GPUs, so that what a hardware queue holds is nearly used up:
 * the tracer's events must not be what fills it. The ranks are threads of one process, and the
 * second one begins when the first one has called all that it has to: while it blocks inside the
 * driver for space, no thread makes any. The program itself is preloaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/recorded.h"
#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"

/* NCCL puts three things on a stream for each operation: 750 of 1024, with one communicator. With
 * four, each of whose operations has an event that the computing stream waits for, 352 on each, and
 * with a kernel behind each wait 704 on the computing one; all launches are timed then. */
enum { RANKS = 2, COMMS = 4, OPS = 250, WAITED_OPS = 88, COUNT = 100 };

static struct rank {
	ncclComm_t comms[COMMS];
	cudaStream_t streams[COMMS], compute;
	cudaEvent_t done;
	float *data;
	int device;
} ranks[RANKS];

static pthread_barrier_t all_called;

static ncclResult_t all_reduce(struct rank *r, int comm)
{
	return ncclAllReduce(r->data, r->data, COUNT, ncclFloat32, ncclSum, r->comms[comm],
			     r->streams[comm]);
}

static void communicate(struct rank *r)
{
	for (int i = 0; i < OPS; i++)
		MUST(all_reduce(r, 0) == ncclSuccess);
}

static void wait_for_all(struct rank *r)
{
	for (int i = 0; i < WAITED_OPS * COMMS; i++) {
		MUST(all_reduce(r, i % COMMS) == ncclSuccess);
		MUST(cudaEventRecord(r->done, r->streams[i % COMMS]) == cudaSuccess);
		MUST(cudaStreamWaitEvent(r->compute, r->done, 0) == cudaSuccess);
		MUST(simCompute(r->compute, 1000) == CUDA_SUCCESS);
		usleep(300); /* for the poll thread to make more events */
	}
}

static void (*call_all)(struct rank *r);

static void *run(void *arg)
{
	struct rank *r = arg;

	MUST(cudaSetDevice(r->device) == cudaSuccess);
	if (r->device == 0)
		call_all(r);
	pthread_barrier_wait(&all_called);
	if (r->device == 1)
		call_all(r);
	MUST(cudaDeviceSynchronize() == cudaSuccess);
	return NULL;
}

static void set_up(void)
{
	ncclComm_t comms[COMMS][RANKS];

	for (int c = 0; c < COMMS; c++)
		MUST(ncclCommInitAll(comms[c], RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].device = i;
		MUST(cudaSetDevice(i) == cudaSuccess);
		for (int c = 0; c < COMMS; c++) {
			ranks[i].comms[c] = comms[c][i];
			MUST(cudaStreamCreateWithFlags(&ranks[i].streams[c], 1) == cudaSuccess);
		}
		MUST(cudaStreamCreateWithFlags(&ranks[i].compute, 1) == cudaSuccess);
		MUST(cudaEventCreateWithFlags(&ranks[i].done, 2) == cudaSuccess);
		MUST(cudaMalloc((void **)&ranks[i].data, COUNT * sizeof(float)) == cudaSuccess);
	}
	for (int c = 0; c < COMMS; c++) {
		MUST(ncclGroupStart() == ncclSuccess);
		for (int i = 0; i < RANKS; i++)
			MUST(all_reduce(&ranks[i], c) == ncclSuccess);
		MUST(ncclGroupEnd() == ncclSuccess);
	}
	usleep(500000); /* events and clocks are there */
}

static void job(void)
{
	pthread_t threads[RANKS];

	alarm(30); /* this is what a deadlock ends with */
	for (int i = 0; i < RANKS; i++)
		simNcclRank(i, i);
	set_up();
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

static struct seen {
	uint32_t ops, launches, timed, waits, timed_waits;
	uint64_t losses[CT_LOSS_MAX];
} seen;

static void see(const struct ct_block *block)
{
	seen.ops += block->n_ops;
	seen.launches += block->n_launches;
	for (uint32_t i = 0; i < block->n_launches; i++)
		seen.timed += block->launches[i].end_source == CT_SOURCE_EVENT;
	for (uint32_t i = 0; i < block->n_rares; i++) {
		struct ct_wait_rec wait;

		if (block->rares[i].kind != CT_KIND_WAIT)
			continue;
		ct_rare_get(block, &block->rares[i], &wait, sizeof(wait));
		/* those of the host have no stream */
		seen.waits += !(wait.flags & CT_WAIT_HOST);
		seen.timed_waits += !(wait.flags & CT_WAIT_HOST) && wait.begin_ns;
	}
}

static void record(void (*calls)(struct rank *))
{
	call_all = calls;
	assert_int_equal(run_with("COMMTRACE=0"), 0);
	assert_int_equal(run_with("COMMTRACE_TIMING=events"), 0);
	memset(&seen, 0, sizeof(seen));
	recorded_walk(0, see, seen.losses);
	print_message("%u of %u launches, %u of %u waits timed\n", seen.timed, seen.launches,
		      seen.timed_waits, seen.waits);
	assert_int_equal(seen.launches, seen.ops);
	assert_true(seen.timed > 0);
}

static void events_leave_room_in_the_queues(void **state)
{
	(void)state;
	record(communicate);
	assert_int_equal(seen.ops, RANKS * (OPS + COMMS));
	assert_true(seen.losses[CT_LOSS_OPEN_TABLE_FULL] > 0);
}

/* Some of rank 0's waits are not timed, since too many before them are not reached; but on record,
 * and counted. */
static void so_do_those_of_waits(void **state)
{
	(void)state;
	record(wait_for_all);
	assert_int_equal(seen.ops, RANKS * COMMS * (WAITED_OPS + 1));
	assert_in_range(seen.timed_waits, 1, seen.waits - 1);
	assert_true(seen.losses[CT_LOSS_WAITS_FULL] >= seen.waits - seen.timed_waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_leave_room_in_the_queues),
		cmocka_unit_test(so_do_those_of_waits),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	recorded_remove();
	return failed;
}
