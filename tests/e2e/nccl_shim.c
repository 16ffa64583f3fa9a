/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_shim.c — another preload that wraps NCCL: it writes each call that reaches it to the file
 * NCCL_SHIM_LOG and forwards it to the next definition, as such libraries do. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/abi/nccl.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
PUBLIC ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank);
PUBLIC ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
				  ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream);

static void note(const char *call, const ncclUniqueId *id)
{
	const char *path = getenv("NCCL_SHIM_LOG");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fputs(call, file);
	for (int i = 0; id && i < NCCL_UNIQUE_ID_BYTES; i++)
		fprintf(file, "%s%02x", i ? "" : " ", (unsigned char)id->internal[i]);
	fputs("\n", file);
	fclose(file);
}

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	ncclResult_t result = NEXT(ncclGetUniqueId)(id);

	note("id", id);
	return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank)
{
	note("init", &id);
	return NEXT(ncclCommInitRank)(comm, nranks, id, rank);
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
			   ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream)
{
	note("allreduce", NULL);
	return NEXT(ncclAllReduce)(send, recv, count, type, redop, comm, stream);
}
