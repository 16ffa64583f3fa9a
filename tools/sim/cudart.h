/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.h — the CUDA runtime that the simulator has: its libcudart.so.13 exports these, and nothing
 * that it cannot do. What they do and return is CUDA's own documentation. Never included beside the
 * real cuda_runtime_api.h; where that is found, abi_check.c holds the tables against it. */
#ifndef CT_TOOLS_SIM_CUDART_H
#define CT_TOOLS_SIM_CUDART_H

#include <stddef.h>

#include "interpose/abi/cuda.h"

typedef CUevent cudaEvent_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUgraphNode cudaGraphNode_t;
struct cudaGraphEdgeData_st;
struct cudaGraphInstantiateParams_st;
struct cudaGraphExecUpdateResultInfo_st;
typedef void (*cudaHostFn_t)(void *arg);

typedef enum {
#define SIM_ERROR(driver, runtime, value, sentence) runtime = (value),
#define RUNTIME_ERROR(runtime, value, sentence) runtime = (value),
#include "tools/sim/errors.def"
} cudaError_t;

enum cudaMemcpyKind {
#define RUNTIME_COPY_KIND(name, value) name = (value),
#include "tools/sim/runtime_values.def"
};

enum cudaStreamCaptureStatus {
#define RUNTIME_CAPTURE_STATUS(name, value) name = (value),
#include "tools/sim/runtime_values.def"
};

enum cudaStreamCaptureMode {
#define RUNTIME_CAPTURE_MODE(name, value) name = (value),
#include "tools/sim/runtime_values.def"
};

enum {
#define RUNTIME_FLAG(name, value) name = (value),
#include "tools/sim/runtime_values.def"
};

#define RUNTIME_CALL(ret, name, params) __attribute__((visibility("default"))) ret name params;
#include "tools/sim/runtime_calls.def"

#endif
