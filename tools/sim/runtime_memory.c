/* SPDX-License-Identifier: Apache-2.0 */
/* runtime_memory.c — memory and copies of the runtime. */
#include <stdint.h>
#include <string.h>

#include "tools/sim/runtime.h"

static CUdeviceptr device(const void *p)
{
	return (CUdeviceptr)(uintptr_t)p;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
	CUdeviceptr memory = 0;
	CUresult result = sim_runtime_begin();

	if (!result && bytes)
		result = cuMemAlloc_v2(p ? &memory : NULL, bytes);
	if (!result && p)
		*p = (void *)(uintptr_t)memory;
	return sim_runtime_end(result);
}

/* cudaFree(NULL) is what programs call to have a context. */
cudaError_t cudaFree(void *p)
{
	SIM_FORWARD(p ? cuMemFree_v2(device(p)) : CUDA_SUCCESS);
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
	SIM_FORWARD(cuMemHostAlloc(p, bytes, 0));
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned int flags)
{
	SIM_FORWARD(cuMemHostAlloc(p, bytes, flags));
}

cudaError_t cudaFreeHost(void *p)
{
	SIM_FORWARD(p ? cuMemFreeHost(p) : CUDA_SUCCESS);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SIM_FORWARD(cuMemcpyHtoD_v2(device(to), from, bytes));
	case cudaMemcpyDeviceToHost:
		SIM_FORWARD(cuMemcpyDtoH_v2(to, device(from), bytes));
	case cudaMemcpyDeviceToDevice:
		SIM_FORWARD(cuMemcpyDtoD_v2(device(to), device(from), bytes));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		SIM_FORWARD(cuMemcpy(device(to), device(from), bytes));
	}
	simBlame(__func__, "no such direction");
	return sim_runtime_end((CUresult)cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		SIM_FORWARD(cuMemcpyHtoDAsync_v2(device(to), from, bytes, stream));
	case cudaMemcpyDeviceToHost:
		SIM_FORWARD(cuMemcpyDtoHAsync_v2(to, device(from), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		SIM_FORWARD(cuMemcpyDtoDAsync_v2(device(to), device(from), bytes, stream));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		SIM_FORWARD(cuMemcpyAsync(device(to), device(from), bytes, stream));
	}
	simBlame(__func__, "no such direction");
	return sim_runtime_end((CUresult)cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	SIM_FORWARD(cuMemsetD8_v2(device(to), (unsigned char)value, bytes));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	SIM_FORWARD(cuMemsetD8Async(device(to), (unsigned char)value, bytes, stream));
}
