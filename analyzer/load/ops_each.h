/* SPDX-License-Identifier: Apache-2.0 */
/* ops_each.h — the operations of a run one by one, each joined with its launch: what `dump` prints,
 * and what every analysis begins with. One thread. */
#ifndef CT_ANALYZER_LOAD_OPS_EACH_H
#define CT_ANALYZER_LOAD_OPS_EACH_H

#include "analyzer/load/joined_op.h"

/* Yield all ops of the run, process by process (in the order of run->processes, all starts), within
 * a process about in order of their entry; an op waits for its launch, so it may come later than
 * its neighbours, and the ops of one launch come one right after the other. Stops when `each`
 * returns nonzero and returns that; else 0 or a negative status. */
int ct_ops_each(const struct ct_run *run, int (*each)(const struct ct_joined_op *op, void *arg),
		void *arg, struct ct_err *err);

/* The same, and beside the ops each call that moves no data and blocks the host (MPI_Waitall, the
 * making of a communicator), as an op without a name: once it has returned, or at the end of its
 * process. Of its `op` hold times, tid and result. An error that a library reported is such an op
 * as well, in CT_STATE_ERROR, by the function that reported. */
int ct_calls_each(const struct ct_run *run, int (*each)(const struct ct_joined_op *op, void *arg),
		  void *arg, struct ct_err *err);

#endif
