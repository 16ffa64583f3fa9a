/* SPDX-License-Identifier: Apache-2.0 */
/* cudart_stub.h — what the CUDA runtime stub has. */
#ifndef CT_TESTS_BENCH_CUDART_STUB_H
#define CT_TESTS_BENCH_CUDART_STUB_H

#include "interpose/abi/cudart.h"

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);

#endif
