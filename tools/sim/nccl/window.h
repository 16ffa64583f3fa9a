/* SPDX-License-Identifier: Apache-2.0 */
/* window.h — windows, by their number in their communicator, which is the same on all ranks. */
#ifndef CT_TOOLS_SIM_NCCL_WINDOW_H
#define CT_TOOLS_SIM_NCCL_WINDOW_H

#include "tools/sim/nccl/comm.h"

/* In sim_member.windows of each rank; -1: none of this communicator's. */
int sim_window_index(const struct ncclComm *comm, ncclWindow_t window);

#endif
