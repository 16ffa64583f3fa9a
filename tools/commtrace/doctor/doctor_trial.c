/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/doctor_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/signals.h"

#define MOST ((size_t)1 << 20) /* size: bytes of what a trial says; a start says some lines */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void __attribute__((noreturn)) become(const struct ct_trial *trial, int out)
{
	int in = open("/dev/null", O_RDONLY);

	ct_signals_undo();
	setpgid(0, 0); /* all that it starts is killed with it */
	if (in >= 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2 &&
	    (!trial->prepare || trial->prepare(trial->arg) == 0))
		execvp(trial->argv[0], (char *const *)(uintptr_t)trial->argv);
	_exit(127);
}

/* Until it closes its output, or time or space is out. */
static void listen_to(struct ct_trial *trial, int fd, int64_t end, size_t *len)
{
	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int64_t left = end - now_ms();
		char rest[4096];
		ssize_t got;

		if (left <= 0 || poll(&wait, 1, (int)left) == 0)
			return;
		got = *len < MOST ? read(fd, trial->said + *len, MOST - *len)
				  : read(fd, rest, sizeof(rest));
		if (got == 0 || (got < 0 && errno != EINTR))
			return;
		if (got > 0 && *len < MOST)
			*len += (size_t)got;
	}
}

/* All of it ends; by itself, if there is time. */
static void bring_to_end(struct ct_trial *trial, pid_t pid, int64_t end)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid &&
	       !trial->is_late) {
		trial->is_late = now_ms() >= end;
		nanosleep(&nap, NULL);
	}
	kill(-pid, SIGKILL);
	while (waitpid(pid, &trial->status, 0) < 0 && errno == EINTR)
		;
}

int ct_trial(struct ct_trial *trial)
{
	int64_t end = now_ms() + (int64_t)trial->seconds * 1000;
	int pipe_fds[2];
	size_t len = 0;
	pid_t pid;

	trial->is_late = 0;
	trial->said = malloc(MOST + 1);
	if (!trial->said || pipe2(pipe_fds, O_CLOEXEC) != 0) {
		free(trial->said);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become(trial, pipe_fds[1]);
	close(pipe_fds[1]);
	if (pid > 0) {
		setpgid(pid, pid);
		listen_to(trial, pipe_fds[0], end, &len);
		bring_to_end(trial, pid, end);
	}
	close(pipe_fds[0]);
	trial->said[len] = '\0';
	if (pid < 0)
		free(trial->said);
	return pid < 0 ? -1 : 0;
}
