/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_stub.c — a libcuda with the functions that the tracer calls, which do nothing but count: a
 * device on which all is over at once. */
#include "tests/bench/cuda_stub.h"

#include <errno.h>
#include <stdatomic.h>

static atomic_ullong ticks;
__thread struct cuda_stub_calls cuda_stub_calls;

#define DEFINE __attribute__((visibility("default"))) CUresult
#define CUDA_CALL(field, symbol, params) DEFINE symbol params;
#include "interpose/abi/cuda_calls.def"

#define CONTEXT ((CUcontext)0x100)

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	cuda_stub_calls.ctx_get_current++;
	*ctx = CONTEXT;
	return CUDA_SUCCESS;
}

/* A driver may open files: it leaves errno as it likes. */
CUresult cuCtxGetDevice(CUdevice *device)
{
	errno = EIO;
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	(void)ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	*ctx = CONTEXT;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	(void)flags;
	*stream = (CUstream)0x200;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *ctx)
{
	(void)stream;
	*ctx = CONTEXT;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	(void)stream;
	cuda_stub_calls.stream_is_capturing++;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	*event = (CUevent)(0x1000 + 16 * atomic_fetch_add(&ticks, 1));
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	(void)event;
	(void)stream;
	cuda_stub_calls.event_record++;
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event)
{
	(void)event;
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	(void)start;
	(void)end;
	*ms = 0.001f;
	return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	*mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	return CUDA_SUCCESS;
}
