/* SPDX-License-Identifier: Apache-2.0 */
/* paced_job.c — a rank that communicates at a given rate, as training overlaps it with computing.
 *
 *     paced_job PER_SECOND SECONDS AHEAD
 *
 * An all-reduce each 1/PER_SECOND on a stream of its own, which the computing stream waits for.
 * Before that its GPU computes for as long as AHEAD all-reduces take to be called: so many launches
 * are under way at once. Prints "calls N" and, on stderr, the rate that it kept up. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/sim.h"

enum { COUNT = 256 };
#define SECOND_NS 1000000000ull

#define MUST(condition) ((condition) ? (void)0 : must_not(__LINE__))
static void __attribute__((noreturn)) must_not(int line)
{
	fprintf(stderr, "line %d is not so\n", line);
	exit(1);
}

static cudaStream_t computing, communication;
static cudaEvent_t reduced;
static ncclComm_t comm;
static float *data;

static void reduce(void)
{
	MUST(ncclAllReduce(data, data, COUNT, ncclFloat32, ncclSum, comm, communication) ==
	     ncclSuccess);
	MUST(cudaEventRecord(reduced, communication) == cudaSuccess);
	MUST(cudaStreamWaitEvent(computing, reduced, 0) == cudaSuccess);
}

int main(int argc, char **argv)
{
	uint64_t gap, begin, now = 0;
	unsigned n, ahead;

	MUST(argc == 4);
	gap = SECOND_NS / (unsigned)atoi(argv[1]);
	n = (unsigned)(atoi(argv[1]) * atoi(argv[2]));
	ahead = (unsigned)atoi(argv[3]);
	MUST(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&communication, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaEventCreateWithFlags(&reduced, cudaEventDisableTiming) == cudaSuccess);
	MUST(cudaMalloc((void **)&data, COUNT * sizeof(*data)) == cudaSuccess);
	MUST(ncclCommInitAll(&comm, 1, NULL) == ncclSuccess);
	reduce();
	MUST(cudaStreamSynchronize(computing) == cudaSuccess);
	begin = simNow();
	if (ahead)
		MUST(simCompute(communication, ahead * gap) == CUDA_SUCCESS);
	for (unsigned i = 0; i < n; i++) {
		simSleepUntil(begin + i * gap);
		reduce();
	}
	now = simNow();
	MUST(cudaStreamSynchronize(computing) == cudaSuccess);
	MUST(ncclCommDestroy(comm) == ncclSuccess);
	printf("calls %u\n", n + 1);
	fprintf(stderr, "rate %.0f\n", n * 1e9 / (double)(now - begin));
	return 0;
}
