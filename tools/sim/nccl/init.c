/* SPDX-License-Identifier: Apache-2.0 */
/* init.c — communicators from a unique id. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/make.h"

struct init_job {
	struct sim_job job;
	const char *call;
	ncclComm_t *newcomm;
	ncclUniqueId id;
	bool stalls; /* it is at work forever */
};

static ncclResult_t run_init(struct sim_job *job)
{
	struct init_job *init = (struct init_job *)job;
	struct ncclComm *comm = job->comm;
	ncclResult_t result;

	sim_info(comm->device,
		 "%s comm %p rank %d nranks %d cudaDev %d nvmlDev %d commId 0x%llx - Init START",
		 init->call + 1, (void *)comm, comm->rank, comm->n_ranks, comm->device,
		 comm->device, (unsigned long long)comm->hash);
	if (init->stalls) {
		struct sim_comm_wait wait;

		sim_comm_waiter(&wait, comm, SIM_HOST);
		sim_hang(&wait.waiter);
	}
	result = sim_comm_connect(comm, &init->id);
	if (!result)
		sim_info(comm->device,
			 "%s comm %p rank %d nranks %d cudaDev %d nvmlDev %d commId 0x%llx - Init "
			 "COMPLETE",
			 init->call + 1, (void *)comm, comm->rank, comm->n_ranks, comm->device,
			 comm->device, (unsigned long long)comm->hash);
	/* A nonblocking program has the handle, and takes it back by aborting. */
	if (result && comm->blocking) {
		*init->newcomm = NULL;
		comm->magic = 0;
		sim_comm_drop(comm);
	}
	return result;
}

static void undo_init(struct sim_job *job)
{
	struct init_job *init = (struct init_job *)job;

	*init->newcomm = NULL;
	job->comm->magic = 0;
	sim_comm_drop(job->comm);
}

static ncclResult_t check_args(const char *call, const ncclComm_t *newcomm, int n_ranks, int rank)
{
	if (!newcomm) {
		sim_nccl_misuse(call, "comm argument is NULL");
		return ncclInvalidArgument;
	}
	if (n_ranks < 1 || n_ranks > SIM_RANKS_MAX || rank < 0 || rank >= n_ranks) {
		sim_nccl_misuse(call, "Invalid rank requested");
		return ncclInvalidArgument;
	}
	return ncclSuccess;
}

/* Within a group of the caller's. */
static ncclResult_t add_init(const char *call, ncclComm_t *newcomm, int n_ranks,
			     const ncclUniqueId *id, int rank, const ncclConfig_t *config)
{
	struct init_job *init;
	struct ncclComm *comm;
	ncclResult_t result = check_args(call, newcomm, n_ranks, rank);

	if (result)
		return result;
	*newcomm = NULL;
	comm = sim_comm_new();
	init = calloc(1, sizeof(*init));
	if (!comm || !init)
		abort();
	comm->blocking = true;
	comm->rank = comm->self.global_rank = rank;
	comm->n_ranks = n_ranks;
	comm->hash = sim_hash_bytes(id->internal, sizeof(id->internal));
	comm->id_magic = sim_shared_magic(id);
	result = sim_comm_take_device(comm);
	if (!result)
		result = sim_config_apply(comm, config, call);
	if (result) {
		comm->magic = 0;
		sim_comm_drop(comm);
		free(init);
		return result;
	}
	*init = (struct init_job){ { run_init, undo_init, comm, ncclSuccess, NULL },
				   call,
				   newcomm,
				   *id,
				   sim_stalls(call) };
	*newcomm = comm;
	return sim_group_job(&init->job);
}

static ncclResult_t init_one(const char *call, ncclComm_t *newcomm, int n_ranks,
			     const ncclUniqueId *id, int rank, const ncclConfig_t *config)
{
	ncclResult_t result, ended;

	if (!config || config->blocking != 0)
		sim_stall(call);
	sim_log_version();
	sim_group_start();
	result = add_init(call, newcomm, n_ranks, id, rank, config);
	sim_group_error(result);
	ended = sim_group_end(false);
	return result ? result : ended;
}

SIM_NCCL(ncclResult_t, ncclCommInitRank,
	 (ncclComm_t * newcomm, int nranks, ncclUniqueId id, int rank))
{
	return init_one(__func__, newcomm, nranks, &id, rank, NULL);
}

SIM_NCCL(ncclResult_t, ncclCommInitRankConfig,
	 (ncclComm_t * newcomm, int nranks, ncclUniqueId id, int rank, ncclConfig_t *config))
{
	ncclResult_t result = init_one(__func__, newcomm, nranks, &id, rank, config);

	/* It may be done by now, or have failed. */
	if (result == ncclInProgress)
		ncclCommGetAsyncError(*newcomm, &result);
	return result;
}

SIM_NCCL(ncclResult_t, ncclCommInitRankScalable,
	 (ncclComm_t * newcomm, int nranks, int rank, int n_ids, ncclUniqueId *ids,
	  ncclConfig_t *config))
{
	ncclResult_t result;

	if (!ids || n_ids < 1 || n_ids > nranks) {
		sim_nccl_misuse(__func__, "nId is out of range, or commIds is NULL");
		return ncclInvalidArgument;
	}
	/* All ranks meet at the first one, of which the communicator has its name, too. */
	result = init_one(__func__, newcomm, nranks, &ids[0], rank, config);
	if (result == ncclInProgress)
		ncclCommGetAsyncError(*newcomm, &result);
	return result;
}

static ncclResult_t check_devices(int n, const int *devices)
{
	int there = 0;

	if (!sim_driver() || sim_driver()->cuDeviceGetCount(&there))
		return ncclUnhandledCudaError;
	for (int i = 0; i < n; i++) {
		int device = devices ? devices[i] : i;

		if (device < 0 || device >= there) {
			sim_nccl_misuse("ncclCommInitAll", "no such device");
			return ncclInvalidArgument;
		}
		for (int j = 0; devices && j < i; j++) {
			if (devices[j] != device)
				continue;
			sim_nccl_misuse("ncclCommInitAll", "duplicate device");
			return ncclInvalidUsage;
		}
	}
	return ncclSuccess;
}

static ncclResult_t init_all(ncclComm_t *newcomms, int n, const ncclUniqueId *id,
			     const int *devices)
{
	const struct sim_driver *d = sim_driver();
	ncclResult_t result = ncclSuccess;
	CUcontext context, popped;

	for (int i = 0; i < n && !result; i++) {
		if (d->cuDevicePrimaryCtxRetain(&context, devices ? devices[i] : i) ||
		    d->cuCtxPushCurrent_v2(context))
			return ncclUnhandledCudaError;
		result = add_init("pncclCommInitAll", &newcomms[i], n, id, i, NULL);
		d->cuCtxPopCurrent_v2(&popped);
	}
	return result;
}

SIM_NCCL(ncclResult_t, ncclCommInitAll, (ncclComm_t * newcomms, int ndev, const int *devices))
{
	ncclUniqueId id;
	ncclResult_t result, ended;

	sim_log_version();
	if (!newcomms || ndev < 1) {
		sim_nccl_misuse(__func__, "no communicators asked for");
		return ncclInvalidArgument;
	}
	result = check_devices(ndev, devices);
	if (result)
		return result;
	result = ncclGetUniqueId(&id);
	if (result)
		return result;
	sim_group_start();
	result = init_all(newcomms, ndev, &id, devices);
	sim_group_error(result);
	ended = sim_group_end(false);
	return result ? result : ended;
}

SIM_NCCL(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * id))
{
	if (!id) {
		sim_warn("GetUniqueId : out argument is NULL");
		return ncclInvalidArgument;
	}
	return sim_shared_create(id);
}
