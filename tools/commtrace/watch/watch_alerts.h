/* SPDX-License-Identifier: Apache-2.0 */
/* watch_alerts.h — the alert rules of analyzer/alerts beside the looks of a watch: now and then a
 * report of the latest part of the run, a line for what fires or is over, and a command. Nothing is
 * written into the run. One thread. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_WATCH_ALERTS_H
#define CT_TOOLS_COMMTRACE_WATCH_WATCH_ALERTS_H

#include <stdio.h>

#include "analyzer/alerts/alerts.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/watch/timed_command.h"

/* size: commands that run beside the looks; more events than that at once have none */
#define CT_WATCH_COMMANDS 8

struct ct_watch_alerts {
	struct ct_alert_limits limits;
	uint64_t every_ns;   /* length of a window */
	const char *command; /* NULL: none */
	uint64_t limit_s;    /* until it is killed */
	FILE *log;	     /* a line for each event */

	/* private */
	struct ct_alerts *alerts;
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	int is_closed;
	struct ct_timed_command running[CT_WATCH_COMMANDS];
};

/* What the options of `watch` say. */
void ct_watch_alerts_options(const struct ct_cli *args, struct ct_watch_alerts *alerts);

/* Commands run beside the looks: at each, take care of those that have ended, or whose time is
 * over. */
void ct_watch_alerts_reap(struct ct_watch_alerts *alerts);

/* If a window is complete: judge it. `dir` is that of the run. The number of rules that fired; -1:
 * the log's reader is gone. What could not be read is judged with the next window. */
int ct_watch_alerts_look(struct ct_watch_alerts *alerts, const struct ct_run *run, const char *dir);

/* Waits for the commands that still run. */
void ct_watch_alerts_fini(struct ct_watch_alerts *alerts);

#endif
