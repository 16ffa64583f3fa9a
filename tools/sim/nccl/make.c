/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/events.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/model.h"

#define COVERS(config, member)                                                                     \
	((config)->size >= offsetof(ncclConfig_t, member) + sizeof((config)->member))

/* Ranks with the same are one node, as the real library has it: the host and its boot, or what
 * NCCL_HOSTID says. */
static uint64_t node(void)
{
	char name[256] = "";
	const char *value = getenv("NCCL_HOSTID");

	if (value && *value)
		return sim_hash_bytes(value, strlen(value));
	gethostname(name, sizeof(name) - 1);
	return sim_hash_bytes(name, strlen(name));
}

ncclResult_t sim_config_apply(struct ncclComm *comm, const ncclConfig_t *config, const char *call)
{
	const char *value = getenv("NCCL_COMM_BLOCKING");
	int blocking = NCCL_CONFIG_UNDEF_INT;

	if (config && config->magic != NCCL_CONFIG_MAGIC) {
		sim_nccl_misuse(call, "ncclConfig_t argument not initialized via "
				      "NCCL_CONFIG_INITIALIZER");
		return ncclInvalidArgument;
	}
	if (config && COVERS(config, blocking))
		blocking = config->blocking;
	if (blocking != 0 && blocking != 1 && blocking != NCCL_CONFIG_UNDEF_INT) {
		sim_nccl_misuse(call, "Invalid config blocking attribute value");
		return ncclInvalidArgument;
	}
	if (config && COVERS(config, commName) && config->commName)
		snprintf(comm->name, sizeof(comm->name), "%s", config->commName);
	if (value && (value[0] == '0' || value[0] == '1'))
		blocking = value[0] == '1';
	if (blocking != NCCL_CONFIG_UNDEF_INT)
		comm->blocking = blocking;
	return ncclSuccess;
}

ncclResult_t sim_comm_take_device(struct ncclComm *comm)
{
	const struct sim_driver *d = sim_driver();
	CUcontext context = NULL;
	CUresult failed = d ? d->cuCtxGetCurrent(&context) : CUDA_ERROR_NOT_INITIALIZED;

	if (!failed && context)
		failed = d->cuCtxGetDevice(&comm->device);
	else if (!failed)
		failed = d->cuDevicePrimaryCtxRetain(&context, 0);
	if (failed) {
		sim_warn("Cuda failure %d 'CUDA driver version is insufficient for CUDA runtime "
			 "version'",
			 (int)failed);
		return ncclUnhandledCudaError;
	}
	comm->context = context;
	return ncclSuccess;
}

/* Two ranks of one process on one device cannot both spin there. Devices of other processes may be
 * others. */
static ncclResult_t check_devices(const struct ncclComm *comm)
{
	const struct sim_member *me = &comm->view.members[comm->rank];

	for (int r = 0; r < comm->n_ranks; r++) {
		const struct sim_member *m = &comm->view.members[r];

		if (r == comm->rank || m->pid != me->pid || m->device != me->device)
			continue;
		sim_warn("Duplicate GPU detected : rank %d and rank %d both on CUDA device %d",
			 comm->rank, r, comm->device);
		return ncclInvalidUsage;
	}
	return ncclSuccess;
}

static ncclResult_t make_event(struct ncclComm *comm)
{
	const struct sim_driver *d = sim_driver();
	CUcontext popped;
	CUresult failed = d->cuCtxPushCurrent_v2(comm->context);

	if (failed)
		return ncclUnhandledCudaError;
	failed = d->cuEventCreate(&comm->done, CU_EVENT_DISABLE_TIMING);
	d->cuCtxPopCurrent_v2(&popped);
	return failed ? ncclUnhandledCudaError : ncclSuccess;
}

ncclResult_t sim_comm_connect(struct ncclComm *comm, const ncclUniqueId *id)
{
	struct sim_comm_wait wait;
	ncclResult_t result;

	comm->self.device = comm->device;
	comm->self.node = node();
	if (sim_model_rank(comm->device) >= 0)
		comm->self.global_rank = sim_model_rank(comm->device);
	comm->peers = calloc((size_t)comm->n_ranks, sizeof(*comm->peers));
	if (!comm->peers)
		return ncclSystemError;
	sim_comm_waiter(&wait, comm, SIM_HOST);
	result = sim_shared_attach(&comm->view, id, comm->rank, comm->n_ranks, &comm->self,
				   &wait.waiter);
	if (!result)
		result = check_devices(comm);
	if (!result)
		result = make_event(comm);
	if (!result)
		sim_events_open(comm);
	return result;
}
