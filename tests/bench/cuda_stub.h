/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_stub.h — the calls that the calling thread has made to the CUDA stub, of those on the path
 * of a launch. */
#ifndef CT_TESTS_BENCH_CUDA_STUB_H
#define CT_TESTS_BENCH_CUDA_STUB_H

#include <stdint.h>

#include "interpose/abi/cuda.h"

struct cuda_stub_calls {
	uint64_t ctx_get_current;
	uint64_t stream_is_capturing;
	uint64_t event_record;
};
extern __thread struct cuda_stub_calls cuda_stub_calls __attribute__((visibility("default")));

CUresult cuCtxGetCurrent(CUcontext *ctx);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUresult cuEventRecord(CUevent event, CUstream stream);

#endif
