/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/path.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"
#include "trace/run_id.h"
#include "trace/segment_read.h"

enum ct_recording_kind ct_recording_kind(const char *name)
{
	if (name[0] == '.')
		return CT_RECORDING_NONE;
	if (ct_path_ends_with(name, ".seg"))
		return CT_RECORDING_SEGMENT;
	if (ct_path_ends_with(name, ".ring"))
		return CT_RECORDING_RING;
	if (ct_path_ends_with(name, ".ring.zst"))
		return CT_RECORDING_ARCHIVED_RING;
	return CT_RECORDING_NONE;
}

static int is_recording(const struct dirent *entry)
{
	return ct_recording_kind(entry->d_name) != CT_RECORDING_NONE;
}

int ct_recording_each(const char *dir,
		      int (*each)(const char *dir, const char *name, enum ct_recording_kind kind,
				  void *arg),
		      void *arg)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_recording, alphasort), stop = 0;

	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (!stop)
			stop = each(dir, entries[i]->d_name, ct_recording_kind(entries[i]->d_name),
				    arg);
		free(entries[i]);
	}
	free(entries);
	return stop;
}

char *ct_recording_path(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

struct recording_search {
	const char *job;
	char *what;
	struct ct_run_id dir;
};

static int judge_process(struct recording_search *search, const struct ct_process *process,
			 const char *path)
{
	if (search->job && strncmp(process->job, search->job, sizeof(process->job) - 1) == 0)
		return 0;
	snprintf(search->what, 512, "%.350s belongs to job '%.95s'", path, process->job);
	return 1;
}

static int file_of_another(const char *dir, const char *name, enum ct_recording_kind kind,
			   void *arg)
{
	struct recording_search *search = arg;
	struct ct_segment_reader *segment;
	struct ct_ring_header ring;
	char *path = ct_recording_path(dir, name);
	int lives, found = 1;

	if (!path)
		return 0;
	/* A file that cannot be read may still be a recording. */
	snprintf(search->what, 512, "%.350s lies there", path);
	if (kind == CT_RECORDING_SEGMENT && ct_segment_open_read(path, &segment, NULL) == CT_OK) {
		found = judge_process(search, &ct_segment_header(segment)->process, path);
		ct_segment_close_read(segment);
	} else if (kind != CT_RECORDING_SEGMENT &&
		   ct_ring_header_read(path, &ring, &lives, NULL) == CT_OK) {
		found = judge_process(search, &ring.process, path);
	}
	free(path);
	return found;
}

static int ring_of_another(const char *path, void *arg)
{
	struct recording_search *search = arg;
	struct ct_ring_header ring;
	int lives;

	if (ct_ring_header_read(path, &ring, &lives, NULL) != CT_OK ||
	    !ct_run_id_same(&search->dir, &ring.process.run))
		return 0;
	return judge_process(search, &ring.process, path);
}

int ct_recording_of_another(const char *dir, const char *const *ring_dirs, const char *job,
			    char what[512])
{
	struct recording_search search = { .job = job, .what = what };

	if (ct_run_id_get(AT_FDCWD, dir, &search.dir) != CT_OK)
		return 0;
	if (ct_recording_each(dir, file_of_another, &search) > 0)
		return 1;
	return ct_ring_dir_scan(ring_dirs, ring_of_another, &search) > 0;
}
