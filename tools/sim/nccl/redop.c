/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/redop.h"

#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/reduce.h"

#define BUILT_IN 5

/* The number that a program sees differs from communicator to communicator, so that mixing them up
 * is noticed. Its own inverse; what it would make a built-in one of stays as it is. */
static int mangle(const struct ncclComm *comm, int op)
{
	uint64_t h = (uint64_t)(uintptr_t)comm;
	int mangled;

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c13u >> 32 & INT_MAX;
	mangled = (int)h ^ op;
	return mangled < BUILT_IN ? op : mangled;
}

/* The index in comm->redops, -1 if there is none of that number. */
static int find(const struct ncclComm *comm, ncclRedOp_t redop)
{
	int i = mangle(comm, (int)redop) - BUILT_IN;

	return i >= 0 && i < comm->n_redops && comm->redops[i].used ? i : -1;
}

ncclResult_t sim_redop_resolve(const struct ncclComm *comm, const char *call, struct sim_task *task)
{
	int i;

	if ((unsigned)task->redop < BUILT_IN)
		return ncclSuccess;
	i = find(comm, task->redop);
	if (i < 0 || comm->redops[i].type != task->type) {
		sim_nccl_misuse(call, "no such reduction of this communicator and type");
		return ncclInvalidArgument;
	}
	task->redop = ncclSum;
	task->scaled = true;
	task->device_scalar = comm->redops[i].device_scalar;
	memcpy(task->scalar, comm->redops[i].scalar, sizeof(task->scalar));
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclRedOpCreatePreMulSum,
	 (ncclRedOp_t * redop, void *scalar, ncclDataType_t type, ncclScalarResidence_t residence,
	  ncclComm_t comm))
{
	ncclResult_t result = sim_comm_ready(comm, __func__);
	struct sim_redop *more;
	int i = 0;

	if (result)
		return result;
	if (!redop || !scalar || !sim_type_bytes(type)) {
		sim_nccl_misuse(__func__, "an argument is NULL or no type");
		return ncclInvalidArgument;
	}
	while (i < comm->n_redops && comm->redops[i].used)
		i++;
	if (i == comm->n_redops) {
		more = realloc(comm->redops, (size_t)(i + 1) * sizeof(*more));
		if (!more)
			return ncclSystemError;
		comm->redops = more;
		comm->n_redops++;
	}
	memset(&comm->redops[i], 0, sizeof(*more));
	comm->redops[i].used = true;
	comm->redops[i].type = type;
	if (residence == ncclScalarHostImmediate)
		memcpy(comm->redops[i].scalar, scalar, sim_type_bytes(type));
	else
		comm->redops[i].device_scalar = scalar;
	*redop = (ncclRedOp_t)mangle(comm, BUILT_IN + i);
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclRedOpDestroy, (ncclRedOp_t redop, ncclComm_t comm))
{
	ncclResult_t result;
	int i;

	if ((unsigned)redop < BUILT_IN) {
		sim_nccl_misuse(__func__, "operator is a NCCL builtin");
		return ncclInvalidArgument;
	}
	result = sim_comm_check(comm, __func__);
	if (result)
		return result;
	i = find(comm, redop);
	if (i < 0) {
		sim_nccl_misuse(__func__, "no such reduction of this communicator");
		return ncclInvalidArgument;
	}
	comm->redops[i].used = false;
	return ncclSuccess;
}
