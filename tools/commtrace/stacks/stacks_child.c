/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/stacks/stacks_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/say.h"

#define PROGRAM "commtrace-stacks"

/* From the folder of this program: beside it, and where distributions put programs that others run.
 */
static const char *const folders[] = { ".", "../libexec/commtrace", "../libexec" };

/* The path, to be freed; NULL: it is in none of the folders. */
static char *beside(void)
{
	char self[PATH_MAX], *slash, *path = NULL;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return NULL;
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (asprintf(&path, "%s/%s/%s", self, folders[i], PROGRAM) < 0)
			return NULL;
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static void say_missing(void)
{
	ct_say("cannot take stacks: %s is not beside commtrace, in ../libexec, or in PATH",
	       PROGRAM);
#ifdef __x86_64__
	ct_hint("it is built where libunwind is: apt-get install libunwind-dev, then cmake");
#else
	ct_hint("it reads x86-64 only; commtrace hang RUN -v has the stacks that were recorded");
#endif
}

static void __attribute__((noreturn)) become(const char *path, char **argv, int out)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	if (path)
		execv(path, argv);
	else
		execvp(PROGRAM, argv);
	_exit(127);
}

/* 0 not started. */
static pid_t start(const char *const *targets, size_t n, int out)
{
	char **argv = calloc(n + 2, sizeof(*argv)), *path = beside();
	pid_t pid = -1;

	int is_whole = argv && (argv[0] = strdup(PROGRAM));

	for (size_t i = 0; i < n && is_whole; i++)
		is_whole = (argv[i + 1] = strdup(targets[i])) != NULL;
	if (is_whole)
		pid = fork();
	if (pid == 0)
		become(path, argv, out);
	if (pid < 0)
		ct_say("cannot start %s: %s", PROGRAM, strerror(errno));
	for (size_t i = 0; argv && i <= n; i++)
		free(argv[i]);
	free(argv);
	free(path);
	return pid > 0 ? pid : 0;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* All that is written until the end, or until the time is over. The text, to be freed, with *late
 * set. */
static char *read_all(int fd, unsigned limit_s, size_t *len, int *late)
{
	const uint64_t end = now_ms() + 1000ull * limit_s;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	char piece[1u << 16]; /* size: what a pipe holds */

	for (;;) {
		uint64_t now = now_ms();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int left = !limit_s ? -1 : now < end ? (int)(end - now) : 0;
		ssize_t got;

		const int ready = poll(&wait, 1, left);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0) {
			*late = ready == 0;
			break;
		}
		got = read(fd, piece, sizeof(piece));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || !out)
			break;
		fwrite(piece, (size_t)got, 1, out);
	}
	if (out)
		fclose(out);
	return text;
}

json_t *ct_stacks_child(const char *const *targets, size_t n, unsigned limit_s)
{
	int ends[2], status = 0, late = 0;
	json_t *stacks = NULL;
	char *text = NULL;
	size_t len = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		ct_say("cannot start %s: %s", PROGRAM, strerror(errno));
		return NULL;
	}
	pid = start(targets, n, ends[1]);
	close(ends[1]);
	if (pid) {
		text = read_all(ends[0], limit_s, &len, &late);
		if (late)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	if (pid && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		say_missing();
	} else if (late) {
		ct_say("%s was ended after %u s", PROGRAM, limit_s);
	} else if (pid) {
		stacks = text ? json_loadb(text, len, 0, NULL) : NULL;
		if (!stacks)
			ct_say("%s failed: status %d", PROGRAM,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	}
	free(text);
	return stacks;
}
