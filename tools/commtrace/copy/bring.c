/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/copy/bring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ct_bring_bytes(int fd, const void *data, size_t bytes)
{
	const char *p = data;

	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO; /* no regular file does this; do not loop forever */
		if (n <= 0)
			return -1;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int ct_bring_link(const char *from, int dirfd, const char *name)
{
	return linkat(AT_FDCWD, from, dirfd, name, 0);
}

static int copy_bytes(int from, int to)
{
	char buffer[65536];

	for (;;) {
		ssize_t n = read(from, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : 0;
		if (ct_bring_bytes(to, buffer, (size_t)n) != 0)
			return -1;
	}
}

int ct_bring_copy(const char *from, int dirfd, const char *name)
{
	char *part;
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out = -1, result = -1, error;

	if (in < 0)
		return -1;
	if (asprintf(&part, "%s.tmp.%d", name, (int)getpid()) < 0) {
		close(in);
		errno = ENOMEM;
		return -1;
	}
	out = openat(dirfd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out >= 0)
		result = copy_bytes(in, out);
	error = errno;
	if (out >= 0 && close(out) != 0 && result == 0) {
		result = -1;
		error = errno;
	}
	if (result == 0 && renameat(dirfd, part, dirfd, name) != 0) {
		result = -1;
		error = errno;
	}
	if (result < 0 && out >= 0)
		unlinkat(dirfd, part, 0);
	close(in);
	free(part);
	errno = error;
	return result;
}
