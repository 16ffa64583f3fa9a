/* SPDX-License-Identifier: Apache-2.0 */
/* unseen_part.c — objects that hold, or seem to hold, something that passes a preload unseen; PART
 * says which. */
#include <dlfcn.h>

#include "interpose/abi/nccl.h"

#define PUBLIC __attribute__((visibility("default")))
#define KEPT __attribute__((used))

#define HIDDEN 1	/* a copy of NCCL without its symbols */
#define EXPORTED 2	/* a copy with them; linked with -Bsymbolic or without */
#define USER 3		/* calls NCCL */
#define STATIC_CUDART 4 /* so does this one, with a CUDA runtime of its own */
#define DEVICE_API 5
#define UCX_USER 6
#define NOTHING 7

#if PART == HIDDEN || PART == EXPORTED
/* what every copy has and needs */
KEPT static const char version[] = "NCCL version 2.99.1+cuda13.0";
KEPT static void *(*const look)(void *, const char *, const char *) = dlvsym;
#endif

#if PART == HIDDEN
PUBLIC int train_with_nccl(void);
PUBLIC int train_with_nccl(void)
{
	return version[0];
}
#endif

#if PART == EXPORTED
PUBLIC ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
				  ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream);
PUBLIC ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
				  ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream)
{
	(void)send, (void)recv, (void)count, (void)type, (void)redop, (void)comm, (void)stream;
	return (ncclResult_t)version[0];
}
#endif

#if PART == EXPORTED || PART == USER || PART == STATIC_CUDART
extern ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
				  ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream);
PUBLIC int train(void);
PUBLIC int train(void)
{
	return ncclAllReduce(0, 0, 0, ncclInt8, ncclSum, 0, 0);
}
#endif

#if PART == STATIC_CUDART
KEPT static const char cudart[] = "cudaErrorStartupFailure";
#elif PART == USER
extern int cudaStreamSynchronize(cudaStream_t stream);
PUBLIC int wait_for(cudaStream_t stream);
PUBLIC int wait_for(cudaStream_t stream)
{
	return cudaStreamSynchronize(stream);
}
#endif

#if PART == DEVICE_API
extern int ncclDevCommCreate(void *comm);
PUBLIC int make(void *comm);
PUBLIC int make(void *comm)
{
	return ncclDevCommCreate(comm);
}
#endif

#if PART == UCX_USER
extern int ucp_worker_create(void *context);
PUBLIC int make_worker(void *context);
PUBLIC int make_worker(void *context)
{
	return ucp_worker_create(context);
}
#endif
#if PART == NOTHING
PUBLIC int nothing(void);
PUBLIC int nothing(void)
{
	return 0;
}
#endif
