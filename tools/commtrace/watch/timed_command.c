/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/timed_command.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/child.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "trace/clock.h"

#define NAP_MS 50 /* size: between two looks at the command */

/* A file in memory: a command that does not read it, or only a part, does not block the writer. */
static int input_of(const char *text)
{
	int fd = memfd_create("verdict", MFD_CLOEXEC);
	size_t n = strlen(text);

	while (fd >= 0 && n) {
		ssize_t done = write(fd, text, n);

		if (done <= 0)
			break;
		text += done;
		n -= (size_t)done;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static void __attribute__((noreturn))
become(const char *line, int input, const struct ct_timed_variable *variables, size_t n_variables)
{
	sigset_t none;

	setpgid(0, 0);
	ct_signals_undo();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < n_variables; i++)
		setenv(variables[i].name, variables[i].value, 1);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

void ct_timed_command_start(struct ct_timed_command *command, const char *line, const char *input,
			    const struct ct_timed_variable *variables, size_t n_variables)
{
	int fd = input_of(input);
	pid_t pid = fd >= 0 ? fork() : -1;

	if (pid == 0)
		become(line, fd, variables, n_variables);
	if (pid < 0)
		ct_warn("cannot run '%s': %s", line, strerror(errno));
	else
		setpgid(pid, pid); /* by the first of both */
	command->pid = pid > 0 ? pid : 0;
	command->began_ns = ct_clock_ns(CLOCK_MONOTONIC);
	if (fd >= 0)
		close(fd);
}

/* For a moment. 1: the waiting is to end. */
static int is_stopped(int stop)
{
	/* what was written into the pipe is for others: only its end counts */
	struct pollfd fd = { .fd = stop };

	return poll(&fd, stop >= 0, NAP_MS) < 0 || (fd.revents & POLLHUP) || ct_signals_deferred();
}

/* With what it started. */
static void kill_it(struct ct_timed_command *command)
{
	kill(-command->pid, SIGKILL);
	while (waitpid(command->pid, NULL, 0) < 0 && errno == EINTR)
		;
	command->pid = 0;
}

int ct_timed_command_ended(struct ct_timed_command *command, uint64_t limit_s)
{
	int status = 0;
	pid_t ended = command->pid ? waitpid(command->pid, &status, WNOHANG) : 0;

	if (!command->pid)
		return 1;
	if (ended == command->pid && ct_child_code(status))
		ct_warn("the command of %s ended with status %d", command->option,
			ct_child_code(status));
	if (ended == command->pid || (ended < 0 && errno != EINTR)) {
		command->pid = 0;
	} else if (ct_clock_ns(CLOCK_MONOTONIC) - command->began_ns > limit_s * 1000000000ull) {
		kill_it(command);
		ct_warn("the command of %s was killed after %" PRIu64 " s", command->option,
			limit_s);
	}
	return !command->pid;
}

void ct_timed_command_wait(struct ct_timed_command *command, uint64_t limit_s, int stop)
{
	while (!ct_timed_command_ended(command, limit_s)) {
		if (!is_stopped(stop))
			continue;
		kill_it(command);
		ct_warn("the command of %s was killed: commtrace is to end", command->option);
	}
}
