/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose lives are hard on a tracer: one that ends while the GPU works, one that resets its
 * device, one that captures. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/gpu/gpu.h"

enum { COUNT = 256, AT_ONCE = 8, REPLAYS = 200 };

static CUdeviceptr buffer;
static CUstream stream;

static void make(void)
{
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	MUST(cuMemAlloc_v2(&buffer, COUNT * sizeof(float)));
}

static void fill(float value)
{
	float values[COUNT];

	for (int i = 0; i < COUNT; i++)
		values[i] = value;
	MUST(cuMemcpyHtoD_v2(buffer, values, sizeof(values)));
}

static float first(void)
{
	float value;

	MUST(cuStreamSynchronize(stream));
	MUST(cuMemcpyDtoH_v2(&value, buffer, sizeof(value)));
	return value;
}

static void all_reduce(ncclComm_t comm)
{
	void *p = (void *)(uintptr_t)buffer;

	/* of many values the greatest: as often as one likes */
	MUST(ncclAllReduce(p, p, COUNT, ncclFloat32, ncclMax, comm, stream));
}

/* Recording starts before CUDA does, and nothing is waited for at the end. */
static int exit_early(const struct gpu_job *job)
{
	ncclUniqueId unused;
	ncclComm_t comm;

	gpu_open_nccl(job->nccl);
	MUST(ncclGetUniqueId(&unused));
	gpu_open(NULL);
	make();
	comm = gpu_comm_open(job);
	for (int i = 0; i < job->ops; i++)
		all_reduce(comm);
	return 0;
}

static int reset(const struct gpu_job *job)
{
	CUdevice device;

	gpu_open(job->nccl);
	MUST(cuDeviceGet(&device, 0));
	for (int i = 0; i < job->ops; i++) {
		ncclComm_t comm;

		make();
		fill(1);
		comm = gpu_comm_open(job);
		for (int k = 0; k < 100; k++)
			all_reduce(comm);
		MUST(cuStreamSynchronize(stream));
		gpu_comm_close(job, comm);
		unlink(job->id);
		/* the tracer has looked at some of these launches, not at all */
		MUST(cuDevicePrimaryCtxReset_v2(device));
		MUST(cuDevicePrimaryCtxRetain(&gpu.context, device));
		MUST(cuCtxSetCurrent(gpu.context));
	}
	gpu_figure("resets", job->ops, "-");
	return 0;
}

static CUgraphExec capture(ncclComm_t comm, CUstreamCaptureMode mode)
{
	CUgraphExec exec;
	CUgraph graph;

	MUST(cuStreamBeginCapture_v2(stream, mode));
	for (int i = 0; i < AT_ONCE; i++)
		all_reduce(comm);
	MUST(cuStreamEndCapture(stream, &graph));
	MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(cuGraphDestroy(graph));
	return exec;
}

static int captures(const struct gpu_job *job)
{
	static const CUstreamCaptureMode modes[] = { CU_STREAM_CAPTURE_MODE_GLOBAL,
						     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
						     CU_STREAM_CAPTURE_MODE_RELAXED };
	ncclComm_t comm;

	gpu_open(job->nccl);
	make();
	fill((float)job->rank);
	comm = gpu_comm_open(job);
	all_reduce(comm); /* connections cannot be made in a capture */
	MUST(cuStreamSynchronize(stream));
	for (int i = 0; i < 3 * job->ops; i++) {
		CUgraphExec exec = capture(comm, modes[i % 3]);

		all_reduce(comm);
		MUST(cuGraphLaunch(exec, stream));
		MUST(cuStreamSynchronize(stream));
		MUST(cuGraphExecDestroy(exec));
	}
	printf("checksum=%08x\n", (unsigned)first());
	gpu_figure("captures", 3 * job->ops, "-");
	gpu_comm_close(job, comm);
	return 0;
}

static int replays(const struct gpu_job *job)
{
	static double ns[REPLAYS];
	CUgraphExec exec;
	ncclComm_t comm;

	gpu_open(job->nccl);
	make();
	fill((float)job->rank);
	comm = gpu_comm_open(job);
	all_reduce(comm);
	MUST(cuStreamSynchronize(stream));
	exec = capture(comm, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	for (int i = 0; i < REPLAYS; i++) {
		double begin = gpu_clock_ns();

		MUST(cuGraphLaunch(exec, stream));
		MUST(cuStreamSynchronize(stream));
		ns[i] = gpu_clock_ns() - begin;
	}
	printf("checksum=%08x\n", (unsigned)first());
	gpu_figure("replay", gpu_median(ns, REPLAYS) / 1e3, "us");
	MUST(cuGraphExecDestroy(exec));
	gpu_comm_close(job, comm);
	return 0;
}

int gpu_probe_life(const struct gpu_job *job)
{
	switch (job->what) {
	case GPU_EXIT:
		return exit_early(job);
	case GPU_RESET:
		return reset(job);
	case GPU_CAPTURE:
		return captures(job);
	case GPU_REPLAY:
		return replays(job);
	default:
		return 2;
	}
}
