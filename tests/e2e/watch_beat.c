/* SPDX-License-Identifier: Apache-2.0 */
/* watch_beat.c — how old the heartbeat of recording processes gets while a command runs, seen from
 * outside.
 *
 *     watch_beat RING_DIR FILE COMMAND...
 *
 * Looks at every ring ten times a second, at those of living processes that have not said that they
 * end. Writes "rings N looks N oldest N ms" into FILE; the exit status is the command's, 128 + its
 * signal. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/format.h"

static unsigned rings, looks;
static uint64_t oldest_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Not gone, and no zombie. */
static int lives(uint32_t pid)
{
	char path[64], line[512] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	state = strrchr(line, ')');
	return state && state[1] && state[2] != 'Z' && state[2] != 'X';
}

static void look_at(int dir, const char *name)
{
	static struct ct_ring_header header;
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	uint64_t now, beat_ns;

	if (fd < 0)
		return;
	now = now_ns();
	if (pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	    header.magic == CT_RING_MAGIC && atomic_load(&header.state) == CT_RING_LIVE &&
	    !atomic_load(&header.exit_ns) && (beat_ns = atomic_load(&header.beat_ns)) != 0 &&
	    lives(header.process.pid)) {
		looks++;
		if (now > beat_ns && now - beat_ns > oldest_ns)
			oldest_ns = now - beat_ns;
	}
	close(fd);
}

static void look(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned n = 0;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		const size_t length = strlen(entry->d_name);

		if (length < 5 || strcmp(entry->d_name + length - 5, ".ring") != 0)
			continue;
		n++;
		look_at(dirfd(dir), entry->d_name);
	}
	closedir(dir);
	rings = n > rings ? n : rings;
}

int main(int argc, char **argv)
{
	pid_t child;
	int status;
	FILE *out;

	if (argc < 4)
		return 2;
	child = fork();
	if (child == 0) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (child < 0)
		return 2;
	while (waitpid(child, &status, WNOHANG) == 0) {
		look(argv[1]);
		usleep(100000);
	}
	out = fopen(argv[2], "w");
	if (!out)
		return 2;
	fprintf(out, "rings %u looks %u oldest %llu ms\n", rings, looks,
		(unsigned long long)(oldest_ns / 1000000));
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
