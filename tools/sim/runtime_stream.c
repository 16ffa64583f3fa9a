/* SPDX-License-Identifier: Apache-2.0 */
/* runtime_stream.c — streams and events of the runtime: the driver's own. */
#include "tools/sim/runtime.h"

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	SIM_FORWARD(cuStreamCreate(stream, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	SIM_FORWARD(cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	SIM_FORWARD(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	SIM_FORWARD(cuStreamDestroy_v2(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	SIM_FORWARD(cuStreamQuery(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	SIM_FORWARD(cuStreamSynchronize(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	SIM_FORWARD(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
	SIM_FORWARD(cuStreamGetFlags(stream, flags));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	SIM_FORWARD(cuStreamGetPriority(stream, priority));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	CUstreamCaptureStatus driver_status;
	CUresult result = sim_runtime_begin();

	if (!result)
		result = cuStreamIsCapturing(stream, status ? &driver_status : NULL);
	if (!result)
		*status = (enum cudaStreamCaptureStatus)driver_status;
	return sim_runtime_end(result);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *arg)
{
	SIM_FORWARD(cuLaunchHostFunc(stream, function, arg));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	SIM_FORWARD(cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	SIM_FORWARD(cuEventCreate(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	SIM_FORWARD(cuEventDestroy_v2(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	SIM_FORWARD(cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	SIM_FORWARD(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	SIM_FORWARD(cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	SIM_FORWARD(cuEventSynchronize(event));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	SIM_FORWARD(cuEventElapsedTime_v2(ms, start, end));
}
