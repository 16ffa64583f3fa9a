/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_memory.c — memory and its registration. Nothing here is faster for being registered; windows, which only make
 * sense to code on a GPU, are refused. */
#include <stdlib.h>

#include "tools/sim/nccl_api.h"
#include "tools/sim/nccl_comm.h"
#include "tools/sim/nccl_driver.h"
#include "tools/sim/nccl_log.h"

/* A registration's handle. */
struct registration {
	struct ncclComm *comm;
};

SIM_NCCL(ncclResult_t, ncclMemAlloc, (void **pointer, size_t size))
{
	const struct sim_driver *d = sim_driver();
	CUdeviceptr p = 0;

	if (!pointer || !size) {
		sim_nccl_misuse(__func__, "ptr is NULL, or nothing asked for");
		return ncclInvalidArgument;
	}
	*pointer = NULL;
	if (!d || d->cuMemAlloc_v2(&p, size))
		return ncclUnhandledCudaError;
	*pointer = (void *)(uintptr_t)p;
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclMemFree, (void *pointer))
{
	const struct sim_driver *d = sim_driver();

	if (!d)
		return ncclUnhandledCudaError;
	if (pointer && d->cuMemFree_v2((CUdeviceptr)(uintptr_t)pointer))
		return ncclUnhandledCudaError;
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclCommRegister,
	 (const ncclComm_t comm, void *buffer, size_t size, void **handle))
{
	ncclResult_t result = sim_comm_check(comm, __func__);
	struct registration *r;

	if (result)
		return result;
	if (!handle || !buffer || sim_driver()->simCheckRange(buffer, size)) {
		sim_nccl_misuse(__func__, "no handle, or a buffer outside of any allocation");
		return ncclInvalidArgument;
	}
	r = malloc(sizeof(*r));
	if (!r)
		return ncclSystemError;
	r->comm = comm;
	*handle = r;
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclCommDeregister, (const ncclComm_t comm, void *handle))
{
	ncclResult_t result = sim_comm_check(comm, __func__);
	struct registration *r = handle;

	if (result || !r)
		return result;
	if (r->comm != comm) {
		sim_nccl_misuse(__func__, "the handle is another communicator's");
		return ncclInvalidArgument;
	}
	r->comm = NULL;
	free(r);
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclCommWindowRegister,
	 (ncclComm_t comm, void *buffer, size_t size, ncclWindow_t *window, int flags))
{
	ncclResult_t result = sim_comm_check(comm, __func__);

	(void)buffer, (void)size, (void)flags;
	if (window)
		*window = NULL;
	return result ? result : ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t window))
{
	(void)comm;
	return window ? ncclInvalidUsage : ncclSuccess;
}
