/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/mpi/work_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"

static int remove_file(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	char *path = ct_recording_path(dir, name);

	(void)kind, (void)arg;
	if (path)
		unlink(path);
	free(path);
	return 0;
}

/* Launchers signal process groups, and wait until the output of a process and its other connections
 * are closed: standard error is kept for a moment only. */
static void __attribute__((noreturn)) clean(const char *path, int alive)
{
	const int null = open("/dev/null", O_RDWR);
	int is_done = 0;
	ssize_t n;
	char byte;

	setsid();
	for (int fd = 0; fd <= 1 && null >= 0; fd++)
		dup2(null, fd);
	alive = dup2(alive, 3);
#ifdef SYS_close_range
	syscall(SYS_close_range, 4u, ~0u, 0u);
#endif
	while ((n = read(alive, &byte, 1)) > 0 || (n < 0 && errno == EINTR))
		is_done |= n > 0;
	ct_recording_each(path, remove_file, NULL);
	rmdir(path);
	/* last: the launcher may have ended, so that the message cannot be written */
	if (!is_done)
		ct_say("a process of the MPI job ended before all parts had come: no result");
	_exit(0);
}

int ct_work_dir_open(struct ct_work_dir *dir)
{
	const char *tmp = getenv("TMPDIR");
	int ends[2];

	snprintf(dir->path, sizeof(dir->path), "%s/commtrace-mpi.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir->path))
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	dir->cleaner = fork();
	if (dir->cleaner == 0) {
		close(ends[1]);
		clean(dir->path, ends[0]);
	}
	close(ends[0]);
	dir->alive = ends[1];
	return dir->cleaner < 0 ? -1 : 0;
}

void ct_work_dir_done(const struct ct_work_dir *dir)
{
	(void)!write(dir->alive, "", 1);
}

void ct_work_dir_close(struct ct_work_dir *dir)
{
	close(dir->alive);
	while (waitpid(dir->cleaner, NULL, 0) < 0 && errno == EINTR)
		;
}
