/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_owner.h — which run recorded a process, and as which rank: by the ring of a process that
 * lives, or in a run that was named. Runs that were found stay open until the end. One thread. */
#ifndef CT_TOOLS_COMMTRACE_STACKS_STACKS_OWNER_H
#define CT_TOOLS_COMMTRACE_STACKS_STACKS_OWNER_H

#include "analyzer/hang/hang.h"
#include "trace/reader.h"

struct ct_owner_run {
	const char *dir; /* as it was named, or the process named it; the arena's */
	struct ct_run *run;
	struct ct_hang_run *hang;
	struct ct_arena *memory;
};

#define CT_OWNER_RUNS 16u /* size: runs that are open at once; more are not looked for */

struct ct_owners {
	struct ct_owner_run runs[CT_OWNER_RUNS];
	size_t n;
};

struct ct_owner_of {
	const struct ct_owner_run *run; /* NULL: not recorded, as far as is known */
	const struct ct_process_info *process;
};

/* Add a run that is open already, which becomes theirs. 0; else the status, and the run is closed. */
int ct_owners_add(struct ct_owners *owners, const char *dir, struct ct_run *run,
		  struct ct_err *err);

/* Which run recorded this process? `lives`: it does, else any process of that number counts, the
 * latest. */
struct ct_owner_of ct_owners_find(struct ct_owners *owners, uint32_t pid, int lives);

void ct_owners_fini(struct ct_owners *owners);

#endif
