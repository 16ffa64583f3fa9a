/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.h — the CUDA runtime's public types, declared by ourselves like the driver's in cuda.h.
 * Never included beside the real cuda_runtime_api.h, nor beside the simulator's; abi_check.c proves
 * it against the real one where that is found. An event of the runtime is one of the driver: same
 * handle.
 */
#ifndef CT_INTERPOSE_ABI_CUDART_H
#define CT_INTERPOSE_ABI_CUDART_H

#include "interpose/abi/cuda.h"

typedef CUevent cudaEvent_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUgraphNode cudaGraphNode_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0 };
struct cudaGraphEdgeData_st;
struct cudaGraphInstantiateParams_st;
struct cudaGraphExecUpdateResultInfo_st;

/* Results are only handed on; these are the ones that have a meaning here. */
typedef enum {
#define CUDART_RESULT(name, value) name = (value),
#include "interpose/abi/cudart_values.def"
} cudaError_t;

#endif
