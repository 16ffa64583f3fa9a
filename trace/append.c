/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/append.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int ct_fd_clear_of_stdio(int fd)
{
	int saved = errno;
	int moved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved >= 0) {
		close(fd);
		fd = moved;
	}
	errno = saved;
	return fd;
}

int ct_append(int fd, uint64_t at, const void *data, size_t bytes)
{
	const char *p = data;
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    (at > limit.rlim_cur || bytes > limit.rlim_cur - at))
		return EFBIG;
	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return EIO; /* no regular file does this; do not loop forever */
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

const char *ct_errno_text(int number, char *text, size_t cap)
{
	return strerror_r(number, text, cap);
}
