/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/plugin.h"

#define ALIVE 0x280f0dc9u

static struct ncclComm *free_comms;
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;

/* For the counts of all communicators: they seldom reach zero while a thread waits. */
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t count_is_zero = PTHREAD_COND_INITIALIZER;

struct ncclComm *sim_comm_new(void)
{
	struct ncclComm *comm;

	pthread_mutex_lock(&free_lock);
	comm = free_comms;
	if (comm)
		free_comms = comm->next_free;
	pthread_mutex_unlock(&free_lock);
	if (!comm)
		comm = malloc(sizeof(*comm));
	if (!comm)
		return NULL;
	memset(comm, 0, sizeof(*comm));
	comm->magic = ALIVE;
	comm->refs = 1;
	return comm;
}

void sim_comm_keep(struct ncclComm *comm)
{
	atomic_fetch_add(&comm->refs, 1);
}

void sim_comm_drop(struct ncclComm *comm)
{
	if (atomic_fetch_sub(&comm->refs, 1) != 1)
		return;
	if (comm->profiler)
		sim_plugin_finalize(comm->profiler);
	sim_shared_detach(&comm->view);
	sim_plan_clear(&comm->plan);
	free(comm->peers);
	free(comm->redops);
	pthread_mutex_lock(&free_lock);
	comm->next_free = free_comms;
	free_comms = comm;
	pthread_mutex_unlock(&free_lock);
}

ncclResult_t sim_comm_check(const struct ncclComm *comm, const char *call)
{
	if (!comm) {
		sim_nccl_misuse(call, "comm argument is NULL");
		return ncclInvalidArgument;
	}
	if (comm->magic != ALIVE) {
		sim_nccl_misuse(call, "comm is not a communicator, or was destroyed");
		return ncclInvalidArgument;
	}
	return ncclSuccess;
}

ncclResult_t sim_comm_ready(struct ncclComm *comm, const char *call)
{
	ncclResult_t result = sim_comm_check(comm, call);
	ncclResult_t state = ncclSuccess;

	if (result || atomic_load(&comm->aborted))
		return result;
	result = ncclCommGetAsyncError(comm, &state);
	if (result)
		return result;
	if (state == ncclInProgress) {
		sim_nccl_misuse(call, "Attempt to use communicator before the previous operation "
				      "returned ncclSuccess");
		return ncclInvalidArgument;
	}
	return state;
}

static bool stopped(const struct sim_waiter *self)
{
	const struct sim_comm_wait *wait = (const struct sim_comm_wait *)self;

	return wait->launch == SIM_HOST ? atomic_load(&wait->comm->aborted)
					: wait->launch < atomic_load(&wait->comm->cancelled);
}

void sim_comm_waiter(struct sim_comm_wait *wait, struct ncclComm *comm, uint64_t launch)
{
	*wait = (struct sim_comm_wait){
		.waiter = { stopped,
			    launch == SIM_HOST ? &comm->host_sleeps : &comm->kernel_sleeps },
		.comm = comm,
		.launch = launch,
	};
}

void sim_comm_less(_Atomic uint32_t *count)
{
	if (atomic_fetch_sub(count, 1) != 1)
		return;
	pthread_mutex_lock(&count_lock);
	pthread_cond_broadcast(&count_is_zero);
	pthread_mutex_unlock(&count_lock);
}

void sim_comm_await(struct ncclComm *comm, _Atomic uint32_t *count, bool until_aborted)
{
	pthread_mutex_lock(&count_lock);
	while (atomic_load(count) && !(until_aborted && atomic_load(&comm->aborted)))
		pthread_cond_wait(&count_is_zero, &count_lock);
	pthread_mutex_unlock(&count_lock);
}

void sim_comm_cancel(struct ncclComm *comm, uint64_t launch, bool host)
{
	atomic_store(&comm->cancelled, launch);
	if (host)
		atomic_store(&comm->aborted, true);
	sim_wake(&comm->kernel_sleeps);
	sim_wake(&comm->host_sleeps);
	/* Those that wait for a count until it is aborted. */
	pthread_mutex_lock(&count_lock);
	pthread_cond_broadcast(&count_is_zero);
	pthread_mutex_unlock(&count_lock);
	sim_comm_await(comm, &comm->running, false);
}

/* One of the communicator's numbers, at `offset` in it. */
static ncclResult_t answer(struct ncclComm *comm, const char *call, int *to, size_t offset)
{
	ncclResult_t result = sim_comm_ready(comm, call);

	if (!result && !to) {
		sim_nccl_misuse(call, "argument is NULL");
		result = ncclInvalidArgument;
	}
	if (!result)
		memcpy(to, (const char *)comm + offset, sizeof(*to));
	return result;
}

SIM_NCCL(ncclResult_t, ncclCommCount, (const ncclComm_t comm, int *count))
{
	return answer(comm, __func__, count, offsetof(struct ncclComm, n_ranks));
}

SIM_NCCL(ncclResult_t, ncclCommCuDevice, (const ncclComm_t comm, int *device))
{
	return answer(comm, __func__, device, offsetof(struct ncclComm, device));
}

SIM_NCCL(ncclResult_t, ncclCommUserRank, (const ncclComm_t comm, int *rank))
{
	return answer(comm, __func__, rank, offsetof(struct ncclComm, rank));
}

SIM_NCCL(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t *error))
{
	ncclResult_t result = sim_comm_check(comm, __func__);
	int failed;

	if (result)
		return result;
	if (!error) {
		sim_nccl_misuse(__func__, "asyncError argument is NULL");
		return ncclInvalidArgument;
	}
	failed = atomic_load(&comm->failed);
	*error = (ncclResult_t)(failed ? failed : atomic_load(&comm->async));
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclGetVersion, (int *version))
{
	if (!version)
		return ncclInvalidArgument;
	*version = 23007;
	return ncclSuccess;
}
