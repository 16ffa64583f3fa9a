/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ct_textfile_write(const char *path, const char *text, size_t len, struct ct_err *err)
{
	char part[4096];
	size_t at = 0;
	int fd, error = 0;

	/* the collector reads *.prom only */
	if (snprintf(part, sizeof(part), "%s.tmp.%d", path, (int)getpid()) >= (int)sizeof(part))
		return ct_fail(err, CT_IO, "%s: %s", path, strerror(ENAMETOOLONG));
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return ct_fail(err, CT_IO, "%s: %s", part, strerror(errno));
	while (at < len && !error) {
		ssize_t n = write(fd, text + at, len - at);

		if (n < 0 && errno != EINTR)
			error = errno;
		at += n > 0 ? (size_t)n : 0;
	}
	if (close(fd) != 0 && !error)
		error = errno;
	if (!error && rename(part, path) != 0)
		error = errno;
	if (!error)
		return CT_OK;
	unlink(part);
	return ct_fail(err, CT_IO, "%s: %s", path, strerror(error));
}
