/* SPDX-License-Identifier: Apache-2.0 */
/* sim_copies_user.c — a library that is linked with a copy of NCCL, as an extension module is, and
 * calls it for others. */
#include "tests/e2e/sim_copies.h"

/* No jumps: the caller is known by its return address. */
#define PASS(call)                                                                                 \
	ncclResult_t result = call;                                                                \
	__asm__ volatile("");                                                                      \
	return result

static ncclResult_t get_id(ncclUniqueId *id)
{
	PASS(ncclGetUniqueId(id));
}

static ncclResult_t init_all(ncclComm_t *comms, int n, const int *devices)
{
	PASS(ncclCommInitAll(comms, n, devices));
}

static ncclResult_t start(void)
{
	PASS(ncclGroupStart());
}

static ncclResult_t end(void)
{
	PASS(ncclGroupEnd());
}

static ncclResult_t all_reduce(const void *send, void *recv, size_t count, ncclDataType_t type,
			       ncclRedOp_t redop, ncclComm_t comm, cudaStream_t stream)
{
	PASS(ncclAllReduce(send, recv, count, type, redop, comm, stream));
}

static ncclResult_t destroy(ncclComm_t comm)
{
	PASS(ncclCommDestroy(comm));
}

const struct sim_copies_calls *sim_copies_own(void)
{
	static const struct sim_copies_calls own = {
		get_id, init_all, start, end, all_reduce, destroy, simNcclOnKernel,
	};

	return &own;
}
