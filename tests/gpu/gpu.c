/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct gpu gpu;

static void *library(const char *name)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "gpu_probe: %s\n", dlerror());
		exit(1);
	}
	return handle;
}

static void *function(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (!found) {
		fprintf(stderr, "gpu_probe: no %s\n", name);
		exit(1);
	}
	return found;
}

void gpu_must(const char *call, int result)
{
	if (result == 0)
		return;
	fprintf(stderr, "gpu_probe: %s: result %d\n", call, result);
	exit(1);
}

void gpu_open(const char *nccl)
{
	void *cuda = library("libcuda.so.1");
	CUdevice device;

#define X(name, params) gpu.name = (CUresult(*) params)function(cuda, #name);
	GPU_CUDA(X)
#undef X
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&gpu.context, device));
	MUST(cuCtxSetCurrent(gpu.context));
	if (!nccl)
		return;
	cuda = library(nccl);
#define X(name, params) gpu.name = (ncclResult_t(*) params)function(cuda, #name);
	GPU_NCCL(X)
#undef X
}

double gpu_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double gpu_median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare);
	return values[n / 2];
}

void gpu_figure(const char *name, double value, const char *unit)
{
	printf("figure %s %.6g %s\n", name, value, unit);
}
