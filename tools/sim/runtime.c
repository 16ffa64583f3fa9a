/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c — errors and devices of the runtime. */
#include "tools/sim/runtime.h"

static __thread cudaError_t last;
static __thread int chosen;    /* device */
static __thread CUcontext own; /* its primary context, as this thread made it current */

static const struct {
	cudaError_t error;
	const char *name, *sentence;
} errors[] = {
#define SIM_ERROR(driver, runtime, value, sentence) { runtime, #runtime, sentence },
#define RUNTIME_ERROR(runtime, value, sentence) { runtime, #runtime, sentence },
#include "tools/sim/errors.def"
};

static CUresult make_current(int device)
{
	CUcontext context;
	CUresult result = cuDevicePrimaryCtxRetain(&context, device);

	if (!result)
		result = cuCtxSetCurrent(context);
	own = result ? NULL : context;
	return result;
}

/* Was the chosen device reset since this thread made its context current? */
static CUresult look_for_reset(int *was_reset)
{
	unsigned int flags;
	int active = 0;
	CUresult result = cuDevicePrimaryCtxGetState(chosen, &flags, &active);

	*was_reset = !active;
	return result;
}

CUresult sim_runtime_begin(void)
{
	CUcontext context;
	int was_reset = 0;
	CUresult result = cuInit(0);

	if (!result)
		result = cuCtxGetCurrent(&context);
	if (!result && context && context == own)
		result = look_for_reset(&was_reset);
	if (!result && (!context || was_reset))
		result = make_current(chosen);
	return result;
}

cudaError_t sim_runtime_end(CUresult result)
{
	if (result)
		last = (cudaError_t)result;
	return (cudaError_t)result;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last;
}

/* An error of the context comes back with the next call; the others are gone. */
cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last;

	last = cudaSuccess;
	return error;
}

static size_t find(cudaError_t error)
{
	size_t i = 0;

	while (i < sizeof(errors) / sizeof(errors[0]) && errors[i].error != error)
		i++;
	return i;
}

const char *cudaGetErrorName(cudaError_t error)
{
	size_t i = find(error);

	return i < sizeof(errors) / sizeof(errors[0]) ? errors[i].name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	size_t i = find(error);

	return i < sizeof(errors) / sizeof(errors[0]) ? errors[i].sentence
						      : "unrecognized error code";
}

cudaError_t cudaDriverGetVersion(int *version)
{
	return sim_runtime_end(cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	return sim_runtime_end(cuDriverGetVersion(version));
}

cudaError_t cudaGetDeviceCount(int *count)
{
	CUresult result = cuInit(0);

	return sim_runtime_end(result ? result : cuDeviceGetCount(count));
}

cudaError_t cudaGetDevice(int *device)
{
	CUcontext context;
	CUresult result = cuInit(0);

	if (!result)
		result = cuCtxGetCurrent(&context);
	if (!result && context && context != own)
		return sim_runtime_end(cuCtxGetDevice(device));
	if (!result && !device)
		return sim_runtime_end(CUDA_ERROR_INVALID_VALUE);
	if (!result)
		*device = chosen;
	return sim_runtime_end(result);
}

cudaError_t cudaSetDevice(int device)
{
	CUresult result = cuInit(0);

	if (!result)
		result = make_current(device);
	if (!result)
		chosen = device;
	return sim_runtime_end(result);
}

cudaError_t cudaDeviceSynchronize(void)
{
	SIM_FORWARD(cuCtxSynchronize());
}

cudaError_t cudaDeviceReset(void)
{
	CUdevice device;
	CUresult result = sim_runtime_begin();

	if (!result)
		result = cuCtxGetDevice(&device);
	return sim_runtime_end(result ? result : cuDevicePrimaryCtxReset_v2(device));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
	CUresult result = cuInit(0);

	return sim_runtime_end(result ? result : cuDeviceGetPCIBusId(id, length, device));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	SIM_FORWARD(cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	CUstreamCaptureMode driver_mode = mode ? (CUstreamCaptureMode)*mode : 0;
	CUresult result = sim_runtime_begin();

	if (!result)
		result = cuThreadExchangeStreamCaptureMode(mode ? &driver_mode : NULL);
	if (!result)
		*mode = (enum cudaStreamCaptureMode)driver_mode;
	return sim_runtime_end(result);
}
