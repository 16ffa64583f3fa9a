/* SPDX-License-Identifier: Apache-2.0 */
/* end.c — the ways in which a communicator ends. */
#include <stdlib.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/plugin.h"

/* The handle is none from now on. */
static void release(struct ncclComm *comm)
{
	const struct sim_driver *d = sim_driver();
	CUcontext popped;

	sim_comm_await(comm, &comm->background, false);
	if (comm->done && !d->cuCtxPushCurrent_v2(comm->context)) {
		d->cuEventDestroy_v2(comm->done);
		d->cuCtxPopCurrent_v2(&popped);
	}
	comm->magic = 0;
	sim_comm_drop(comm);
}

/* Its own kernels must end; then, every other process must have come as far with one of its ranks
 * at least: so one thread can finalize its ranks one after the other. */
static ncclResult_t run_finalize(struct sim_job *job)
{
	struct ncclComm *comm = job->comm;
	struct sim_comm_wait wait;

	sim_comm_await(comm, &comm->kernels, true);
	sim_comm_waiter(&wait, comm, SIM_HOST);
	sim_gate_add(&comm->view.members[comm->rank].finalized, 1);
	sim_gate_add(&comm->view.shared->finalized, 1);
	for (int r = 0; r < comm->n_ranks;) {
		const struct sim_member *m = comm->view.members;
		uint32_t seen = atomic_load(&comm->view.shared->finalized.value);
		bool came = m[r].pid == m[comm->rank].pid;

		for (int i = 0; i < comm->n_ranks && !came; i++)
			came = m[i].pid == m[r].pid && atomic_load(&m[i].finalized.value);
		if (came)
			r++;
		else if (!sim_gate_change(&comm->view.shared->finalized, seen, &wait.waiter))
			return ncclInternalError;
	}
	return ncclSuccess;
}

static ncclResult_t add_finalize(struct ncclComm *comm, const char *call)
{
	struct sim_job *job;
	ncclResult_t result = sim_comm_ready(comm, call);

	if (result)
		return result;
	if (comm->finalized) {
		sim_nccl_misuse(call, "comm has already been finalized");
		return ncclInvalidArgument;
	}
	if (comm->revoked) {
		sim_nccl_misuse(call, "comm was revoked");
		return ncclInvalidUsage;
	}
	comm->finalized = true;
	job = calloc(1, sizeof(*job));
	if (!job)
		abort();
	*job = (struct sim_job){ run_finalize, NULL, comm, ncclSuccess, NULL };
	return sim_group_job(job);
}

SIM_NCCL(ncclResult_t, ncclCommFinalize, (ncclComm_t comm))
{
	ncclResult_t result, ended;

	if (!comm)
		return ncclSuccess;
	sim_stall(__func__);
	sim_group_start();
	result = add_finalize(comm, __func__);
	sim_group_error(result);
	ended = sim_group_end(false);
	return result ? result : ended;
}

SIM_NCCL(ncclResult_t, ncclCommDestroy, (ncclComm_t comm))
{
	ncclResult_t result;

	if (!comm)
		return ncclSuccess;
	result = sim_comm_check(comm, __func__);
	if (result)
		return result;
	if (comm->plan.in_group) {
		sim_nccl_misuse(__func__, "the open group still has operations of it");
		return ncclInvalidUsage;
	}
	sim_info(comm->device, "comm %p rank %d nranks %d cudaDev %d - Destroy START", (void *)comm,
		 comm->rank, comm->n_ranks, comm->device);
	sim_comm_await(comm, &comm->kernels, true);
	sim_comm_await(comm, &comm->unreported, true);
	/* Not left to the last reference, which the thread of a stream may still hold. */
	if (!atomic_load(&comm->aborted) && comm->profiler) {
		sim_plugin_finalize(comm->profiler);
		comm->profiler = NULL;
	}
	release(comm);
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclCommAbort, (ncclComm_t comm))
{
	ncclResult_t result;

	if (!comm)
		return ncclSuccess;
	result = sim_comm_check(comm, __func__);
	if (result)
		return result;
	sim_info(comm->device, "comm %p rank %d nranks %d cudaDev %d - Abort START", (void *)comm,
		 comm->rank, comm->n_ranks, comm->device);
	/* Kernels behind something else on their streams end when their turn comes. */
	sim_comm_cancel(comm, UINT64_MAX, true);
	release(comm);
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclCommRevoke, (ncclComm_t comm, int flags))
{
	ncclResult_t result;

	if (!comm)
		return ncclSuccess;
	result = sim_comm_check(comm, __func__);
	if (result)
		return result;
	if (flags || comm->revoked || comm->finalized) {
		sim_nccl_misuse(__func__, "unknown flags, or comm is revoked or finalized already");
		return flags ? ncclInvalidArgument : ncclInvalidUsage;
	}
	atomic_store(&comm->revoked, true);
	sim_comm_cancel(comm, UINT64_MAX, false);
	return ncclSuccess;
}
