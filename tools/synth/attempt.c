/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	const char *run, *truth;
	int truth_is_new;
	sigset_t waited, before;
	pthread_t thread;
	int has_thread;
	/* Held while things are taken away, so that only one does; a process that dies holding it
	 * blocks all others. */
	pthread_mutex_t taking_away;
} attempt = { .taking_away = PTHREAD_MUTEX_INITIALIZER };

static int ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), e = strlen(end);

	return n >= e && strcmp(name + n - e, end) == 0;
}

static void remove_segments(void)
{
	DIR *dir = opendir(attempt.run);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (ends_in(entry->d_name, ".seg"))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* Others may still be writing: what they make meanwhile is taken away in another round. */
static void take_away(void)
{
	struct stat is;

	for (int round = 0; round < 1000; round++) {
		remove_segments();
		if (rmdir(attempt.run) == 0 || errno != ENOTEMPTY)
			break;
	}
	if (attempt.truth_is_new && lstat(attempt.truth, &is) == 0 && S_ISREG(is.st_mode))
		unlink(attempt.truth);
}

/* Waits for a signal, takes everything away and dies of it. */
static void *watch(void *arg)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t one;
	int which;

	if (sigwait(&attempt.waited, &which))
		return arg;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_mutex_lock(&attempt.taking_away);
	take_away();
	sigaction(which, &by_default, NULL);
	sigemptyset(&one);
	sigaddset(&one, which);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(which);
	_exit(128 + which);
}

int ct_attempt_begin(const char *run, const char *truth, int *dirfd, struct ct_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, is;
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	attempt.run = run;
	attempt.truth = truth;
	attempt.truth_is_new = access(truth, F_OK) != 0;
	sigemptyset(&attempt.waited);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* what a shell or nohup has switched off stays so */
		if (sigaction(signals[i], NULL, &is) == 0 && is.sa_handler != SIG_IGN)
			sigaddset(&attempt.waited, signals[i]);
	}
	sigaction(SIGXFSZ, &ignore, NULL); /* too large a file is an error as others are */
	if (mkdir(run, 0777))
		return ct_fail(err, CT_IO, "%s", strerror(errno));
	pthread_sigmask(SIG_BLOCK, &attempt.waited, &attempt.before);
	attempt.has_thread = pthread_create(&attempt.thread, NULL, watch, NULL) == 0;
	if (!attempt.has_thread)
		pthread_sigmask(SIG_SETMASK, &attempt.before, NULL);
	*dirfd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dirfd >= 0)
		return CT_OK;
	ct_fail(err, CT_IO, "%s", strerror(errno));
	ct_attempt_end(0);
	return CT_IO;
}

void ct_attempt_end(int is_kept)
{
	pthread_mutex_lock(&attempt.taking_away);
	if (!is_kept)
		take_away();
	pthread_mutex_unlock(&attempt.taking_away);
	if (!attempt.has_thread)
		return;
	/* a signal that it has seen already still ends the process */
	pthread_cancel(attempt.thread);
	pthread_join(attempt.thread, NULL);
	attempt.has_thread = 0;
	pthread_sigmask(SIG_SETMASK, &attempt.before, NULL);
}
