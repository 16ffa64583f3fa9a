/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/append.h"
#include "trace/block.h"

static int is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

/* Copy up to `max` characters of a string that may lack its NUL, with characters that do not belong
 * in a file name replaced. */
static void put_plain(char *to, const char *from, size_t max)
{
	size_t i;

	for (i = 0; i < max && from[i]; i++)
		to[i] = is_plain(from[i]) ? from[i] : '_';
	to[i] = '\0';
	if (to[0] == '.')
		to[0] = '_'; /* would be hidden */
}

void ct_segment_stem(char *name, const struct ct_process *process)
{
	char host[sizeof(process->host)];
	char boot[5];

	put_plain(host, process->host, sizeof(host) - 1);
	put_plain(boot, process->boot_id, 4);
	snprintf(name, CT_SEGMENT_NAME_MAX, "%s.%s.%u.%llx", host[0] ? host : "host",
		 boot[0] ? boot : "0000", process->pid, (unsigned long long)process->start_ns);
}

void ct_segment_name(char *name, const struct ct_process *process, uint32_t number)
{
	size_t len;

	ct_segment_stem(name, process);
	len = strlen(name);
	snprintf(name + len, CT_SEGMENT_NAME_MAX - len, ".%u.seg", number);
}

void ct_segment_init(struct ct_segment_writer *writer, const struct ct_process *process, int dirfd)
{
	memset(writer, 0, sizeof(*writer));
	writer->process = *process;
	writer->dirfd = dirfd;
	writer->fd = -1;
}

static int fail(const struct ct_segment_writer *writer, uint32_t number, uint64_t at, int why,
		struct ct_err *err)
{
	char name[CT_SEGMENT_NAME_MAX];
	char text[96];

	ct_segment_name(name, &writer->process, number);
	return ct_fail(err, CT_IO, "%s: offset %llu: %s", name, (unsigned long long)at,
		       ct_errno_text(why, text, sizeof(text)));
}

static int write_header(const struct ct_segment_writer *writer, int fd, uint32_t number)
{
	struct timespec now = { 0 };
	struct ct_segment_header header = {
		.opened_ns = writer->opened_ns,
		.magic = CT_SEGMENT_MAGIC,
		.version = CT_FORMAT_VERSION,
		.header_bytes = sizeof(header),
		.number = number,
		.process = writer->process,
	};

	if (!header.opened_ns) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		header.opened_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	}
	header.crc = ct_crc32c(0, &header, sizeof(header));
	return ct_append(fd, 0, &header, sizeof(header));
}

int ct_segment_next(struct ct_segment_writer *writer, struct ct_err *err)
{
	uint32_t number = writer->oldest + writer->n_sizes;
	char name[CT_SEGMENT_NAME_MAX];
	uint64_t *sizes;
	int why;
	int fd;

	sizes = realloc(writer->sizes, (writer->n_sizes + 1) * sizeof(*sizes));
	if (!sizes)
		return ct_fail(err, CT_NOMEM, "segment %u: out of memory", number);
	writer->sizes = sizes;

	ct_segment_name(name, &writer->process, number);
	fd = openat(writer->dirfd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return fail(writer, number, 0, errno, err);
	fd = ct_fd_clear_of_stdio(fd);
	why = write_header(writer, fd, number);
	if (why) {
		/* the next try needs the name */
		unlinkat(writer->dirfd, name, 0);
		close(fd);
		return fail(writer, number, 0, why, err);
	}
	/* Only now: while no new one can be opened, the old one stays in use. */
	if (writer->fd >= 0)
		close(writer->fd);
	writer->fd = fd;
	writer->number = number;
	writer->bytes = sizeof(struct ct_segment_header);
	writer->total += writer->bytes;
	writer->sizes[writer->n_sizes++] = writer->bytes;
	return CT_OK;
}

int ct_segment_append(struct ct_segment_writer *writer, const void *block, size_t bytes,
		      struct ct_err *err)
{
	int why;

	if (writer->fd < 0)
		return ct_fail(err, CT_IO, "no segment is open");
	why = ct_append(writer->fd, writer->bytes, block, bytes);
	if (why) {
		/* Should the cut fail, the next block overwrites what is there: readers look for
		 * it. */
		int cut = ftruncate(writer->fd, (off_t)writer->bytes);

		(void)cut;
		lseek(writer->fd, (off_t)writer->bytes, SEEK_SET);
		return fail(writer, writer->number, writer->bytes, why, err);
	}
	writer->bytes += bytes;
	writer->total += bytes;
	writer->sizes[writer->n_sizes - 1] = writer->bytes;
	return CT_OK;
}

uint32_t ct_segment_trim(struct ct_segment_writer *writer, uint64_t max_bytes)
{
	uint32_t closed = writer->fd >= 0 && writer->n_sizes ? writer->n_sizes - 1
							     : writer->n_sizes;
	uint32_t n = 0;

	while (n < closed && writer->total > max_bytes) {
		char name[CT_SEGMENT_NAME_MAX];

		ct_segment_name(name, &writer->process, writer->oldest + n);
		if (unlinkat(writer->dirfd, name, 0) != 0 && errno != ENOENT)
			break;
		writer->total -= writer->sizes[n];
		n++;
	}
	if (n) {
		writer->oldest += n;
		writer->n_sizes -= n;
		memmove(writer->sizes, writer->sizes + n, writer->n_sizes * sizeof(*writer->sizes));
	}
	return n;
}

void ct_segment_close(struct ct_segment_writer *writer)
{
	if (writer->fd >= 0)
		close(writer->fd);
	writer->fd = -1;
	free(writer->sizes);
	writer->sizes = NULL;
	writer->oldest += writer->n_sizes;
	writer->n_sizes = 0;
	writer->total = 0;
	writer->bytes = 0;
}
