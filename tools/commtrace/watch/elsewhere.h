/* SPDX-License-Identifier: Apache-2.0 */
/* elsewhere.h — which processes run that are not visible here: on another machine, or in another
 * container whose rings are not there either. Each writes to the run every 10 s, so one whose files
 * change runs. The change is timed by the clock of this host, since clocks of hosts differ. One
 * thread. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_ELSEWHERE_H
#define CT_TOOLS_COMMTRACE_WATCH_ELSEWHERE_H

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "trace/reader.h"

/* Zeroed: nothing was seen yet. */
struct ct_elsewhere {
	struct ct_table by_process; /* -> private */
	struct ct_arena *memory;
};

/* Gives those of the run that run by now the end CT_END_RUNNING, for a look at `now_ns` of any
 * clock and `unix_ns` of the time of day. One that was not seen before has just changed, unless its
 * last heartbeat was an hour before. *visible: processes that are visible here, running or not; *n:
 * processes that run elsewhere. 0 or CT_NOMEM. */
int ct_elsewhere_note(struct ct_elsewhere *elsewhere, struct ct_run *run, uint64_t now_ns,
		      uint64_t unix_ns, uint32_t *visible, uint32_t *n);

void ct_elsewhere_fini(struct ct_elsewhere *elsewhere);

#endif
