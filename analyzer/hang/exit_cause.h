/* SPDX-License-Identifier: Apache-2.0 */
/* exit_cause.h — how the processes of a run ended, as model/exit_order.h judges that, for the case of a hang, and how long is too long
 * because of it. Working state of gather.h, one thread; not for others. */
#ifndef CT_HANG_LIVES_H
#define CT_HANG_LIVES_H

#include "analyzer/hang/gather.h"
#include "analyzer/model/exit_order.h"

/* Of ranks how they ended, and of the run how it stands and when it was torn down. 0 or CT_NOMEM. */
int ct_hang_lives(struct ct_gather *g, struct ct_hang_run *out);

/* For how long an operation must at least have been under way to be stalled, ns: COMMTRACE_HANG_AFTER, less where the job did not end
 * well, more where one look at a running one would say little, and what busy hosts let anything take. */
uint64_t ct_hang_stall_ns(const struct ct_exits *exits);

#endif
