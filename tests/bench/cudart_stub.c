/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_stub.c — a libcudart with the functions that make streams and hosts wait, which do
 * nothing. */
#include "tests/bench/cudart_stub.h"

#define DEFINE __attribute__((visibility("default"))) cudaError_t

DEFINE cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	(void)event;
	(void)stream;
	return cudaSuccess;
}

DEFINE cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	(void)stream;
	(void)event;
	(void)flags;
	return cudaSuccess;
}
