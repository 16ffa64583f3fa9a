/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/copy/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/copy/bring.h"
#include "tools/commtrace/copy/ring_copy.h"
#include "tools/commtrace/copy/thin.h"
#include "trace/mix.h"
#include "trace/path.h"

static int is_mine(const struct ct_share *share, uint64_t key)
{
	return key % share->shares == share->share - 1;
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = ct_mix(hash + (unsigned char)*name);
	return hash;
}

int ct_share_has(const struct ct_share *share, const struct ct_process *process)
{
	char name[CT_SEGMENT_NAME_MAX];

	/* Ranks spread evenly. Processes without one are spread by their name. */
	if (process->rank >= 0)
		return is_mine(share, (uint32_t)process->rank);
	ct_segment_stem(name, process);
	return is_mine(share, hash_of(name));
}

int ct_share_has_file(const struct ct_share *share, const char *path)
{
	return is_mine(share, hash_of(ct_path_name(path)));
}

/* The file of a process that has ended changes no more, so that another name will do. */
static int bring(struct ct_partial *part, const char *path, int has_ended, struct ct_err *err)
{
	const char *name = ct_path_name(path);
	struct stat st;
	int failed = 1;

	if (has_ended)
		failed = ct_bring_link(path, part->dirfd, name);
	if (failed)
		failed = ct_bring_copy(path, part->dirfd, name);
	if (failed && errno == ENOENT)
		return CT_OK; /* trimmed to MAX_BYTES since it was found */
	if (failed || fstatat(part->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return ct_fail(err, CT_IO, "%s: %s", path, strerror(errno));
	part->files++;
	part->bytes += (uint64_t)st.st_size;
	return CT_OK;
}

/* Its process may have ended meanwhile: then what was left in the ring has been moved beside its
 * segments, or is all in them. */
static int bring_archive(struct ct_partial *part, const struct ct_process_info *info,
			 const char *beside, struct ct_err *err)
{
	char name[CT_SEGMENT_NAME_MAX];
	char *path;
	int st;

	ct_segment_stem(name, &info->id);
	if (asprintf(&path, "%.*s%s.ring.zst", (int)(ct_path_name(beside) - beside), beside, name) <
	    0)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	st = bring(part, path, 1, err);
	free(path);
	return st;
}

static int bring_ring(struct ct_partial *part, const struct ct_process_info *info,
		      const char *beside, struct ct_err *err)
{
	int archived, st;

	if (info->ring == CT_RING_NOT_FOUND)
		return CT_OK;
	if (info->ring == CT_RING_ARCHIVED)
		return bring(part, info->ring_path, 0, err);
	st = ct_ring_copy(info->ring_path, part->dirfd, &archived, err);
	if (st == CT_NOTFOUND)
		return beside ? bring_archive(part, info, beside, err) : CT_OK;
	part->files += st == CT_OK;
	return st;
}

/* Without the operations that `thin` leaves out. */
static int bring_thinned(struct ct_partial *part, const char *const *paths, size_t segment,
			 const struct ct_thin *thin, struct ct_thin_calls *calls,
			 struct ct_err *err)
{
	const char *name = ct_path_name(paths[segment]);
	int fd = openat(part->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	struct stat st;
	int status;

	if (fd < 0)
		return ct_fail(err, CT_IO, "%s: %s", name, strerror(errno));
	status = ct_thin_write(paths, segment, thin, calls, fd, err);
	if (status == CT_OK && fstat(fd, &st) == 0)
		part->bytes += (uint64_t)st.st_size;
	if (close(fd) != 0 && status == CT_OK)
		status = ct_fail(err, CT_IO, "%s: %s", name, strerror(errno));
	part->files++;
	return status;
}

/* Would the part replace the directory that `path` is in? */
static int check_path(const struct ct_partial *part, const char *path, struct ct_err *err)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s.", (int)(ct_path_name(path) - path), path);
	if (!ct_path_is_same(part->path, folder))
		return CT_OK;
	return ct_fail(err, CT_IO, "%s: the part cannot replace the run that it is of", part->path);
}

static int bring_segments(struct ct_partial *part, const char *const *paths, size_t n,
			  int has_ended, struct ct_err *err)
{
	struct ct_thin_calls calls = { 0 };
	struct ct_thin thin = { 0 };
	int st = CT_OK;

	for (size_t i = 0; i < n && st == CT_OK; i++)
		st = check_path(part, paths[i], err);
	if (st == CT_OK && part->keep_ns != UINT64_MAX)
		st = ct_thin_find(paths, n, part->keep_ns, &thin, err);
	for (size_t i = 0; i < n && st == CT_OK; i++) {
		if (thin.number && i <= thin.segment && thin.last[i])
			st = bring_thinned(part, paths, i, &thin, &calls, err);
		else
			st = bring(part, paths[i], has_ended, err);
	}
	part->left_out += thin.left_out;
	free(calls.open);
	free(thin.last);
	return st;
}

int ct_partial_add_skipped(struct ct_partial *part, const struct ct_run *run, size_t index,
			   struct ct_err *err)
{
	const struct ct_skipped_file *file = &run->skipped[index];
	int st = check_path(part, file->path, err);
	struct stat of;

	if (st != CT_OK || file->status == CT_IO || lstat(file->path, &of) != 0 ||
	    !S_ISREG(of.st_mode))
		return st;
	return bring(part, file->path, 0, err);
}

int ct_partial_add_ring(struct ct_partial *part, const struct ct_run *run, size_t index,
			struct ct_err *err)
{
	return bring_ring(part, &run->processes[index], NULL, err);
}

int ct_partial_add(struct ct_partial *part, const struct ct_run *run, size_t index,
		   struct ct_err *err)
{
	const struct ct_process_info *info = &run->processes[index];
	const int has_ended = info->end.how != CT_END_UNKNOWN && info->end.how != CT_END_RUNNING;
	struct ct_process_reader *reader;
	const char *const *paths;
	size_t n;
	int st = ct_process_open(run, index, &reader, err);

	if (st != CT_OK)
		return st;
	paths = ct_process_segments(reader, &n);
	st = bring_ring(part, info, n ? paths[0] : NULL, err);
	ct_process_close(reader);
	/* again: a live process may have opened another one since */
	st = st ?: ct_process_open(run, index, &reader, err);
	if (st != CT_OK)
		return st;
	paths = ct_process_segments(reader, &n);
	st = bring_segments(part, paths, n, has_ended, err);
	ct_process_close(reader);
	part->processes += st == CT_OK;
	return st;
}
