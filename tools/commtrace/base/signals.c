/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
#define N_ENDING (sizeof(ending) / sizeof(ending[0]))

static const int ignored[] = { SIGPIPE, SIGXFSZ };
#define N_IGNORED (sizeof(ignored) / sizeof(ignored[0]))

static struct sigaction ignored_before[N_IGNORED];
static struct sigaction ending_before[N_ENDING];
static sigset_t held_before;
/* Empty: a free slot. */
static char remove_paths[CT_SIGNALS_FILES][4096];
static volatile sig_atomic_t deferring, deferred;

static void on_end(int sig)
{
	static const char text[] = "commtrace: interrupted\n";

	if (deferring && !deferred) {
		deferred = 128 + sig;
		return;
	}
	for (size_t i = 0; i < CT_SIGNALS_FILES; i++) {
		if (remove_paths[i][0])
			unlink(remove_paths[i]);
	}
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(128 + sig); /* nowhere to say it */
	_exit(128 + sig);
}

void ct_signals_begin(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };

	for (int fd = 0; fd <= 2; fd++) {
		/* Close-on-exec: a program that `run` starts finds it closed, as it was. Read-only
		 * where we write: the results have nowhere to go and writing must fail. */
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &action, &ignored_before[i]);
	action.sa_handler = on_end;
	for (size_t i = 0; i < N_ENDING; i++) {
		sigaction(ending[i], NULL, &ending_before[i]);
		if (ending_before[i].sa_handler != SIG_IGN) /* nohup stays nohup */
			sigaction(ending[i], &action, NULL);
	}
}

void ct_signals_remove_on_end(const char *path)
{
	for (size_t i = 0; i < CT_SIGNALS_FILES && strlen(path) < sizeof(remove_paths[i]); i++) {
		if (remove_paths[i][0])
			continue;
		/* Its first letter comes last: the handler must never see a half-copied path. */
		memcpy(remove_paths[i] + 1, path + 1, strlen(path));
		atomic_signal_fence(memory_order_seq_cst);
		remove_paths[i][0] = path[0];
		return;
	}
}

void ct_signals_keep(const char *path)
{
	for (size_t i = 0; i < CT_SIGNALS_FILES; i++) {
		if (strcmp(remove_paths[i], path) == 0)
			remove_paths[i][0] = '\0';
	}
}

void ct_signals_hold(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_ENDING; i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &held_before);
}

void ct_signals_release(void)
{
	sigprocmask(SIG_SETMASK, &held_before, NULL);
}

void ct_signals_defer(void)
{
	deferring = 1;
}

int ct_signals_deferred(void)
{
	return deferred;
}

void ct_signals_undo(void)
{
	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &ignored_before[i], NULL);
	for (size_t i = 0; i < N_ENDING; i++)
		sigaction(ending[i], &ending_before[i], NULL);
}
