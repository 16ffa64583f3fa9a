/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c — what breaks on demand (job.h). */
#include <string.h>
#include <unistd.h>

#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/job.h"

static __thread const char *stalls;
static _Atomic uint64_t abort_takes_ns;

void simNcclFail(ncclComm_t comm, ncclResult_t error)
{
	if (sim_comm_check(comm, __func__))
		return;
	atomic_store(&comm->failed, (int)error);
	atomic_store(&comm->stuck, true);
}

void simNcclHang(ncclComm_t comm)
{
	if (!sim_comm_check(comm, __func__))
		atomic_store(&comm->stuck, true);
}

void simNcclLinger(ncclComm_t comm)
{
	if (!sim_comm_check(comm, __func__))
		atomic_store(&comm->lingers, true);
}

void simNcclAbortTakes(uint64_t ns)
{
	atomic_store(&abort_takes_ns, ns);
}

uint64_t sim_abort_takes(void)
{
	return atomic_load(&abort_takes_ns);
}

void simNcclStallCall(const char *function)
{
	stalls = function;
}

void sim_stall(const char *call)
{
	call += call[0] == 'p';
	if (!stalls || strcmp(stalls, call) != 0)
		return;
	for (;;)
		pause();
}
