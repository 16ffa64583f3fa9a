/* SPDX-License-Identifier: Apache-2.0 */
/* group.h — groups: a depth for each thread, what was asked for since the outermost start, and its
 * execution at the outermost end. Every call outside a group is a group of its own. */
#ifndef CT_TOOLS_SIM_NCCL_GROUP_H
#define CT_TOOLS_SIM_NCCL_GROUP_H

#include "tools/sim/nccl/comm.h"

/* Something that waits for other ranks: making or finalizing a communicator. Made with calloc,
 * freed by the group. `comm`, on whose behalf it runs, is kept by the group. `undo` runs instead of
 * `run` if the group fails before. */
struct sim_job {
	ncclResult_t (*run)(struct sim_job *job);
	void (*undo)(struct sim_job *job);
	struct ncclComm *comm;
	ncclResult_t result;
	struct sim_job *next;
};

void sim_group_start(void);

/* Counts an error against the open group, whose end will return it. */
void sim_group_error(ncclResult_t error);

/* One level down; at the outermost one, does all that was asked for. `simulate`: no kernels. */
ncclResult_t sim_group_end(bool simulate);

/* The communicator takes part in the open group: ncclInvalidArgument if others block and this one
 * does not, or the other way round. */
ncclResult_t sim_group_join(struct ncclComm *comm);

/* Takes the job over, also if it fails. */
ncclResult_t sim_group_job(struct sim_job *job);

/* Never returns if simNcclStallCall() selected this function. `call`: __func__ of the exported one.
 */
void sim_stall(const char *call);
bool sim_stalls(const char *call); /* whether it asked */

/* Room on the communicator's device for a kernel, after simNcclOneAtATime(). False: none is needed,
 * or it is stopped. */
bool sim_room_enter(const struct ncclComm *comm, const struct sim_waiter *who);
void sim_room_leave(const struct ncclComm *comm);

/* What simNcclAbortTakes() said. */
uint64_t sim_abort_takes(void);

#endif
