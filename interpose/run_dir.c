/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/append.h"
#include "trace/path.h"
#include "trace/run_id.h"

enum ownership { OURS_ONLY, ANY_OWNER };

/* mkdir -p, the last one private, the others as the umask says. */
static int make(const char *path)
{
	char part[PATH_MAX];
	size_t len = ct_path_len(path);

	if (len >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(part, path, len);
	part[len] = '\0';
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) != 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(part, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

/* A descriptor of a directory in which this process can make files, or -1 and why. */
static int try_open(const char *path, enum ownership ownership, struct stat *st, const char **why)
{
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (ownership == OURS_ONLY ? O_NOFOLLOW : 0);
	int fd = make(path) == 0 ? ct_fd_clear_of_stdio(open(path, flags)) : -1;

	if (fd < 0 || fstat(fd, st) != 0 || faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
		*why = strerror(errno);
	} else if (ownership == OURS_ONLY &&
		   (st->st_uid != geteuid() || st->st_mode & (S_IWGRP | S_IWOTH))) {
		*why = "it belongs to another user";
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int use_dir(const char *path, enum ownership ownership, struct ct_process *process,
		   const char **why)
{
	char whole[PATH_MAX];
	struct stat st;
	int fd = try_open(path, ownership, &st, why);

	if (fd < 0)
		return -1;
	/* Readers find the rings of a run by its id; the path is for people. */
	if (realpath(path, whole) && strlen(whole) < sizeof(process->run_dir))
		path = whole;
	snprintf(process->run_dir, sizeof(process->run_dir), "%.*s",
		 (int)sizeof(process->run_dir) - 1, path);
	ct_run_id_get(fd, "", &process->run);
	return fd;
}

int ct_run_dir_open(const char *dir, const char *tmpdir, struct ct_process *process,
		    struct ct_notes *notes)
{
	const char *bases[] = { NULL, tmpdir, "/tmp" };
	const char *why = "";
	char cwd[PATH_MAX];
	char path[PATH_MAX];
	int fd;

	if (dir[0]) {
		fd = use_dir(dir, ANY_OWNER, process, &why);
		if (fd >= 0)
			return fd;
		ct_notes_add(notes, "COMMTRACE_DIR %.80s cannot be used (%.40s)", dir, why);
	}
	bases[0] = getcwd(cwd, sizeof(cwd));
	for (int i = 0; i < 3; i++) {
		if (!bases[i] || bases[i][0] != '/')
			continue;
		snprintf(path, sizeof(path), "%s%scommtrace-%s", bases[i],
			 bases[i][strlen(bases[i]) - 1] == '/' ? "" : "/", process->job);
		fd = use_dir(path, OURS_ONLY, process, &why);
		if (fd >= 0)
			return fd;
	}
	ct_notes_add(notes, "no directory can be written: records are in the ring only");
	return -1;
}
