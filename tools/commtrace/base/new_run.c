/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/new_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "trace/path.h"

static int remove_file(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	char *path = ct_recording_path(dir, name);

	(void)kind;
	(void)arg;
	if (path)
		unlink(path);
	free(path);
	return 0;
}

/* A directory of ours and the recording in it. Anything else in it stays, and then it stays as
 * well. */
static void remove_run(const char *dir)
{
	ct_recording_each(dir, remove_file, NULL);
	rmdir(dir);
}

struct content {
	int recordings, others;
};

static int look_into(const char *dir, struct content *content)
{
	DIR *entries = opendir(dir);
	const struct dirent *entry;

	if (!entries)
		return -1;
	while ((entry = readdir(entries))) {
		if (ct_recording_kind(entry->d_name) != CT_RECORDING_NONE)
			content->recordings++;
		else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			content->others++;
	}
	closedir(entries);
	return 0;
}

static int cannot_write(const char *run, const char *why)
{
	ct_say("cannot write the run: %s: %s", run, why);
	return CT_CODE_FAILED;
}

/* May RUN be made, or replaced? Only what is nothing but a recording is ever replaced. */
static int check_path(const char *path, int force)
{
	struct content content = { 0 };
	struct stat st;
	int code;

	if (lstat(path, &st) != 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return cannot_write(path, "it is already there, and no directory");
	if (look_into(path, &content) < 0)
		return cannot_write(path, strerror(errno));
	if (content.others) {
		code = cannot_write(path, "it is already there and holds other files");
		ct_hint("name a directory that is not there yet");
		return code;
	}
	if (!content.recordings || force)
		return 0;
	code = cannot_write(path, "it holds a recording already");
	ct_hint("--force replaces it");
	return code;
}

/* Where one cannot be exchanged for the other, as on NFS: the recording that is there steps aside
 * until the new one is complete. */
static int replace(const struct ct_new_run *run)
{
	char *old = NULL;
	int error;

	if (asprintf(&old, "%s.old", run->temp) < 0)
		return -1;
	if (rename(run->path, old) != 0)
		goto fail;
	if (rename(run->temp, run->path) != 0) {
		error = errno;
		rename(old, run->path);
		errno = error;
		goto fail;
	}
	remove_run(old);
	free(old);
	return 0;
fail:
	error = errno;
	free(old);
	errno = error;
	return -1;
}

/* Give the finished directory its name: rename(2) itself refuses to replace anything but an empty
 * directory. */
static int put_in_place(const struct ct_new_run *run)
{
	if (rename(run->temp, run->path) == 0)
		return 0;
	if (run->force && (errno == EEXIST || errno == ENOTEMPTY)) {
		/* one for the other, so that a reader finds one of them at any time */
		if (renameat2(AT_FDCWD, run->temp, AT_FDCWD, run->path, RENAME_EXCHANGE) == 0) {
			remove_run(run->temp);
			return 0;
		}
		if (replace(run) == 0)
			return 0;
	}
	return cannot_write(run->path, strerror(errno));
}

/* Beside it, and hidden: what a killed process leaves is not matched by a shell's star. */
static char *temporary_name(const char *path)
{
	const char *name = ct_path_name(path);
	char *temp;

	return asprintf(&temp, "%.*s.%s.tmp.%d", (int)(name - path), path, name, (int)getpid()) < 0
		       ? NULL
		       : temp;
}

int ct_new_run_open(struct ct_new_run *run, const char *path, int force)
{
	int code;

	*run = (struct ct_new_run){ .path = strndup(path, ct_path_len(path)),
				    .force = force,
				    .dirfd = -1 };
	run->temp = run->path ? temporary_name(run->path) : NULL;
	if (!run->temp)
		code = cannot_write(path, strerror(ENOMEM));
	else
		code = check_path(run->path, force);
	if (!code && mkdir(run->temp, 0700) != 0)
		code = cannot_write(run->path, strerror(errno));
	if (code) {
		free(run->temp);
		free(run->path);
		return code;
	}
	run->dirfd = open(run->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->dirfd >= 0)
		return 0;
	return ct_new_run_close(run, cannot_write(run->temp, strerror(errno)));
}

int ct_new_run_close(struct ct_new_run *run, int code)
{
	if (!code)
		code = put_in_place(run);
	if (code)
		remove_run(run->temp);
	if (run->dirfd >= 0)
		close(run->dirfd);
	free(run->temp);
	free(run->path);
	return code;
}
