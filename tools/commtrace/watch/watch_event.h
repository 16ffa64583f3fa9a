/* SPDX-License-Identifier: Apache-2.0 */
/* watch_event.h — what is done about an event, the cheapest and most valuable first, as the whole
 * job may be killed at any moment: a line on stderr; the reason in torchrun's error file and the
 * pod's termination message; the verdict as JSON in the run; the bundle; a command; the bundle
 * again with the report. What cannot be written is said, and the rest is done. Nothing is done to
 * the job.
 *
 * Where several `commtrace run` watch one run, the one on the host of the rank at fault does it,
 * and the JSON file, which only one of them can create, sees to it that it is done once. The others
 * write only the two reasons. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_WATCH_EVENT_H
#define CT_TOOLS_COMMTRACE_WATCH_WATCH_EVENT_H

#include <stdio.h>

#include "tools/commtrace/watch/watcher.h"

struct ct_watch_event {
	enum ct_watch_kind kind;
	const struct ct_watcher *watcher;
	const char *command; /* for the shell; NULL: none */
	uint64_t limit_s;    /* until it is killed */
	const char *termination_log;
	int anywhere; /* 1: act, whichever host this is */
	int stop;     /* pipe: when its other end is closed, the command is killed; -1: none */
	int attaches; /* 1: take the stacks of the ranks at fault, if they are on this host */
};

/* Do it all; returns when the command has ended. 1: acted, 0: another one does. */
int ct_watch_act(const struct ct_watch_event *event);

/* Remove what killed watchers left unfinished in the run. */
void ct_watch_clean(const char *dir);

/* The event on a line, for a log. Nonzero: it could not be written. */
int ct_watch_line(const struct ct_watch_event *event, FILE *out);

/* "TIME KIND TEXT". Nonzero: it could not be written. */
int ct_watch_put_line(const char *kind, const char *text, FILE *out);

/* The last line of a log: how the job ended, and what was seen that was not sure enough for an
 * event. */
int ct_watch_last_line(const struct ct_watcher *watcher, FILE *out);

#endif
