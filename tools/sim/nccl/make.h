/* SPDX-License-Identifier: Apache-2.0 */
/* make.h — what all ways to make a communicator share. */
#ifndef CT_TOOLS_SIM_NCCL_MAKE_H
#define CT_TOOLS_SIM_NCCL_MAKE_H

#include "tools/sim/nccl/comm.h"

/* Checks a program's configuration, which may be NULL, shorter or longer than ours, and takes over
 * what it sets. */
ncclResult_t sim_config_apply(struct ncclComm *comm, const ncclConfig_t *config, const char *call);

/* For the calling thread's current device, or the first one. ncclUnhandledCudaError without any. */
ncclResult_t sim_comm_take_device(struct ncclComm *comm);

/* Waits for the other ranks at the id's file and makes the communicator usable; comm->rank,
 * n_ranks, hash and device are set. */
ncclResult_t sim_comm_connect(struct ncclComm *comm, const ncclUniqueId *id);

#endif
