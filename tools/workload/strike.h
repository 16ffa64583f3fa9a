/* SPDX-License-Identifier: Apache-2.0 */
/* strike.h — the operation of a fault: a test needs it to know which ranks are left waiting. Pure;
 * any thread. */
#ifndef CT_TOOLS_WORKLOAD_STRIKE_H
#define CT_TOOLS_WORKLOAD_STRIKE_H

#include "tools/workload/workload.h"

/* `plain`: the job without faults. 1: *op is the operation that the fault leaves out, changes or
 * comes before, as it would have been; of a call that stalls only its communicator is set, `op` is
 * 0. 0: the fault names none, or its rank has no such one. -1: no memory. */
int ct_workload_strike(const struct ct_workload *plain, const struct ct_fault *fault,
		       struct ct_workload_op *op);

/* How many data-moving operations the rank has in the whole job; -1: no memory. */
int64_t ct_workload_ops(const struct ct_workload *w, int rank);

#endif
