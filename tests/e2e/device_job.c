/* SPDX-License-Identifier: Apache-2.0 */
/* device_job.c — what a job's kernels do on its devices' clocks, to the nanosecond.
 *
 *     device_job FILE PAUSE_MS [lock=MS] [starve=MS] [skew=US]
 *
 * Two ranks in one process compute and reduce on streams of their own, as a training step does:
 * some communication is behind computing, some beside it. The devices stand still for PAUSE_MS, in
 * which all of it is put onto them; from then on their times are computed, and do not depend on
 * what else this machine does. FILE gets one line for each kernel, "rank launch start end", ns from
 * the end of an early one. The driver is held for MS meanwhile; no communication kernel gets onto
 * the devices for MS; ranks end up to US apart. stdout has the sums. Exit 9: the pause was too
 * short. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/must.h"
#include "tools/sim/cudart.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/job.h"

enum { RANKS = 2, STEPS = 40, EACH = 3, COUNT = 1 << 14, MS = 1000000, FIRST = 3 * EACH };

static struct rank {
	ncclComm_t comm;
	cudaStream_t compute, reduce;
	cudaEvent_t ready[EACH], done;
	float *data[EACH];
} ranks[RANKS];

static struct sim_nccl_span spans[RANKS * (STEPS + 1) * EACH];
static size_t n_spans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const struct sim_nccl_span *span)
{
	pthread_mutex_lock(&lock);
	if (n_spans < sizeof(spans) / sizeof(spans[0]))
		spans[n_spans++] = *span;
	pthread_mutex_unlock(&lock);
}

static double option(int argc, char **argv, const char *name)
{
	for (int i = 3; i < argc; i++)
		if (strncmp(argv[i], name, strlen(name)) == 0)
			return atof(argv[i] + strlen(name));
	return 0;
}

static void make_rank(int i)
{
	struct rank *r = &ranks[i];
	static float ones[COUNT];

	for (int k = 0; k < COUNT; k++)
		ones[k] = 1;
	simNcclRank(i, i);
	MUST(cudaSetDevice(i) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&r->compute, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaStreamCreateWithFlags(&r->reduce, cudaStreamNonBlocking) == cudaSuccess);
	MUST(cudaEventCreateWithFlags(&r->done, cudaEventDisableTiming) == cudaSuccess);
	for (int k = 0; k < EACH; k++) {
		MUST(cudaEventCreateWithFlags(&r->ready[k], cudaEventDisableTiming) == cudaSuccess);
		MUST(cudaMalloc((void **)&r->data[k], sizeof(ones)) == cudaSuccess);
		MUST(cudaMemcpy(r->data[k], ones, sizeof(ones), cudaMemcpyHostToDevice) ==
		     cudaSuccess);
	}
}

/* Backward as DDP does it: what is computed first is reduced while the rest is computed. */
static void step(struct rank *r, int device)
{
	MUST(cudaSetDevice(device) == cudaSuccess);
	for (int k = 0; k < EACH; k++) {
		MUST(simCompute(r->compute, MS) == CUDA_SUCCESS);
		MUST(cudaEventRecord(r->ready[k], r->compute) == cudaSuccess);
		MUST(cudaStreamWaitEvent(r->reduce, r->ready[k], 0) == cudaSuccess);
		MUST(ncclAllReduce(r->data[k], r->data[k], COUNT, ncclFloat32, ncclAvg, r->comm,
				   r->reduce) == ncclSuccess);
	}
	MUST(cudaEventRecord(r->done, r->reduce) == cudaSuccess);
	MUST(cudaStreamWaitEvent(r->compute, r->done, 0) == cudaSuccess);
}

static int by_rank(const void *a, const void *b)
{
	const struct sim_nccl_span *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->launch < y->launch ? -1 : x->launch > y->launch;
}

static void write_spans(const char *path)
{
	FILE *out = fopen(path, "we");
	uint64_t zero;

	MUST(out && n_spans == sizeof(spans) / sizeof(spans[0]));
	qsort(spans, n_spans, sizeof(spans[0]), by_rank);
	zero = spans[FIRST].end_ns;
	for (size_t i = 0; i < n_spans; i++)
		if (spans[i].launch > FIRST)
			fprintf(out, "%d %llu %lld %lld\n", spans[i].rank,
				(unsigned long long)spans[i].launch,
				(long long)(spans[i].start_ns - zero),
				(long long)(spans[i].end_ns - zero));
	MUST(fclose(out) == 0);
}

int main(int argc, char **argv)
{
	/* so that 64 KiB take about 0.9 ms */
	struct sim_links links = { .alpha_ns = 8000,
				   .hop_ns = 500,
				   .node_Bps = 75000000,
				   .net_Bps = 75000000,
				   .seed = 1 };
	ncclComm_t comms[RANKS];
	uint64_t until;
	float sum;

	MUST(argc >= 3);
	links.end_skew_ns = (uint64_t)(option(argc, argv, "skew=") * 1e3);
	simNcclLinks(&links);
	simNcclOnKernel(note);
	for (int i = 0; i < RANKS; i++)
		make_rank(i);
	MUST(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess);
	for (int i = 0; i < RANKS; i++) {
		ranks[i].comm = comms[i];
		step(&ranks[i], i);
	}
	simSleepUntil(simNow() + 300 * (uint64_t)MS); /* as if data were loaded */
	until = simNow() + (uint64_t)(atof(argv[2]) * MS);
	for (int i = 0; i < RANKS; i++) {
		simPause(i, atof(argv[2]));
		simStarve(i, option(argc, argv, "starve="));
	}
	for (int s = 0; s < STEPS; s++) {
		if (s == 5)
			simHoldDriver(option(argc, argv, "lock="));
		for (int i = 0; i < RANKS; i++)
			step(&ranks[i], i);
	}
	if (simNow() >= until)
		return 9;
	for (int i = 0; i < RANKS; i++) {
		MUST(cudaSetDevice(i) == cudaSuccess);
		MUST(cudaDeviceSynchronize() == cudaSuccess);
		MUST(cudaMemcpy(&sum, ranks[i].data[0], sizeof(sum), cudaMemcpyDeviceToHost) ==
		     cudaSuccess);
		printf("%g\n", (double)sum);
	}
	write_spans(argv[1]);
	return 0;
}
