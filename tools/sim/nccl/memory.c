/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c — memory and its registration, which makes nothing faster here; how much of it a
 * communicator has, and giving that up for a while. */
#include <stdlib.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/comm.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/log.h"

/* A registration's handle. */
struct memory_registration {
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
	struct memory_registration *r;

	if (result)
		return result;
	if (!handle || !buffer || sim_driver()->simCheckRange(buffer, size)) {
		sim_nccl_misuse(__func__, "no handle, or a buffer outside any allocation");
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
	struct memory_registration *r = handle;

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

SIM_NCCL(ncclResult_t, ncclCommMemStats, (ncclComm_t comm, ncclCommMemStat_t stat, uint64_t *value))
{
	ncclResult_t result = sim_comm_ready(comm, __func__);

	if (result)
		return result;
	if (!value || (unsigned)stat > ncclStatGpuMemTotal) {
		sim_nccl_misuse(__func__, "no such statistic, or value is NULL");
		return ncclInvalidArgument;
	}
	*value = stat == ncclStatGpuMemSuspended ? comm->suspended : 0;
	return ncclSuccess;
}

static ncclResult_t suspend(ncclComm_t comm, bool yes, const char *call)
{
	ncclResult_t result = sim_comm_ready(comm, call);

	if (!result && comm->suspended == yes) {
		sim_nccl_misuse(call, "comm is suspended already, or is not");
		result = ncclInvalidUsage;
	}
	if (!result)
		comm->suspended = yes;
	return result;
}

SIM_NCCL(ncclResult_t, ncclCommSuspend, (ncclComm_t comm, int flags))
{
	if (flags != NCCL_SUSPEND_MEM) {
		sim_nccl_misuse(__func__, "unknown flags");
		return ncclInvalidArgument;
	}
	return suspend(comm, true, __func__);
}

SIM_NCCL(ncclResult_t, ncclCommResume, (ncclComm_t comm))
{
	return suspend(comm, false, __func__);
}
