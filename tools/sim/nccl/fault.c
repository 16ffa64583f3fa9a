/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c — what breaks on demand (job.h). */
#include <string.h>
#include <unistd.h>

#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/job.h"

enum { ROOMS = 64, LOOK_EVERY_US = 500 };

static __thread const char *stalls;
static _Atomic uint64_t abort_takes_ns;
static _Atomic bool is_crowded;
static _Atomic uint32_t rooms[ROOMS]; /* 1: taken */

void simNcclFail(ncclComm_t comm, ncclResult_t error)
{
	if (sim_comm_check(comm, __func__))
		return;
	atomic_store(&comm->failed, (int)error);
	atomic_store(&comm->breaks_at, 0);
	atomic_store(&comm->stuck, true);
}

void simNcclHang(ncclComm_t comm)
{
	if (sim_comm_check(comm, __func__))
		return;
	atomic_store(&comm->breaks_at, atomic_load(&comm->launches));
	atomic_store(&comm->stuck, true);
}

void simNcclLinger(ncclComm_t comm)
{
	if (sim_comm_check(comm, __func__))
		return;
	atomic_store(&comm->breaks_at, atomic_load(&comm->launches));
	atomic_store(&comm->lingers, true);
}

void simNcclOneAtATime(void)
{
	atomic_store(&is_crowded, true);
}

bool sim_room_enter(const struct ncclComm *comm, const struct sim_waiter *who)
{
	_Atomic uint32_t *room = &rooms[comm->device % ROOMS];

	if (!atomic_load(&is_crowded))
		return false;
	while (atomic_exchange(room, 1)) {
		if (who->stopped(who))
			return false;
		usleep(LOOK_EVERY_US);
	}
	return true;
}

void sim_room_leave(const struct ncclComm *comm)
{
	atomic_store(&rooms[comm->device % ROOMS], 0);
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

bool sim_stalls(const char *call)
{
	return stalls && strcmp(stalls, call + (call[0] == 'p')) == 0;
}

void sim_stall(const char *call)
{
	if (!sim_stalls(call))
		return;
	for (;;)
		pause();
}
