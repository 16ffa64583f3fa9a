/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h — the CUDA driver's public types, declared by ourselves: the library is built the same way
 * with and without the CUDA Toolkit. Facts of the interface only; never included beside the real
 * cuda.h. Where that is found, abi_check.c proves numbers and prototypes against it. A runtime
 * stream is a driver stream: same handle.
 */
#ifndef CT_INTERPOSE_ABI_CUDA_H
#define CT_INTERPOSE_ABI_CUDA_H

typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef CUstream cudaStream_t;

/* Never read here. */
struct CUgraphEdgeData_st;
struct CUDA_GRAPH_INSTANTIATE_PARAMS_st;
struct CUgraphExecUpdateResultInfo_st;

typedef enum {
#define CUDA_RESULT(name, value) name = (value),
#include "interpose/abi/cuda_values.def"
} CUresult;

enum {
#define CUDA_NUMBER(name, value) name = (value),
#include "interpose/abi/cuda_values.def"
};
typedef unsigned int CUstreamCaptureStatus;
typedef unsigned int CUstreamCaptureMode;
typedef unsigned int CUdevice_attribute;
typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;

/* Handles that are not pointers: 0 is the legacy default stream, like the first; the second is each
 * thread's own. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

#endif
