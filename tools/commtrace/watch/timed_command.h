/* SPDX-License-Identifier: Apache-2.0 */
/* timed_command.h — a command of the user's for the shell, in a process group of its own, with a
 * text as its standard input, and killed with all that it started when its time is over. One
 * thread. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_TIMED_COMMAND_H
#define CT_TOOLS_COMMTRACE_WATCH_TIMED_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ct_timed_command {
	const char *option; /* that names it, for messages */
	pid_t pid;	    /* 0: it was not started */
	uint64_t began_ns;
};

struct ct_timed_variable {
	const char *name, *value;
};

/* Start it, with these variables in its environment. If it cannot be started, that is said. */
void ct_timed_command_start(struct ct_timed_command *command, const char *line, const char *input,
			    const struct ct_timed_variable *variables, size_t n_variables);

/* Has it ended, or was it never started? Also if it was killed now, as its time is over. A command
 * that fails, or is killed, is reported. */
int ct_timed_command_ended(struct ct_timed_command *command, uint64_t limit_s);

/* Wait for its end, at most until `limit_s` after its start, or until the other end of the pipe
 * `stop` is closed (-1: none) or a signal was deferred (signals.h). A command that fails, or is
 * killed, is reported. */
void ct_timed_command_wait(struct ct_timed_command *command, uint64_t limit_s, int stop);

#endif
