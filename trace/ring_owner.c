/* SPDX-License-Identifier: Apache-2.0 */
/* Who lives, as far as it can be told from /proc, a file lock and a heartbeat; the contract is in ring_dir.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "trace/ring_dir.h"

#define SECOND_NS 1000000000ull
#define DAY_S (24 * 3600)

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Read a small file; its length with a NUL behind it, or -errno. */
static int read_small(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int why;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, cap - 1);
	why = errno;
	close(fd);
	if (n < 0)
		return -why;
	buf[n] = '\0';
	return (int)n;
}

/* State, threads and start time (fields 3, 20, 22 of /proc/PID/stat). 0, or -errno: -ENOENT and -ESRCH say that
 * there is no such process. */
static int read_stat(uint32_t pid, char *state, uint64_t *threads, uint64_t *start_ticks)
{
	char path[32] = "/proc/";
	char digits[12];
	char stat[1024];
	char *p = path + 6;
	const char *at;
	int n = 0;

	do {
		digits[n++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	while (n)
		*p++ = digits[--n];
	memcpy(p, "/stat", 6);
	n = read_small(path, stat, sizeof(stat));
	if (n < 0)
		return n;
	/* "pid (name) state ...": the name may hold anything, also brackets */
	at = strrchr(stat, ')');
	if (!at || at[1] != ' ' || !at[2])
		return -EIO;
	*state = at[2];
	at += 3;
	for (int field = 4; field < 22 && at; field++) {
		if (field == 20)
			*threads = strtoull(at, NULL, 10);
		at = strchr(at + 1, ' ');
	}
	if (!at)
		return -EIO;
	*start_ticks = strtoull(at, NULL, 10);
	return 0;
}

uint64_t ct_pid_start_ticks(pid_t pid)
{
	uint64_t threads;
	uint64_t ticks;
	char state;

	return pid > 0 && read_stat((uint32_t)pid, &state, &threads, &ticks) == 0 ? ticks : 0;
}

/* Is there a process of this pid and start time? 1 also if that cannot be found out. */
static int pid_lives(uint32_t pid, uint64_t start_ticks)
{
	uint64_t threads;
	uint64_t ticks;
	char state;
	int st = read_stat(pid, &state, &threads, &ticks);

	if (st != 0)
		return st != -ENOENT && st != -ESRCH;
	/* A leader that has ended while its threads go on looks like a zombie, too. */
	if (state == 'X' || state == 'x' || (state == 'Z' && threads <= 1))
		return 0;
	return !start_ticks || ticks == start_ticks;
}

int ct_process_same_boot(const struct ct_process *id)
{
	char boot[64];
	size_t len = strnlen(id->boot_id, sizeof(id->boot_id));

	if (len < 36 || read_small("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) < 36)
		return 1;
	return memcmp(id->boot_id, boot, 36) == 0;
}

int ct_process_lives(const struct ct_process *process)
{
	return process->boot_id[0] && process->pidns && process->start_ticks &&
	       ct_process_same_boot(process) && process->pidns == ct_pidns_self() &&
	       pid_lives(process->pid, process->start_ticks);
}

static int is_locked(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fd >= 0 && fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/* Not of this boot: of this host before it was rebooted (a ring on disk), or of another host that shares the
 * file system. */
static int lives_elsewhere(const struct ct_process *id, int fd)
{
	struct utsname here;
	struct statx sx;

	if (is_locked(fd))
		return 1;
	if (uname(&here) == 0 && strncmp(here.nodename, id->host, sizeof(id->host) - 1) == 0)
		return 0;
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &sx) != 0)
		return 1;
	return sx.stx_mtime.tv_sec + DAY_S > (int64_t)(clock_ns(CLOCK_REALTIME) / SECOND_NS);
}

int ct_ring_owner_lives(const struct ct_ring_header *header, int fd)
{
	struct ct_ring_header *h = (struct ct_ring_header *)(uintptr_t)
		header; /* C11: atomics are not const */
	const struct ct_process *id = &header->process;
	uint64_t now;
	uint64_t beat;

	if (!ct_process_same_boot(id))
		return lives_elsewhere(id, fd);
	if (id->pidns && id->pidns == ct_pidns_self())
		return pid_lives(id->pid, id->start_ticks);
	if (is_locked(fd))
		return 1;
	beat = atomic_load_explicit(&h->beat_ns, memory_order_relaxed);
	now = clock_ns(CLOCK_MONOTONIC);
	return beat <= now && now - beat < 10 * SECOND_NS;
}
