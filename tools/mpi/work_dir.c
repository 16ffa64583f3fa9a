/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/mpi/work_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* What the cleaner says when the directory is there, or cannot be made: an errno. */
struct new_dir {
	int error;
	char path[sizeof(((struct ct_work_dir *)0)->path)];
};

/* Launchers signal process groups, and wait until the output of a process and its other connections
 * are closed: standard error is kept for a moment only. The directory is made when no signal to the
 * group can prevent its removal any more. */
static void __attribute__((noreturn)) clean(struct new_dir *made, int alive)
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
	signal(SIGPIPE, SIG_IGN); /* the process and the launcher may have ended */
	made->error = mkdtemp(made->path) ? 0 : errno;
	(void)!write(alive, made, sizeof(*made));
	while ((n = read(alive, &byte, 1)) > 0 || (n < 0 && errno == EINTR))
		is_done |= n > 0;
	if (made->error)
		_exit(0);
	ct_recording_each(made->path, remove_file, NULL);
	rmdir(made->path);
	if (!is_done)
		ct_say("a process of the MPI job ended before all parts had come: no result");
	_exit(0);
}

int ct_work_dir_open(struct ct_work_dir *dir)
{
	const char *tmp = getenv("TMPDIR");
	struct new_dir made = { 0 };
	int ends[2];
	ssize_t n;

	snprintf(made.path, sizeof(made.path), "%s/commtrace-mpi.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	memcpy(dir->path, made.path, sizeof(dir->path));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	dir->cleaner = fork();
	if (dir->cleaner == 0) {
		close(ends[1]);
		clean(&made, ends[0]);
	}
	close(ends[0]);
	dir->alive = ends[1];
	if (dir->cleaner < 0)
		return -1;
	do
		n = read(dir->alive, &made, sizeof(made));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(made))
		made.error = ECHILD; /* the cleaner was killed */
	memcpy(dir->path, made.path, sizeof(dir->path));
	errno = made.error;
	return errno ? -1 : 0;
}

void ct_work_dir_done(const struct ct_work_dir *dir)
{
	(void)!send(dir->alive, "", 1, MSG_NOSIGNAL);
}

void ct_work_dir_close(struct ct_work_dir *dir)
{
	close(dir->alive);
	while (waitpid(dir->cleaner, NULL, 0) < 0 && errno == EINTR)
		;
}
