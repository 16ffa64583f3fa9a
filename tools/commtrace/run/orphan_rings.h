/* SPDX-License-Identifier: Apache-2.0 */
/* orphan_rings.h — the rings of a run when its command has ended. A launcher may return before its
 * ranks have ended, and a command may leave processes running. Rings of those that end now are
 * moved into the run, the others are reported. One thread. */
#ifndef CT_TOOLS_COMMTRACE_RUN_ORPHAN_RINGS_H
#define CT_TOOLS_COMMTRACE_RUN_ORPHAN_RINGS_H

#include <stdint.h>

#include "trace/format.h"
#include "trace/run_id.h"

#define CT_ORPHAN_RINGS_RANKS 8u /* size: that are named in one line */

struct ct_orphan_rings {
	uint32_t living; /* processes that record, and not under another `commtrace run` */
	int ranks[CT_ORPHAN_RINGS_RANKS]; /* of the first of the living, ascending; -1 unknown */
	uint32_t dead;	    /* rings of dead processes that were left where they are */
	char why_kept[160]; /* one of those; "" if it is not known */
};

/* Is this living process below another `commtrace run` than this one? Some jobs have one for each
 * rank, and each waits for its own processes only. 0 for a process whose ancestors cannot be seen. */
int ct_is_of_another_run(const struct ct_process *process);

/* Moves the rings of dead processes into the run. While others exist it waits, up to two seconds:
 * launchers return before they have killed their ranks, some processes take a while to die, and a
 * parent may still note how one ended. `orphans`: what is left then. */
void ct_orphan_rings_collect(const char *const *ring_dirs, const struct ct_run_id *run,
			     struct ct_orphan_rings *orphans);

/* Prints what still runs and what could not be moved, and what to do; nothing if there is nothing.
 * `shown`: the directory as printed. */
void ct_orphan_rings_say(const struct ct_orphan_rings *orphans, const char *shown);

#endif
