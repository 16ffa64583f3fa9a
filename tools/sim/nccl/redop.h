/* SPDX-License-Identifier: Apache-2.0 */
/* redop.h — reductions of the program's own: a sum of values that were multiplied by a scalar
 * before. */
#ifndef CT_TOOLS_SIM_NCCL_REDOP_H
#define CT_TOOLS_SIM_NCCL_REDOP_H

#include "tools/sim/nccl/comm.h"

/* Looks the task's redop up: a built-in one stays, one of the program's own becomes a scaled sum. */
ncclResult_t sim_redop_resolve(const struct ncclComm *comm, const char *call,
			       struct sim_task *task);

#endif
