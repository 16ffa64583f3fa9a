/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/queue.h"

#include "interpose/gpu/poll_state.h"

int ct_gpu_queue_is_reached(const struct ct_cuda *cuda, struct ct_gpu_stream *stream)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUevent mark = atomic_load_explicit(&stream->marks[1], memory_order_relaxed);
	CUresult result = CUDA_ERROR_NOT_READY;

	/* another thread may capture */
	if (mark && cuda->exchange_capture_mode(&mode) == CUDA_SUCCESS) {
		result = cuda->event_query(mark);
		cuda->exchange_capture_mode(&mode);
	}
	if (result != CUDA_SUCCESS)
		ct_poll_wake();
	return result == CUDA_SUCCESS;
}
