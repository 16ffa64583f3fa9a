/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "trace/clock.h"
#include "trace/ring_dir.h"

static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
#define N_PASSED (sizeof(passed_on) / sizeof(passed_on[0]))

/* What of the signal state is not the child's. */
struct signal_state {
	sigset_t waited; /* blocked while the child lives, taken by sigwaitinfo() */
	sigset_t mask_before;
	struct sigaction chld_before;
	int ignored[N_PASSED]; /* from the start (nohup): not passed on either */
};

static void signals_take(struct signal_state *state)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	sigemptyset(&state->waited);
	sigaddset(&state->waited, SIGCHLD);
	for (size_t i = 0; i < N_PASSED; i++) {
		struct sigaction now;

		sigaddset(&state->waited, passed_on[i]);
		sigaction(passed_on[i], NULL, &now);
		state->ignored[i] = now.sa_handler == SIG_IGN;
	}
	/* An ignored SIGCHLD is inherited, and would reap the child before its end is known. */
	sigaction(SIGCHLD, &action, &state->chld_before);
	sigprocmask(SIG_BLOCK, &state->waited, &state->mask_before);
}

static void signals_give_back(struct signal_state *state)
{
	sigaction(SIGCHLD, &state->chld_before, NULL);
	sigprocmask(SIG_SETMASK, &state->mask_before, NULL);
}

static void __attribute__((noreturn))
become(struct ct_child *child, struct signal_state *state, int report)
{
	int error;

	ct_signals_undo();
	signals_give_back(state);
	if (child->prepare && child->prepare(child->arg) != 0)
		error = ENOMEM;
	else {
		execvp(child->argv[0], child->argv);
		error = errno;
	}
	(void)!write(report, &error, sizeof(error));
	_exit(CT_CODE_RUN_FAILED);
}

static void pass_on(struct ct_child *child, const struct signal_state *state, const siginfo_t *info)
{
	/* The terminal and the kernel send to the whole process group; only signals sent to this
	 * process alone would not reach the child. */
	if (info->si_code != SI_USER && info->si_code != SI_QUEUE && info->si_code != SI_TKILL)
		return;
	for (size_t i = 0; i < N_PASSED; i++) {
		if (passed_on[i] == info->si_signo && state->ignored[i])
			return;
	}
	ct_ring_note_kill(child->ring_dirs, child->pid, info->si_signo,
			  ct_clock_ns(CLOCK_MONOTONIC));
	kill(child->pid, info->si_signo);
}

static int wait_for(struct ct_child *child, const struct signal_state *state)
{
	siginfo_t info;

	for (;;) {
		memset(&info, 0, sizeof(info));
		if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
			return -1;
		if (info.si_pid == child->pid)
			break;
		if (sigwaitinfo(&state->waited, &info) > 0 && info.si_signo != SIGCHLD)
			pass_on(child, state, &info);
		child->was_asked |= info.si_signo == SIGINT || info.si_signo == SIGTERM ||
				    info.si_signo == SIGHUP;
	}
	child->status = info.si_code == CLD_EXITED
				? info.si_status << 8
				: (info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0));
	ct_ring_note_death(child->ring_dirs, child->pid, child->status,
			   ct_clock_ns(CLOCK_MONOTONIC));
	while (waitpid(child->pid, &child->status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return 0;
}

int ct_child_run(struct ct_child *child)
{
	struct signal_state state;
	int report[2];
	int result = -1;

	if (pipe2(report, O_CLOEXEC) < 0) {
		ct_say("cannot start '%s': pipe: %s", child->argv[0], strerror(errno));
		return -1;
	}
	signals_take(&state);
	child->pid = fork();
	if (child->pid < 0) {
		ct_say("cannot start '%s': fork: %s", child->argv[0], strerror(errno));
		close(report[1]);
		goto out;
	}
	if (child->pid == 0)
		become(child, &state, report[1]);
	close(report[1]);
	if (read(report[0], &child->exec_error, sizeof(child->exec_error)) !=
	    (ssize_t)sizeof(child->exec_error))
		child->exec_error = 0; /* closed by exec: it runs */
	if (wait_for(child, &state) < 0) {
		ct_say("cannot wait for '%s': %s", child->argv[0], strerror(errno));
		goto out;
	}
	result = 0;
out:
	close(report[0]);
	signals_give_back(&state);
	return result;
}

int ct_child_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
