/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/start_line.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/ring.h"
#include "trace/text.h"

int ct_start_line_is_mine(const struct ct_process *process, const char *const *dirs)
{
	char name[CT_RING_NAME_MAX];
	char path[512];

	if (process->nth > 0)
		return 0;
	if (process->rank >= 0)
		return process->rank == 0;
	ct_ring_name(name, process->pidns, process->ppid);
	for (; *dirs; dirs++) {
		snprintf(path, sizeof(path), "%s/%s", *dirs, name);
		if (access(path, F_OK) == 0)
			return 0;
	}
	return 1;
}

/* A closed pipe raises SIGPIPE, which would end the program. Blocks it for this thread, and
 * consumes the one that this write raised. */
static void write_quietly(const char *line, size_t len)
{
	const struct timespec now = { 0, 0 };
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	sigset_t pipe_only, before, pending;
	int was_pending;

	/* never wait for a reader */
	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
		return;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &pipe_only, &before) != 0)
		return;
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE);
	if (write(STDERR_FILENO, line, len) < 0 && !was_pending)
		sigtimedwait(&pipe_only, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Append to what is there; what does not fit is cut. Returns the new length. */
static size_t __attribute__((format(printf, 4, 5)))
add(char *line, size_t size, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + len, size - len, fmt, ap);
	va_end(ap);
	return len + strlen(line + len);
}

/* Paths and values of settings are untrusted bytes. */
static void write_line(const char *text)
{
	char line[2048 + 1];
	size_t len = ct_text_clean(line, sizeof(line) - 1, text, strlen(text));

	line[len++] = '\n';
	write_quietly(line, len);
}

void ct_start_line_refuse(const char *why)
{
	char line[512];

	snprintf(line, sizeof(line), "commtrace: not recording: %s", why);
	write_line(line);
}

void ct_start_line_write(const struct ct_process *process, const struct ct_notes *notes)
{
	char line[2048], run[1024];
	size_t len = 0;

	line[0] = '\0';
	if (!process->run_dir[0])
		len = add(line, sizeof(line), len, "commtrace: recording to memory only");
	else if (ct_text_quote(run, sizeof(run), process->run_dir))
		len = add(line, sizeof(line), len,
			  "commtrace: recording to %s; then: commtrace report %s", process->run_dir,
			  run);
	else
		len = add(line, sizeof(line), len, "commtrace: recording to %s", process->run_dir);
	for (unsigned i = 0; i < notes->n; i++)
		len = add(line, sizeof(line), len, "; warning: %s", notes->text[i]);
	write_line(line);
}
