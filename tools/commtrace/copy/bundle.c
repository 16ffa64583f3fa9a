/* SPDX-License-Identifier: Apache-2.0 */
/* The format is POSIX ustar: names of at most 100 bytes and plain files are all that is needed, and
 * libarchive would add five libraries to a program that is linked statically. */
#include "tools/commtrace/copy/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/copy/ring_copy.h"

#define BLOCK 512u /* fact: tar has blocks of it */

struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a header is a block");

struct bundle {
	FILE *out;
	uint64_t room; /* for files of the run */
	char *left_out;
	size_t left_out_bytes;
	FILE *left_out_list;
};

static int put_header(struct bundle *b, const char *name, uint64_t bytes)
{
	struct ustar h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
	unsigned sum = 0;

	if (strlen(name) >= sizeof(h.name))
		return -1;
	memcpy(h.name, name, strlen(name));
	snprintf(h.mode, sizeof(h.mode), "%07o", 0600);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0);
	snprintf(h.size, sizeof(h.size), "%011llo", (unsigned long long)bytes);
	snprintf(h.mtime, sizeof(h.mtime), "%011llo", (unsigned long long)time(NULL));
	memset(h.sum, ' ', sizeof(h.sum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	snprintf(h.sum, sizeof(h.sum), "%06o", sum);
	return fwrite(&h, sizeof(h), 1, b->out) == 1 ? 0 : -1;
}

static int put_zeros(struct bundle *b, uint64_t n)
{
	static const char zeros[2 * BLOCK];

	for (uint64_t part; n; n -= part) {
		part = n < sizeof(zeros) ? n : sizeof(zeros);
		if (fwrite(zeros, (size_t)part, 1, b->out) != 1)
			return -1;
	}
	return 0;
}

static int put_bytes(struct bundle *b, const char *name, const char *bytes, size_t n)
{
	if (put_header(b, name, n) < 0 || (n && fwrite(bytes, n, 1, b->out) != 1))
		return -1;
	return put_zeros(b, (BLOCK - n % BLOCK) % BLOCK);
}

/* A segment may grow meanwhile: as much of it as it had. One that shrank is filled up with zeros,
 * which readers take for its end. */
static int put_contents(struct bundle *b, const char *name, int fd, uint64_t bytes)
{
	char buffer[1u << 16]; /* size: one reading */
	uint64_t left = bytes;

	if (put_header(b, name, bytes) < 0)
		return -1;
	while (left) {
		ssize_t n = read(fd, buffer, left < sizeof(buffer) ? (size_t)left : sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (fwrite(buffer, (size_t)n, 1, b->out) != 1)
			return -1;
		left -= (uint64_t)n;
	}
	return put_zeros(b, left + (BLOCK - bytes % BLOCK) % BLOCK);
}

/* An open file, under this name in the run. One for which there is no space is left out and listed.
 * -1: the bundle cannot be written. */
static int put_open(struct bundle *b, int fd, const char *name)
{
	char inside[100]; /* fact: most of a name in ustar */
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size > b->room ||
	    snprintf(inside, sizeof(inside), "run/%s", name) >= (int)sizeof(inside)) {
		fprintf(b->left_out_list, "%s\n", name);
		return 0;
	}
	b->room -= (uint64_t)st.st_size;
	return put_contents(b, inside, fd, (uint64_t)st.st_size);
}

static int put_file(struct bundle *b, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int failed = put_open(b, fd, name);

	if (fd >= 0)
		close(fd);
	return failed;
}

/* Copies of the rings, one after the other in memory: on a disk that is full, and of a watcher that
 * is killed, nothing else is left. */
static int put_rings(struct bundle *b, const struct ct_run *run)
{
	char name[CT_RING_COPY_NAME];
	int failed = 0;

	for (size_t i = 0; i < run->n_processes && !failed; i++) {
		const struct ct_process_info *process = &run->processes[i];
		int fd;

		if (process->ring != CT_RING_PRESENT)
			continue;
		fd = memfd_create("ring", MFD_CLOEXEC);
		if (fd < 0 || ct_ring_copy_into(process->ring_path, fd, name, NULL) != CT_OK)
			fprintf(b->left_out_list, "%s\n", process->ring_path);
		else if (lseek(fd, 0, SEEK_SET) == 0)
			failed = put_open(b, fd, name);
		if (fd >= 0)
			close(fd);
	}
	return failed;
}

static int is_recorded(const struct dirent *entry)
{
	return ct_recording_kind(entry->d_name) != CT_RECORDING_NONE;
}

/* Names of segments end in their number: the latest come last. */
static int put_files(struct bundle *b, const char *dir)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
	struct dirent **entries = NULL;
	int n = dirfd < 0 ? 0 : scandir(dir, &entries, is_recorded, versionsort);

	for (int i = n; i > 0; i--) {
		if (!failed)
			failed = put_file(b, dirfd, entries[i - 1]->d_name);
		free(entries[i - 1]);
	}
	free(entries);
	if (dirfd >= 0)
		close(dirfd);
	return failed;
}

static int put_all(struct bundle *b, const char *dir, const struct ct_run *run,
		   const struct ct_bundle_text *texts, size_t n_texts)
{
	int failed = 0;

	for (size_t i = 0; i < n_texts && !failed; i++)
		failed = texts[i].bytes ? put_bytes(b, texts[i].name, texts[i].bytes, texts[i].n)
					: 0;
	failed = failed || put_rings(b, run) || put_files(b, dir) || fflush(b->left_out_list);
	if (!failed && b->left_out_bytes)
		failed = put_bytes(b, "left_out.txt", b->left_out, b->left_out_bytes);
	return failed || put_zeros(b, 2ull * BLOCK) || fflush(b->out) || fsync(fileno(b->out)) ? -1
											       : 0;
}

int ct_bundle_write(const char *path, const char *dir, const struct ct_run *run,
		    const struct ct_bundle_text *texts, size_t n_texts, struct ct_err *err)
{
	struct bundle b = { .room = CT_BUNDLE_MOST };
	char *part;
	int fd, failed = 1, error;

	if (asprintf(&part, "%s.part.%d", path, (int)getpid()) < 0)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	b.left_out_list = open_memstream(&b.left_out, &b.left_out_bytes);
	b.out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (b.out && b.left_out_list)
		failed = put_all(&b, dir, run, texts, n_texts);
	error = errno;
	if (b.out && fclose(b.out) != 0 && !failed) {
		error = errno;
		failed = 1;
	}
	if (b.left_out_list)
		fclose(b.left_out_list);
	free(b.left_out);
	if (!failed && rename(part, path) != 0) {
		error = errno;
		failed = 1;
	}
	if (failed && fd >= 0)
		unlink(part);
	free(part);
	return failed ? ct_fail(err, CT_IO, "%s: %s", path, strerror(error)) : CT_OK;
}
