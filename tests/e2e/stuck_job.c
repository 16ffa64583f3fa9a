/* SPDX-License-Identifier: Apache-2.0 */
/* stuck_job.c — one operation hangs for long while others continue.
 *
 *     stuck_job recv|unpolled|stream MS [kill]
 *
 * Two ranks in one process. recv: rank 0 posts a receive, whose send comes MS later. unpolled: an
 * operation of a nonblocking communicator, whose state is never queried. stream: an operation
 * behind a kernel that never ends. Meanwhile, for MS and 2000 calls at least, both ranks reduce
 * over another communicator on other streams, about once in a millisecond, each operation waited
 * for. Prints "busy N" (calls on that communicator) and "sum X"; then ends, by SIGKILL if asked to.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/sim.h"

enum { RANKS = 2, COUNT = 64, MS = 1000000, AT_LEAST = 2000 };

static struct rank {
	ncclComm_t busy, stuck;
	cudaStream_t stream, other;
	float *data, *more;
} ranks[RANKS];

static void make(size_t offset, int blocking)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclResult_t result, state;
	ncclUniqueId id;

	config.blocking = blocking;
	MUST(ncclGetUniqueId(&id) == ncclSuccess);
	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ncclComm_t *comm = (ncclComm_t *)(void *)((char *)&ranks[i] + offset);

		MUST(cudaSetDevice(i) == cudaSuccess);
		result = ncclCommInitRankConfig(comm, RANKS, id, i, &config);
		MUST(result == ncclSuccess || result == ncclInProgress);
	}
	result = ncclGroupEnd();
	MUST(result == ncclSuccess || result == ncclInProgress);
	for (int i = 0; i < RANKS; i++) {
		ncclComm_t *comm = (ncclComm_t *)(void *)((char *)&ranks[i] + offset);

		while (ncclCommGetAsyncError(*comm, &state) == ncclSuccess &&
		       state == ncclInProgress)
			simSleepUntil(simNow() + MS);
		MUST(state == ncclSuccess);
	}
}

static void make_rank(struct rank *r, int device)
{
	float ones[COUNT];

	for (int k = 0; k < COUNT; k++)
		ones[k] = 1;
	MUST(cudaSetDevice(device) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&r->other, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaMalloc((void **)&r->data, sizeof(ones)) == cudaSuccess);
	MUST(cudaMalloc((void **)&r->more, sizeof(ones)) == cudaSuccess);
	MUST(cudaMemcpy(r->data, ones, sizeof(ones), cudaMemcpyHostToDevice) == cudaSuccess);
	MUST(cudaMemcpy(r->more, ones, sizeof(ones), cudaMemcpyHostToDevice) == cudaSuccess);
}

/* It keeps its sum of ones: the average of two. */
static void reduce(size_t comm_at, size_t data_at, size_t stream_at)
{
	ncclResult_t result;

	MUST(ncclGroupStart() == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		char *r = (char *)&ranks[i];
		float *data = *(float **)(void *)(r + data_at);

		result = ncclAllReduce(data, data, COUNT, ncclFloat32, ncclAvg,
				       *(ncclComm_t *)(void *)(r + comm_at),
				       *(cudaStream_t *)(void *)(r + stream_at));
		MUST(result == ncclSuccess || result == ncclInProgress);
	}
	result = ncclGroupEnd();
	MUST(result == ncclSuccess || result == ncclInProgress);
}

#define AT(member) offsetof(struct rank, member)

static unsigned go_on(double ms)
{
	const uint64_t until = simNow() + (uint64_t)(ms * MS);
	unsigned n = 0;

	while (simNow() < until || n < AT_LEAST) {
		reduce(AT(busy), AT(data), AT(stream));
		for (int i = 0; i < RANKS; i++)
			MUST(cudaStreamSynchronize(ranks[i].stream) == cudaSuccess);
		n += RANKS;
		simSleepUntil(simNow() + MS / 2);
	}
	return n;
}

static uint64_t __attribute__((noreturn)) never(void *arg, uint64_t start_ns, CUresult *error)
{
	(void)arg;
	(void)start_ns;
	(void)error;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const struct sim_kernel kernel = { .run = never };
	float sum = 0;
	unsigned n;

	MUST(argc >= 3);
	for (int i = 0; i < RANKS; i++)
		make_rank(&ranks[i], i);
	make(AT(busy), 1);
	make(AT(stuck), strcmp(argv[1], "unpolled") != 0);
	if (strcmp(argv[1], "recv") == 0) {
		MUST(cudaSetDevice(0) == cudaSuccess);
		MUST(ncclRecv(ranks[0].more, COUNT, ncclFloat32, 1, ranks[0].stuck,
			      ranks[0].other) == ncclSuccess);
	} else if (strcmp(argv[1], "stream") == 0) {
		MUST(cudaSetDevice(0) == cudaSuccess);
		MUST(simLaunch(ranks[0].other, &kernel) == CUDA_SUCCESS);
		reduce(AT(stuck), AT(more), AT(other));
	} else {
		reduce(AT(stuck), AT(more), AT(other));
	}
	n = go_on(atof(argv[2]));
	if (strcmp(argv[1], "recv") == 0) {
		MUST(cudaSetDevice(1) == cudaSuccess);
		MUST(ncclSend(ranks[1].more, COUNT, ncclFloat32, 0, ranks[1].stuck,
			      ranks[1].other) == ncclSuccess);
		MUST(cudaStreamSynchronize(ranks[1].other) == cudaSuccess);
		MUST(cudaSetDevice(0) == cudaSuccess);
		MUST(cudaStreamSynchronize(ranks[0].other) == cudaSuccess);
		simSleepUntil(simNow() + 50 * MS);
	}
	MUST(cudaSetDevice(0) == cudaSuccess);
	MUST(cudaMemcpy(&sum, ranks[0].data, sizeof(sum), cudaMemcpyDeviceToHost) == cudaSuccess);
	printf("busy %u\nsum %g\n", n, (double)sum);
	fflush(stdout);
	if (argc > 3)
		raise(SIGKILL);
	return 0;
}
