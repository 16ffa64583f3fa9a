/* SPDX-License-Identifier: Apache-2.0 */
/* quiet_user.c — a library by the name of libnccl.so that calls the CUDA runtime for itself. */
#include "interpose/abi/cudart.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC cudaError_t quiet_record(cudaEvent_t event, cudaStream_t stream);
PUBLIC cudaError_t quiet_wait(cudaStream_t stream, cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);

cudaError_t quiet_record(cudaEvent_t event, cudaStream_t stream)
{
	cudaError_t result = cudaEventRecord(event, stream);

	__asm__ volatile(""); /* no jump: the caller is known by its return address */
	return result;
}

cudaError_t quiet_wait(cudaStream_t stream, cudaEvent_t event)
{
	cudaError_t result = cudaStreamWaitEvent(stream, event, 0);

	__asm__ volatile("");
	return result;
}
