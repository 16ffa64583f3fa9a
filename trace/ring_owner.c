/* SPDX-License-Identifier: Apache-2.0 */
/* Which owners live, as far as /proc, a file lock and a heartbeat show it; the contract is in
 * ring_dir.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/decimal.h"

#include "trace/ring_dir.h"

/* size: clocks of hosts differ by less, and so does a mapped file's time lag behind its owner's
 * writes, one a second. */
#define DAY_S (24 * 3600)

/* Reads a small file and appends a NUL; returns its length, or -errno. */
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

/* What /proc/PID/stat has about a process. */
struct stat_line {
	char state;	      /* field 3 */
	uint32_t ppid;	      /* 4 */
	uint64_t threads;     /* 20 */
	uint64_t start_ticks; /* 22 */
};

/* 0, or -errno: -ENOENT and -ESRCH say that there is no such process. */
static int read_stat(uint32_t pid, struct stat_line *line)
{
	char path[32] = "/proc/";
	char stat[1024];
	char *p = ct_decimal(path + 6, pid);
	const char *at;
	int n;

	memcpy(p, "/stat", 6);
	n = read_small(path, stat, sizeof(stat));
	if (n < 0)
		return n;
	/* "pid (name) state ...": the name may hold anything, also brackets */
	at = strrchr(stat, ')');
	if (!at || at[1] != ' ' || !at[2])
		return -EIO;
	*line = (struct stat_line){ .state = at[2] };
	at += 3;
	for (int field = 4; field <= 22 && at; field++) {
		uint64_t value = strtoull(at, NULL, 10);

		switch (field) {
		case 4:
			line->ppid = (uint32_t)value;
			break;
		case 20:
			line->threads = value;
			break;
		case 22:
			line->start_ticks = value;
			break;
		default:
			break;
		}
		at = strchr(at + 1, ' ');
	}
	return line->start_ticks ? 0 : -EIO;
}

pid_t ct_pid_parent(pid_t pid)
{
	struct stat_line line;

	return pid > 0 && read_stat((uint32_t)pid, &line) == 0 ? (pid_t)line.ppid : 0;
}

uint64_t ct_pid_start_ticks(pid_t pid)
{
	struct stat_line line;

	return pid > 0 && read_stat((uint32_t)pid, &line) == 0 ? line.start_ticks : 0;
}

/* The process of this pid and start time; without a ring there are no notes. CT_OWNER_LIVES also if
 * unknown. */
static enum ct_owner pid_state(const struct ct_process *id)
{
	struct stat_line line;
	int st = read_stat(id->pid, &line);
	int is_orphan = st == 0 && id->ppid && line.ppid != id->ppid;

	if (st != 0)
		return st != -ENOENT && st != -ESRCH ? CT_OWNER_LIVES : CT_OWNER_DEAD;
	if (id->start_ticks && line.start_ticks != id->start_ticks)
		return CT_OWNER_DEAD;
	/* A leader that has ended while its threads continue looks like a zombie, too. */
	if (line.state == 'X' || line.state == 'x' || (line.state == 'Z' && line.threads <= 1))
		return id->start_ticks && !is_orphan ? CT_OWNER_AWAITED : CT_OWNER_DEAD;
	return CT_OWNER_LIVES;
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
	       pid_state(process) == CT_OWNER_LIVES;
}

int ct_process_is_stopped(const struct ct_process *process)
{
	struct stat_line line;

	return ct_process_lives(process) && read_stat(process->pid, &line) == 0 &&
	       line.start_ticks == process->start_ticks && (line.state == 'T' || line.state == 't');
}

static int is_locked(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fd >= 0 && fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/* Not of this boot: of this host before it was rebooted (a ring on disk), or of another host that
 * shares the file system. */
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
	return sx.stx_mtime.tv_sec + DAY_S > (int64_t)(ct_clock_ns(CLOCK_REALTIME) / CT_SECOND_NS);
}

/* In another pid namespace, where its pid means nothing here. */
static int lives_unseen(struct ct_ring_header *h, int fd)
{
	uint64_t now;
	uint64_t beat;

	if (is_locked(fd))
		return 1;
	beat = atomic_load_explicit(&h->beat_ns, memory_order_relaxed);
	now = ct_clock_ns(CLOCK_MONOTONIC);
	return beat <= now && now - beat < 10 * CT_SECOND_NS;
}

enum ct_owner ct_ring_owner(const struct ct_ring_header *header, int fd)
{
	struct ct_ring_header *h = (struct ct_ring_header *)(uintptr_t)
		header; /* C11: atomics are not const */
	const struct ct_process *id = &header->process;
	enum ct_owner owner;

	if (!ct_process_same_boot(id))
		return lives_elsewhere(id, fd) ? CT_OWNER_LIVES : CT_OWNER_DEAD;
	if (!id->pidns || id->pidns != ct_pidns_self())
		return lives_unseen(h, fd) ? CT_OWNER_LIVES : CT_OWNER_DEAD;
	owner = pid_state(id);
	if (owner == CT_OWNER_AWAITED &&
	    atomic_load_explicit(&h->death_seen_ns, memory_order_acquire))
		return CT_OWNER_DEAD; /* the note is there */
	return owner;
}

int ct_ring_owner_lives(const struct ct_ring_header *header, int fd)
{
	return ct_ring_owner(header, fd) == CT_OWNER_LIVES;
}
