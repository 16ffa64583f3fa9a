/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/append.h"

static _Atomic int log_fd = -1;

int ct_log_open(const char *path)
{
	const char *p = strstr(path, "%p");
	char name[512];
	int fd;

	/* a forked child's copy is its parent's file */
	atomic_store_explicit(&log_fd, -1, memory_order_relaxed);
	if (!path[0])
		return 0;
	if (p)
		snprintf(name, sizeof(name), "%.*s%d%s", (int)(p - path), path, (int)getpid(),
			 p + 2);
	else
		snprintf(name, sizeof(name), "%s", path);
	fd = open(name,
		  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		  0600);
	if (fd < 0)
		return -1;
	atomic_store_explicit(&log_fd, ct_fd_clear_of_stdio(fd), memory_order_relaxed);
	return 0;
}

void ct_log_close(void)
{
	int fd = atomic_exchange_explicit(&log_fd, -1, memory_order_relaxed);

	if (fd >= 0)
		close(fd);
}

void ct_log(const char *fmt, ...)
{
	int fd = atomic_load_explicit(&log_fd, memory_order_relaxed);
	int saved = errno;
	struct timespec now;
	char line[700];
	ssize_t written;
	va_list ap;
	int n;

	if (fd < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	n = snprintf(line, sizeof(line) - 2, "commtrace[%d] %lld.%06ld ", (int)getpid(),
		     (long long)now.tv_sec, now.tv_nsec / 1000);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - 2 - (size_t)n, fmt, ap);
	va_end(ap);
	n = (int)strlen(line);
	line[n++] = '\n';
	written = write(fd, line, (size_t)n);
	(void)written;
	errno = saved;
}
