/* SPDX-License-Identifier: Apache-2.0 */
/* child.h — start a program, pass signals on to it, wait, and note in its ring how it ended.
 *
 * While it lives, signals of the terminal reach it directly; those sent to commtrace are forwarded,
 * and the note says so. Its end is noted before it is reaped, so that the note cannot go to another
 * process with the same pid. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_BASE_CHILD_H
#define CT_TOOLS_COMMTRACE_BASE_CHILD_H

#include <sys/types.h>

struct ct_child {
	char **argv;
	int (*prepare)(
		void *arg); /* in the child before exec: sets its environment; nonzero: give up */
	void *arg;
	const char *const *ring_dirs; /* where its ring may be, NULL-terminated */

	/* filled */
	pid_t pid;
	int status;    /* as waitpid gives it */
	int was_asked; /* this process got SIGINT, SIGTERM or SIGHUP meanwhile: it is to end, too */
	int exec_error; /* errno of exec, 0 if it was executed */
};

/* 0, or -1 if the program could not be started or waited for, after it was said why (a failed exec
 * is not said here). */
int ct_child_run(struct ct_child *child);

/* Exit status of a shell for this wait status. */
int ct_child_code(int status);

#endif
