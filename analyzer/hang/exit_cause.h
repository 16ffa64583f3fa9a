/* SPDX-License-Identifier: Apache-2.0 */
/* exit_cause.h — how the processes of a run ended (model/exit_order.h), for the case of a hang, and
 * the stall limit that follows. Uses the working state of gather.h; one thread; for the files of
 * hang/ only. */
#ifndef CT_ANALYZER_HANG_EXIT_CAUSE_H
#define CT_ANALYZER_HANG_EXIT_CAUSE_H

#include "analyzer/hang/gather.h"
#include "analyzer/model/exit_order.h"

/* How ranks ended, the state of the run, and when it was torn down. 0 or CT_NOMEM. */
int ct_hang_exit_causes(struct ct_gather *g, struct ct_hang_run *out);

/* The minimum age of a stalled operation, ns: COMMTRACE_HANG_AFTER, less if the job failed, more
 * for a single look at a running job, plus the delays of busy hosts. */
uint64_t ct_hang_stall_ns(const struct ct_exits *exits);

#endif
