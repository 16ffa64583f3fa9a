/* SPDX-License-Identifier: Apache-2.0 */
/* events.h — what is reported to a profiler plugin, and when. Calls and launches are reported by
 * the thread that makes them; kernels by a thread of their own, as in the real library, once sim
 * time has come to their start and end. Without a plugin nothing is done. */
#ifndef CT_TOOLS_SIM_NCCL_EVENTS_H
#define CT_TOOLS_SIM_NCCL_EVENTS_H

#include "tools/sim/nccl/comm.h"

/* A new communicator's comm->profiler; finalized when the communicator is destroyed or, if it was
 * aborted, with its last reference, since kernels may still end. */
void sim_events_open(struct ncclComm *comm);

/* An op's call begins, in a group that this may be the first op of: task->api_event. And ends.
 * name: AllReduce. */
void sim_events_call(struct ncclComm *comm, struct sim_task *task, const char *name, bool message,
		     CUstream stream);
void sim_events_return(struct sim_task *task);

/* The event of the calling thread's open group, which others come to stand below: replaces it,
 * returns the one before; and stops it when the group has been carried out. */
void *sim_events_swap_group(void *event);
void sim_events_group_end(void);

/* Before a launch: reports its tasks, and notes in launch->notices what must be reported of the
 * kernel later. After it, with what the former returned, since the launch may be gone. */
struct sim_notices *sim_events_launch(struct sim_launch *launch);
void sim_events_launched(struct sim_notices *notices);

/* Of one that is captured: what it says of its tasks, now and never again; or, if a plugin asked
 * for its channels when one of them was called, at each launch of the graph, by a host node before
 * the kernel. */
void sim_events_capture(struct sim_launch *launch);
bool sim_events_at_each_launch(const struct sim_launch *launch);
void sim_events_replay(void *launch);

/* By the kernel; the end may lie in the future. `gone`: after both, or if it never ran. */
void sim_events_kernel_start(struct sim_launch *launch, uint64_t ns);
void sim_events_kernel_end(struct sim_launch *launch, uint64_t ns);
void sim_events_kernel_gone(struct sim_launch *launch);

#endif
