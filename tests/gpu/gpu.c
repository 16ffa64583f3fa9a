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

/* A simulated driver computes instead; a real one compiles this for what it runs on. */
static const char spin_ptx[] = ".version 6.0\n"
			       ".target sm_50\n"
			       ".address_size 64\n"
			       ".visible .entry spin(.param .u64 ns)\n"
			       "{\n"
			       ".reg .u64 %begin, %now, %spent, %ns;\n"
			       ".reg .pred %over;\n"
			       "ld.param.u64 %ns, [ns];\n"
			       "mov.u64 %begin, %globaltimer;\n"
			       "again:\n"
			       "mov.u64 %now, %globaltimer;\n"
			       "sub.u64 %spent, %now, %begin;\n"
			       "setp.lt.u64 %over, %spent, %ns;\n"
			       "@%over bra again;\n"
			       "ret;\n"
			       "}\n";

static void *cuda;

void gpu_spin(CUstream stream, double ns)
{
	static CUresult (*compute)(CUstream stream, uint64_t ns);
	static CUresult (*load)(void **module, const void *image);
	static CUresult (*find)(void **kernel, void *module, const char *name);
	static CUresult (*launch)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				  unsigned by, unsigned bz, unsigned shared, CUstream stream,
				  void **args, void **extra);
	static void *kernel;
	uint64_t for_ns = (uint64_t)ns;
	void *args[] = { &for_ns }, *module;

	if (!launch && !compute) {
		*(void **)&compute = dlsym(cuda, "simCompute");
		if (!compute) {
			*(void **)&load = function(cuda, "cuModuleLoadData");
			*(void **)&find = function(cuda, "cuModuleGetFunction");
			*(void **)&launch = function(cuda, "cuLaunchKernel");
			gpu_must("cuModuleLoadData", (int)load(&module, spin_ptx));
			gpu_must("cuModuleGetFunction", (int)find(&kernel, module, "spin"));
		}
	}
	if (compute)
		gpu_must("simCompute", (int)compute(stream, for_ns));
	else
		gpu_must("cuLaunchKernel",
			 (int)launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
}

void gpu_open(const char *nccl)
{
	CUdevice device;

	cuda = library("libcuda.so.1");

#define X(name, params) gpu.name = (CUresult(*) params)function(cuda, #name);
	GPU_CUDA(X)
#undef X
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&gpu.context, device));
	MUST(cuCtxSetCurrent(gpu.context));
	if (!nccl)
		return;
	gpu_open_nccl(nccl);
}

void gpu_open_nccl(const char *nccl)
{
	void *handle = library(nccl);

#define X(name, params) gpu.name = (ncclResult_t(*) params)function(handle, #name);
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
