/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/copy/collect_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/copy/bring.h"
#include "tools/commtrace/copy/ring_copy.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"
#include "trace/run_id.h"
#include "trace/status.h"

static void failed(struct ct_collect_run *collect, const char *what, const char *why)
{
	ct_say("cannot collect: %s: %s", what, why);
	collect->failed++;
}

/* ---- files ---- */

/* Does the directory have this file already, as far as it has got? Segments and archives only grow;
 * the copy of a living ring changes where it is. */
static int is_present(const struct ct_collect_run *collect, const char *name,
		      const struct stat *from, enum ct_recording_kind kind)
{
	struct stat to;

	if (fstatat(collect->dirfd, name, &to, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	if (to.st_dev == from->st_dev && to.st_ino == from->st_ino)
		return 1;
	return kind != CT_RECORDING_RING && to.st_size >= from->st_size;
}

static int bring_file(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	struct ct_collect_run *collect = arg;
	char *path = ct_recording_path(dir, name);
	struct stat st;

	if (!path) {
		failed(collect, name, strerror(ENOMEM));
	} else if (lstat(path, &st) != 0) {
		if (errno != ENOENT) /* its process may have replaced it */
			failed(collect, path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		failed(collect, path, "not a regular file");
	} else if (is_present(collect, name, &st, kind)) {
		collect->present++;
	} else if (ct_bring_link(path, collect->dirfd, name) == 0) {
		collect->linked++;
		collect->bytes += (uint64_t)st.st_size;
	} else if (ct_bring_copy(path, collect->dirfd, name) == 0) {
		collect->copied++;
		collect->bytes += (uint64_t)st.st_size;
	} else {
		failed(collect, path, strerror(errno));
	}
	free(path);

	return ct_signals_deferred();
}

/* ---- rings ---- */

struct rings {
	struct ct_collect_run *collect;
	struct ct_run_id id;
	struct stat from;
	int in_place; /* the run itself is brought up to date */
};

static int bring_ring(const char *path, void *arg)
{
	struct rings *rings = arg;
	struct ct_collect_run *collect = rings->collect;
	struct ct_ring_header header;
	struct ct_err err = { 0 };
	int lives, archived, status = ct_ring_header_read(path, &header, &lives, &err);

	if (status != CT_OK || !ct_run_id_same(&rings->id, &header.process.run))
		return 0;
	/* Beside the segments that its process still writes, a copy would only get old. */
	if (lives && rings->in_place) {
		collect->living++;
		return 0;
	}
	status = ct_ring_copy(path, collect->dirfd, &archived, &err);
	if (status == CT_NOTFOUND) /* its process ended meanwhile and has removed it */
		return 0;
	if (status != CT_OK)
		failed(collect, path, err.text);
	else if (archived)
		collect->archived++;
	else
		collect->snapshots++;
	return ct_signals_deferred();
}

/* A copy that was made while the process lived is of no use beside the archive of its last state. */
static int drop_outdated(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	struct ct_collect_run *collect = arg;
	char *archive;

	(void)dir;
	if (kind != CT_RECORDING_RING || asprintf(&archive, "%s.zst", name) < 0)
		return 0;
	if (faccessat(collect->dirfd, archive, F_OK, 0) == 0)
		unlinkat(collect->dirfd, name, 0);
	free(archive);
	return 0;
}

void ct_collect_run_from(struct ct_collect_run *collect, const char *from)
{
	struct rings rings = { .collect = collect };
	struct ct_collected collected;

	if (stat(from, &rings.from) != 0 || ct_run_id_get(AT_FDCWD, from, &rings.id) != CT_OK) {
		failed(collect, from, strerror(errno));
		return;
	}
	/* First into the run itself, as the next start of a process would do it; what cannot go
	 * there (its process lives, the directory was moved or is read-only) comes as a copy. Rings
	 * before segments: a record that moves from the one to the other meanwhile is then in both,
	 * not in none. */
	ct_ring_dir_collect(collect->ring_dirs, &rings.id, &collected);
	collect->archived += collected.moved;
	rings.in_place = rings.from.st_dev == collect->to_stat.st_dev &&
			 rings.from.st_ino == collect->to_stat.st_ino;
	ct_ring_dir_scan(collect->ring_dirs, bring_ring, &rings);
	if (!rings.in_place && ct_recording_each(from, bring_file, collect) < 0)
		failed(collect, from, strerror(errno));
	ct_recording_each(collect->to, drop_outdated, collect);
}
