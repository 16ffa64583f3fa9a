/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h — what the probe needs of the CUDA driver and of NCCL, found at run time: the program is
 * built where there is neither, and is carried to a machine that has both. */
#ifndef CT_TESTS_GPU_GPU_H
#define CT_TESTS_GPU_GPU_H

#include <stdint.h>

#include "interpose/abi/nccl.h"

typedef unsigned long long CUdeviceptr;

#define GPU_CUDA(X)                                                                                \
	X(cuInit, (unsigned flags))                                                                \
	X(cuDeviceGet, (CUdevice * device, int nth))                                               \
	X(cuDevicePrimaryCtxRetain, (CUcontext * ctx, CUdevice device))                            \
	X(cuCtxSetCurrent, (CUcontext ctx))                                                        \
	X(cuCtxGetCurrent, (CUcontext * ctx))                                                      \
	X(cuCtxGetId, (CUcontext ctx, unsigned long long *id))                                     \
	X(cuStreamCreate, (CUstream * stream, unsigned flags))                                     \
	X(cuStreamSynchronize, (CUstream stream))                                                  \
	X(cuStreamGetCtx, (CUstream stream, CUcontext * ctx))                                      \
	X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status))                  \
	X(cuEventCreate, (CUevent * event, unsigned flags))                                        \
	X(cuEventRecord, (CUevent event, CUstream stream))                                         \
	X(cuEventQuery, (CUevent event))                                                           \
	X(cuEventElapsedTime, (float *ms, CUevent start, CUevent end))                             \
	X(cuCtxSynchronize, (void))                                                                \
	X(cuDevicePrimaryCtxReset_v2, (CUdevice device))                                           \
	X(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode))                    \
	X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                  \
	X(cuGraphInstantiateWithFlags,                                                             \
	  (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                           \
	X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                      \
	X(cuGraphExecDestroy, (CUgraphExec exec))                                                  \
	X(cuGraphDestroy, (CUgraph graph))                                                         \
	X(cuMemAlloc_v2, (CUdeviceptr * p, size_t bytes))                                          \
	X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))                       \
	X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))

#define GPU_NCCL(X)                                                                                \
	X(ncclGetVersion, (int *version))                                                          \
	X(ncclGetUniqueId, (ncclUniqueId * id))                                                    \
	X(ncclCommInitRankConfig,                                                                  \
	  (ncclComm_t * comm, int nranks, ncclUniqueId id, int rank, ncclConfig_t *config))        \
	X(ncclCommSplit,                                                                           \
	  (ncclComm_t comm, int color, int key, ncclComm_t *newcomm, ncclConfig_t *config))        \
	X(ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t * error))                          \
	X(ncclCommFinalize, (ncclComm_t comm))                                                     \
	X(ncclCommDestroy, (ncclComm_t comm))                                                      \
	X(ncclGroupStart, (void))                                                                  \
	X(ncclGroupEnd, (void))                                                                    \
	X(ncclAllReduce, (const void *send, void *recv, size_t count, ncclDataType_t type,         \
			  ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream))

struct gpu {
#define X(name, params) CUresult(*name) params;
	GPU_CUDA(X)
#undef X
#define X(name, params) ncclResult_t(*name) params;
	GPU_NCCL(X)
#undef X
	CUcontext context;
};
extern struct gpu gpu;

/* The driver and its first device, current on the calling thread; with `nccl` also the library of
 * this name. Ends the program if something is missing. */
void gpu_open(const char *nccl);
void gpu_open_nccl(const char *nccl); /* NCCL alone, before CUDA */

/* Keeps a stream of the device busy for so long: a kernel of one thread. */
void gpu_spin(CUstream stream, double ns);

/* Ends the program, naming the call, unless it succeeded. */
void gpu_must(const char *call, int result);
#define MUST(call) gpu_must(#call, (int)gpu.call)

double gpu_clock_ns(void);

/* Of the n values; sorts them. */
double gpu_median(double *values, int n);

/* One line of output: `figure NAME VALUE UNIT`. */
void gpu_figure(const char *name, double value, const char *unit);

/* The commands. Each returns the exit status. */
int gpu_probe_driver(void);
int gpu_probe_context(void);
int gpu_probe_clock(double seconds, int loaded);
int gpu_probe_queues(void);
int gpu_probe_buffer(void);

enum gpu_how { GPU_PLAIN, GPU_GROUP, GPU_NONBLOCKING, GPU_SPLIT };
enum gpu_what {
	GPU_MEASURE, /* calls, their latency, and the sums of several sizes */
	GPU_EXIT,    /* the unique id before CUDA, calls without end, and the end of main() */
	GPU_RESET,   /* a communicator, a reset of the device, the next communicator */
	GPU_CAPTURE, /* captures in all modes beside eager calls */
	GPU_REPLAY,  /* a graph, launched again and again */
};
struct gpu_job {
	enum gpu_what what;
	const char *nccl; /* file name of the library */
	const char *id;	  /* file in which rank 0 leaves the unique id */
	int rank, ranks, ops;
	enum gpu_how how;
};
int gpu_probe_nccl(const struct gpu_job *job);
int gpu_probe_life(const struct gpu_job *job);

/* A communicator of the job's ranks, and its end. */
ncclComm_t gpu_comm_open(const struct gpu_job *job);
void gpu_comm_close(const struct gpu_job *job, ncclComm_t comm);

#endif
