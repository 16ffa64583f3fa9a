/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_job.c — two ranks on simulated GPUs that name their steps with the real NVTX.
 *
 *     nvtx_job FILE
 *
 * A thread for each rank. FILE gets a line for each step: tid, and the CLOCK_MONOTONIC ns before
 * and after its push and before and after its pop. Around and within the steps are ranges that do
 * not mark steps. stdout has the sums and what NVTX returned. */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"

enum { RANKS = 2, STEPS = 30, EACH = 4, COUNT = 256, CALLS = 100 };

static struct known {
	int tid;
	uint64_t ns[4];
} known[RANKS][STEPS];

static ncclComm_t comms[RANKS];
static double sums[RANKS];
static int returned[RANKS];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What others say of themselves: a domain with registered names, and much that is pushed and
 * popped. */
static void others(nvtxDomainHandle_t domain, nvtxStringHandle_t name)
{
	nvtxEventAttributes_t a = { .version = NVTX_VERSION,
				    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				    .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
				    .message.registered = name };

	for (int i = 0; i < CALLS; i++) {
		nvtxRangePushA("aten::add");
		nvtxDomainRangePushEx(domain, &a);
		nvtxRangePop();
		nvtxDomainRangePop(domain);
	}
	nvtxMarkA("here");
	nvtxRangeEnd(nvtxRangeStartA("loading"));
}

static void *rank(void *arg)
{
	int me = *(int *)arg;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "kernel");
	cudaStream_t stream;
	float *data, one[COUNT];

	for (int k = 0; k < COUNT; k++)
		one[k] = 1;
	MUST(cudaSetDevice(me) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaMalloc((void **)&data, sizeof(one)) == cudaSuccess);
	MUST(cudaMemcpy(data, one, sizeof(one), cudaMemcpyHostToDevice) == cudaSuccess);
	nvtxRangePushA("epoch 1");
	for (int s = 0; s < STEPS; s++) {
		struct known *k = &known[me][s];
		char text[32];

		snprintf(text, sizeof(text), "step %d", s);
		k->tid = (int)syscall(SYS_gettid);
		k->ns[0] = now_ns();
		returned[me] += nvtxRangePushA(text);
		k->ns[1] = now_ns();
		for (int i = 0; i < EACH; i++) {
			others(domain, name);
			MUST(simCompute(stream, 100000) == CUDA_SUCCESS);
			MUST(ncclAllReduce(data, data, COUNT, ncclFloat32, ncclAvg, comms[me],
					   stream) == ncclSuccess);
		}
		MUST(cudaStreamSynchronize(stream) == cudaSuccess);
		k->ns[2] = now_ns();
		returned[me] += nvtxRangePop();
		k->ns[3] = now_ns();
	}
	returned[me] += nvtxRangePop();
	MUST(cudaMemcpy(one, data, sizeof(one), cudaMemcpyDeviceToHost) == cudaSuccess);
	sums[me] = (double)one[0];
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[RANKS];
	int numbers[RANKS];
	FILE *out;

	MUST(argc == 2);
	for (int i = 0; i < RANKS; i++)
		simNcclRank(i, i);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		numbers[i] = i;
		MUST(pthread_create(&threads[i], NULL, rank, &numbers[i]) == 0);
	}
	out = fopen(argv[1], "we");
	MUST(out);
	for (int i = 0; i < RANKS; i++) {
		MUST(pthread_join(threads[i], NULL) == 0);
		printf("%g %d\n", sums[i], returned[i]);
		for (int s = 0; s < STEPS; s++) {
			const struct known *k = &known[i][s];

			fprintf(out, "%d %d", i, k->tid);
			for (int n = 0; n < 4; n++)
				fprintf(out, " %llu", (unsigned long long)k->ns[n]);
			fprintf(out, "\n");
		}
	}
	MUST(fclose(out) == 0);
	return 0;
}
