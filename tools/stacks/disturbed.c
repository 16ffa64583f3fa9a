/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/disturbed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static const long disturbed[] = { SYS_epoll_wait,   SYS_epoll_pwait,   441 /* fact: epoll_pwait2 */,
				  SYS_semop,	    SYS_semtimedop,    SYS_rt_sigtimedwait,
				  SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter };

/* And these, on a socket with a time limit. */
static const long on_sockets[] = { SYS_read,	 SYS_write,    SYS_readv,  SYS_writev,
				   SYS_recvfrom, SYS_recvmsg,  SYS_sendto, SYS_sendmsg,
				   SYS_recvmmsg, SYS_sendmmsg, SYS_accept, SYS_accept4,
				   SYS_connect };

/* 1: the descriptor is a socket with a time limit, or one that cannot be asked. */
static int has_limit(pid_t pid, int fd)
{
	static const int which[] = { SO_RCVTIMEO, SO_SNDTIMEO };
	char path[64], link[64] = "";
	int pidfd, own, limited = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (readlink(path, link, sizeof(link) - 1) < 0 || strncmp(link, "socket:", 7) != 0)
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	own = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		struct timeval limit = { 0 };
		socklen_t len = sizeof(limit);

		if (own < 0 || getsockopt(own, SOL_SOCKET, which[i], &limit, &len) != 0 ||
		    limit.tv_sec || limit.tv_usec)
			limited = 1;
	}
	if (own >= 0)
		close(own);
	if (pidfd >= 0)
		close(pidfd);
	return limited;
}

static int is_among(long number, const long *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return 1;
	return 0;
}

int ct_disturbed_by_pause(pid_t pid, const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text) /* "running" */
		return 0;
	return is_among(number, disturbed, sizeof(disturbed) / sizeof(disturbed[0])) ||
	       (is_among(number, on_sockets, sizeof(on_sockets) / sizeof(on_sockets[0])) &&
		has_limit(pid, (int)strtoul(end, NULL, 16)));
}
