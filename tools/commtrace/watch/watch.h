/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h — the loop over the looks of watcher.h, for `commtrace watch`, and beside the program of
 * `commtrace run`, in a process of its own: what happens to it does not happen to the parent of the
 * job. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_WATCH_H
#define CT_TOOLS_COMMTRACE_WATCH_WATCH_H

#include <stdio.h>
#include <sys/types.h>

#include "tools/commtrace/base/options.h"
#include "tools/commtrace/watch/watch_alerts.h"

struct ct_watch {
	const char *dir, *ring_dir, *host; /* as in struct ct_watcher */
	const char *command;		   /* NULL: none */
	const char *termination_log;
	uint64_t limit_s, interval_ns, busy_after_ns, takeover_ns;
	FILE *log;			/* a line for each event; NULL: none */
	int acts;			/* on events: reasons, bundle, command */
	int stops_at_once;		/* at the first hang, crash or alert */
	int attaches;			/* at a hang, to the ranks that it names */
	struct ct_watch_alerts *alerts; /* NULL: no rules */
};

/* What the options of `run` and `watch` have in common. */
void ct_watch_options(const struct ct_cli *args, struct ct_watch *watch);

/* Until the job has ended or, if that is not -1, until something comes through the pipe `stop`: 1
 * says that the program ended well, 0, or that its other end was closed, that it did not. A close
 * after that ends a command, too. Returns the number of hangs, crashes and alerts. */
int ct_watch_loop(const struct ct_watch *watch, int stop);

struct ct_watch_beside {
	pid_t pid; /* 0: none */
	int stop;
};

/* Watch beside this process. A failure is said, and nothing is watched. */
void ct_watch_beside_start(struct ct_watch_beside *beside, const struct ct_watch *watch);

/* The program has ended; waits until what it left has been judged, for 10 s at most if this process
 * `was_asked` to end. 1: a signal asked it to end meanwhile, or that time was over. */
int ct_watch_beside_end(struct ct_watch_beside *beside, int ended_well, int was_asked);

#endif
