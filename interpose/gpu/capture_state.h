/* SPDX-License-Identifier: Apache-2.0 */
/* capture_state.h — CUDA as a launch finds it, and what it says of a stream: the part of time.h
 * that comes before a span. Called with the guard held, on the thread that launches; nothing here
 * allocates, and nothing is created but the poll thread, once. */
#ifndef CT_INTERPOSE_GPU_CAPTURE_STATE_H
#define CT_INTERPOSE_GPU_CAPTURE_STATE_H

#include "interpose/gpu/choice/launch.h"
#include "interpose/gpu/driver/cuda.h"

/* CUDA has not been looked for yet. Before the gate opens. */
void ct_gpu_capture_state_init(void);

/* CUDA, looked for at the first launch. NULL: there is none. */
const struct ct_cuda *ct_gpu_cuda(void);

/* CUDA and the poll thread, which come with the first launch that finds them. NULL: there are none,
 * or none any more. */
const struct ct_cuda *ct_gpu_cuda_start(void);

/* What events recorded now would end in: a captured event is the graph's, it cannot be asked. While
 * another stream is captured the legacy stream cannot even be asked whether it is; then nothing is
 * done to it either. */
static inline enum ct_gpu_capture ct_gpu_capture_state_now(const struct ct_cuda *cuda,
							   CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if (__builtin_expect(cuda->stream_is_capturing(stream, &status) != CUDA_SUCCESS, 0))
		return CT_GPU_UNKNOWN;
	return __builtin_expect(status == CU_STREAM_CAPTURE_STATUS_NONE, 1) ? CT_GPU_FREE
									    : CT_GPU_CAPTURED;
}

/* Is the stream being captured? `device` as in struct ct_gpu_launch. Without timing it is queried
 * only if the process is known to capture at all. *current is the thread's context if that became
 * known, else NULL. */
enum ct_gpu_capture ct_gpu_capture_state(CUstream stream, uint32_t device, CUcontext *current);

#endif
