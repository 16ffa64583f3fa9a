/* SPDX-License-Identifier: Apache-2.0 */
/* device.c — the host's side of NCCL's device interface: teams are reported, what needs a GPU is
 * refused. Its header is not ours to include, so that its types are declared here as far as they
 * cross the border. */
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/comm.h"

typedef struct {
	int nRanks, rank, stride;
} ncclTeam_t;

/* All ranks of a node reach each other; here, all are one node. */
SIM_NCCL(ncclTeam_t, ncclTeamWorld, (ncclComm_t comm))
{
	return (ncclTeam_t){ comm->n_ranks, comm->rank, 1 };
}

SIM_NCCL(ncclTeam_t, ncclTeamLsa, (ncclComm_t comm))
{
	return (ncclTeam_t){ comm->n_ranks, comm->rank, 1 };
}

SIM_NCCL(ncclTeam_t, ncclTeamRail, (ncclComm_t comm))
{
	return (ncclTeam_t){ 1, 0, comm->n_ranks };
}

SIM_NCCL(int, ncclTeamRankToWorld, (ncclComm_t comm, ncclTeam_t team, int rank))
{
	return comm->rank + (rank - team.rank) * team.stride;
}

SIM_NCCL(int, ncclTeamRankToLsa, (ncclComm_t comm, ncclTeam_t team, int rank))
{
	return comm->rank + (rank - team.rank) * team.stride;
}

SIM_NCCL(ncclResult_t, ncclDevCommCreate, (ncclComm_t comm, const void *requirements, void *out))
{
	(void)comm, (void)requirements, (void)out;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclDevCommDestroy, (ncclComm_t comm, const void *device_comm))
{
	(void)comm, (void)device_comm;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclLsaBarrierCreateRequirement,
	 (ncclTeam_t team, int n, void *handle, void *out))
{
	(void)team, (void)n, (void)handle, (void)out;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclGinBarrierCreateRequirement,
	 (ncclComm_t comm, ncclTeam_t team, int n, void *handle, void *out))
{
	(void)comm, (void)team, (void)n, (void)handle, (void)out;
	return ncclInvalidUsage;
}

SIM_NCCL(int, ncclLLA2ACalcSlots, (int max_elements, int max_element_bytes))
{
	(void)max_elements, (void)max_element_bytes;
	return 0;
}

SIM_NCCL(ncclResult_t, ncclLLA2ACreateRequirement, (int blocks, int slots, void *handle, void *out))
{
	(void)blocks, (void)slots, (void)handle, (void)out;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclGinOutboxCreateRequirement,
	 (int blocks, int size_log2, void *handle, void *out))
{
	(void)blocks, (void)size_log2, (void)handle, (void)out;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclGinInboxA2ACreateRequirement,
	 (ncclTeam_t peers, int blocks, int size_log2, void *handle, void *out))
{
	(void)peers, (void)blocks, (void)size_log2, (void)handle, (void)out;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclCommQueryProperties, (ncclComm_t comm, void *properties))
{
	(void)comm, (void)properties;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclGetLsaMultimemDevicePointer,
	 (ncclWindow_t window, size_t offset, void **pointer))
{
	(void)window, (void)offset, (void)pointer;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclGetLsaDevicePointer,
	 (ncclWindow_t window, size_t offset, int rank, void **pointer))
{
	(void)window, (void)offset, (void)rank, (void)pointer;
	return ncclInvalidUsage;
}

SIM_NCCL(ncclResult_t, ncclGetPeerDevicePointer,
	 (ncclWindow_t window, size_t offset, int peer, void **pointer))
{
	(void)window, (void)offset, (void)peer, (void)pointer;
	return ncclInvalidUsage;
}

/* The multimem handle is a structure of one pointer. */
SIM_NCCL(ncclResult_t, ncclGetMultimemDevicePointer,
	 (ncclWindow_t window, size_t offset, void *multimem, void **pointer))
{
	(void)window, (void)offset, (void)multimem, (void)pointer;
	return ncclInvalidUsage;
}
