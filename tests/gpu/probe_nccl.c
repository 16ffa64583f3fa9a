/* SPDX-License-Identifier: Apache-2.0 */
/* One rank of a job that all-reduces: small ones, for the cost of a call and the latency of a
 * launch, and one of each of several sizes, whose sums stand in the checksum. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/gpu/gpu.h"

enum { SMALL = 256, AT_ONCE = 32, LARGEST = 1 << 20, MOST_OPS = 4096 };

static void nap_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* From rank 0 to the others. */
static ncclUniqueId share_id(const struct gpu_job *job)
{
	ncclUniqueId id;
	char part[4096];
	FILE *file;

	if (job->rank == 0) {
		MUST(ncclGetUniqueId(&id));
		snprintf(part, sizeof(part), "%s.part", job->id);
		file = fopen(part, "w");
		if (!file || fwrite(&id, sizeof(id), 1, file) != 1 || fclose(file) ||
		    rename(part, job->id)) {
			perror(job->id);
			exit(1);
		}
		return id;
	}
	for (int i = 0; i < 600; i++, nap_ms(100)) {
		file = fopen(job->id, "r");
		if (!file)
			continue;
		if (fread(&id, sizeof(id), 1, file) == 1) {
			fclose(file);
			return id;
		}
		fclose(file);
	}
	fprintf(stderr, "gpu_probe: %s: rank 0 left no id within a minute\n", job->id);
	exit(1);
}

static void wait_for(ncclComm_t comm)
{
	ncclResult_t state = ncclInProgress;

	while (state == ncclInProgress) {
		MUST(ncclCommGetAsyncError(comm, &state));
		if (state == ncclInProgress)
			sched_yield();
	}
	gpu_must("the communicator", (int)state);
}

/* A nonblocking communicator answers that it is not done yet. */
static void must_begin(const char *call, ncclComm_t comm, ncclResult_t result)
{
	if (result == ncclInProgress)
		wait_for(comm);
	else
		gpu_must(call, (int)result);
}

ncclComm_t gpu_comm_open(const struct gpu_job *job)
{
	ncclUniqueId id = share_id(job);
	ncclComm_t comm = NULL, child = NULL;
	ncclConfig_t config = {
		.magic = NCCL_CONFIG_MAGIC,
		.blocking = job->how != GPU_NONBLOCKING,
	};
	int version;

	/* what NCCL_CONFIG_INITIALIZER says, as far as 2.18 knows it: later members keep their
	 * defaults */
	MUST(ncclGetVersion(&version));
	config.size = offsetof(ncclConfig_t, trafficClass);
	config.version = 21800;
	config.cgaClusterSize = config.minCTAs = config.maxCTAs = NCCL_CONFIG_UNDEF_INT;
	config.splitShare = NCCL_CONFIG_UNDEF_INT;
	gpu_figure("nccl_version", version, "-");
	must_begin("ncclCommInitRankConfig", comm,
		   gpu.ncclCommInitRankConfig(&comm, job->ranks, id, job->rank, &config));
	if (job->how == GPU_NONBLOCKING)
		wait_for(comm);
	if (job->how != GPU_SPLIT)
		return comm;
	MUST(ncclCommSplit(comm, 7, job->ranks - job->rank, &child, NULL));
	return child;
}

void gpu_comm_close(const struct gpu_job *job, ncclComm_t comm)
{
	must_begin("ncclCommFinalize", comm, gpu.ncclCommFinalize(comm));
	if (job->how == GPU_NONBLOCKING)
		wait_for(comm);
	MUST(ncclCommDestroy(comm));
}

static void all_reduce(const struct gpu_job *job, ncclComm_t comm, CUdeviceptr send,
		       CUdeviceptr recv, size_t count, CUstream stream)
{
	if (job->how == GPU_GROUP)
		MUST(ncclGroupStart());
	for (int i = 0; i < (job->how == GPU_GROUP ? 2 : 1); i++)
		must_begin("ncclAllReduce", comm,
			   gpu.ncclAllReduce((const void *)(uintptr_t)send, (void *)(uintptr_t)recv,
					     count, ncclFloat32, ncclSum, comm, stream));
	if (job->how == GPU_GROUP)
		must_begin("ncclGroupEnd", comm, gpu.ncclGroupEnd());
}

static void measure(const struct gpu_job *job, ncclComm_t comm, CUdeviceptr send, CUdeviceptr recv,
		    CUstream stream)
{
	static double call[MOST_OPS], whole[MOST_OPS];
	int ops = job->ops < MOST_OPS ? job->ops : MOST_OPS;

	for (int i = 0; i < ops; i++) {
		double begin = gpu_clock_ns();

		all_reduce(job, comm, send, recv, SMALL, stream);
		call[i] = gpu_clock_ns() - begin;
		if (i % AT_ONCE == 0)
			MUST(cuStreamSynchronize(stream));
	}
	MUST(cuStreamSynchronize(stream));
	for (int i = 0; i < ops; i++) {
		double begin = gpu_clock_ns();

		all_reduce(job, comm, send, recv, SMALL, stream);
		MUST(cuStreamSynchronize(stream));
		whole[i] = gpu_clock_ns() - begin;
	}
	gpu_figure("call", gpu_median(call, ops) / 1e3, "us");
	gpu_figure("latency", gpu_median(whole, ops) / 1e3, "us");
}

static uint64_t sums(const struct gpu_job *job, ncclComm_t comm, CUdeviceptr send, CUdeviceptr recv,
		     CUstream stream)
{
	static float values[LARGEST];
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t count = 1; count <= LARGEST; count *= 16) {
		for (size_t i = 0; i < count; i++)
			values[i] = (float)(i % 1000) + (float)job->rank;
		MUST(cuMemcpyHtoD_v2(send, values, count * sizeof(*values)));
		all_reduce(job, comm, send, recv, count, stream);
		MUST(cuStreamSynchronize(stream));
		MUST(cuMemcpyDtoH_v2(values, recv, count * sizeof(*values)));
		for (size_t i = 0; i < count * sizeof(*values); i++)
			hash = (hash ^ ((const uint8_t *)values)[i]) * 1099511628211u;
	}
	return hash;
}

int gpu_probe_nccl(const struct gpu_job *job)
{
	CUdeviceptr send, recv;
	CUstream stream;
	ncclComm_t comm;

	gpu_open(job->nccl);
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	MUST(cuMemAlloc_v2(&send, LARGEST * sizeof(float)));
	MUST(cuMemAlloc_v2(&recv, LARGEST * sizeof(float)));
	comm = gpu_comm_open(job);
	printf("checksum=%016llx\n", (unsigned long long)sums(job, comm, send, recv, stream));
	measure(job, comm, send, recv, stream);
	gpu_comm_close(job, comm);
	return 0;
}
