/* SPDX-License-Identifier: Apache-2.0 */
/* late_shim.c — a preload behind the tracer's that makes its thread stand still where a busy
 * machine may: between what the tracer puts on a stream and the launch, or between the launch and
 * what it puts there next. Turn by turn: before, after, both, not at all. */
#include <dlfcn.h>
#include <time.h>

#include "interpose/abi/nccl.h"

#define PUBLIC __attribute__((visibility("default")))
#define MS 1000000

PUBLIC ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
				  ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream);
PUBLIC ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count,
				      ncclDataType_t type, ncclRedOp_t redop, ncclComm_t comm,
				      cudaStream_t stream);
PUBLIC ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
				  ncclComm_t comm, cudaStream_t stream);
PUBLIC ncclResult_t ncclGroupEnd(void);

static __thread unsigned turn;

static void stand_still(int is_it)
{
	const struct timespec ms = { .tv_nsec = 4 * MS };

	if (is_it)
		nanosleep(&ms, NULL);
}

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
#define LATE(call)                                                                                 \
	do {                                                                                       \
		unsigned mine = turn++ % 4;                                                        \
		ncclResult_t result;                                                               \
                                                                                                   \
		stand_still(mine == 0 || mine == 2);                                               \
		result = call;                                                                     \
		stand_still(mine == 1 || mine == 2);                                               \
		return result;                                                                     \
	} while (0)

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
			   ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream)
{
	LATE(NEXT(ncclAllReduce)(send, recv, count, type, redop, comm, stream));
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count, ncclDataType_t type,
			       ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream)
{
	LATE(NEXT(ncclReduceScatter)(send, recv, count, type, redop, comm, stream));
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
			   ncclComm_t comm, cudaStream_t stream)
{
	LATE(NEXT(ncclAllGather)(send, recv, count, type, comm, stream));
}

ncclResult_t ncclGroupEnd(void)
{
	LATE(NEXT(ncclGroupEnd)());
}
