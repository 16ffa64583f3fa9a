/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_dir.h"
#include "trace/clock.h"
#include "trace/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/append.h"

void ct_ring_dirs(const char *ring_dir, const char *tmpdir, const char *dirs[4])
{
	const char *const wanted[] = { ring_dir, tmpdir, "/tmp" };
	int n = 0;

	for (int i = 0; i < 3; i++) {
		int known = 0;

		if (!wanted[i] || !wanted[i][0])
			continue;
		for (int k = 0; k < n; k++)
			known |= strcmp(dirs[k], wanted[i]) == 0;
		if (!known)
			dirs[n++] = wanted[i];
	}
	dirs[n] = NULL;
}

uint32_t ct_pidns_self(void)
{
	/* A process never changes its pid namespace, but its child may be in another: pid << 32 |
	 * namespace. */
	static _Atomic uint64_t known;
	uint64_t k = atomic_load_explicit(&known, memory_order_relaxed);
	uint32_t pid = (uint32_t)getpid();
	struct statx sx;

	if (k >> 32 == pid)
		return (uint32_t)k;
	if (statx(AT_FDCWD, "/proc/self/ns/pid", 0, STATX_INO, &sx) != 0)
		return 0;
	atomic_store_explicit(&known, (uint64_t)pid << 32 | (uint32_t)sx.stx_ino,
			      memory_order_relaxed);
	return (uint32_t)sx.stx_ino;
}

/* A decimal number without sign and leading zeros at *p; moves *p after it. */
static int get_number(const char **p, uint64_t *value)
{
	const char *start = *p;

	*value = 0;
	for (; **p >= '0' && **p <= '9' && *p - start < 20; (*p)++)
		*value = *value * 10 + (uint64_t)(**p - '0');
	return *p != start && (*start != '0' || *p == start + 1);
}

enum ct_ring_name_kind ct_ring_name_parse(const char *name, uint32_t *pidns, uint32_t *pid)
{
	uint64_t ns, id, time;

	if (strncmp(name, "commtrace.", 10) != 0)
		return CT_RING_NAME_NONE;
	name += 10;
	if (!get_number(&name, &ns) || *name++ != '.' || !get_number(&name, &id) ||
	    ns > UINT32_MAX || id > UINT32_MAX || strncmp(name, ".ring", 5) != 0)
		return CT_RING_NAME_NONE;
	*pidns = (uint32_t)ns;
	*pid = (uint32_t)id;
	name += 5;
	if (!*name)
		return CT_RING_NAME_OWN;
	if (*name++ != '.' || !get_number(&name, &time) || strcmp(name, ".ring") != 0)
		return CT_RING_NAME_NONE;
	return CT_RING_NAME_ASIDE;
}

int ct_ring_file_open(const char *path, int flags, uid_t uid, struct statx *sx)
{
	int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	fd = ct_fd_clear_of_stdio(fd);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, sx) == 0 && S_ISREG(sx->stx_mode) &&
	    sx->stx_uid == uid && sx->stx_size >= sizeof(struct ct_ring_header))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* ---- directory scan: getdents by hand, since opendir allocates and this runs in signal handlers
 * --------- */

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

static int scan_entry(const char *dir, const char *name, uid_t uid,
		      int (*each)(const char *path, void *arg), void *arg)
{
	uint32_t pidns, pid;
	struct statx sx;
	char path[CT_RING_PATH_MAX];

	if (!ct_ring_name_parse(name, &pidns, &pid) || !ct_ring_path(path, dir, name))
		return 0;
	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &sx) != 0 ||
	    !S_ISREG(sx.stx_mode) || sx.stx_uid != uid)
		return 0;
	return each(path, arg);
}

static int scan_dir(const char *dir, uid_t uid, int (*each)(const char *path, void *arg), void *arg)
{
	uint64_t buf[512]; /* aligned for the entries in it */
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	int st = 0;
	long n;

	if (fd < 0)
		return 0;
	while (st == 0 && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (long at = 0; st == 0 && at < n;) {
			const struct linux_dirent64 *e = (const void *)((const char *)buf + at);

			at += e->d_reclen;
			st = scan_entry(dir, e->d_name, uid, each, arg);
		}
	}
	close(fd);
	return st;
}

int ct_ring_dir_scan_of(const char *const *dirs, uid_t uid,
			int (*each)(const char *path, void *arg), void *arg)
{
	int st = 0;

	for (; *dirs && st == 0; dirs++)
		st = scan_dir(*dirs, uid, each, arg);
	return st;
}

int ct_ring_dir_scan(const char *const *dirs, int (*each)(const char *path, void *arg), void *arg)
{
	return ct_ring_dir_scan_of(dirs, geteuid(), each, arg);
}

/* ---- notes
 * ------------------------------------------------------------------------------------------- */

/* The header page of the ring of `pid`, mapped for writing, if it is one. */
static struct ct_ring_header *map_header(const char *path, uint32_t pidns, pid_t pid)
{
	struct ct_ring_header *h;
	struct statx sx;
	int fd = ct_ring_file_open(path, O_RDWR, geteuid(), &sx);

	if (fd < 0)
		return NULL;
	h = mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (h == MAP_FAILED)
		return NULL;
	if (h->magic == CT_RING_MAGIC && ct_format_is_read(h->version) &&
	    h->process.pid == (uint32_t)pid && h->process.pidns == pidns &&
	    atomic_load_explicit(&h->state, memory_order_acquire) != 0)
		return h;
	munmap(h, sizeof(*h));
	return NULL;
}

/* The pid may have been another process's when the ring was created. While the process exists, its
 * start time decides. After that, only a ring that was alive a moment ago, or was our child's, can
 * match. */
static int is_meant(struct ct_ring_header *h, uint64_t now_ns)
{
	const struct ct_process *id = &h->process;
	uint64_t ticks = id->start_ticks ? ct_pid_start_ticks((pid_t)id->pid) : 0;

	if (now_ns < id->start_ns)
		return 0;
	if (ticks)
		return ticks == id->start_ticks;
	return id->ppid == (uint32_t)getpid() ||
	       atomic_load_explicit(&h->beat_ns, memory_order_relaxed) + 60 * CT_SECOND_NS > now_ns;
}

/* Killed, and not by this process: by the kernel? Known only if both read the same counter. */
static void note_oom(struct ct_ring_header *h)
{
	struct ct_oom oom;

	if (atomic_load_explicit(&h->kill_ns, memory_order_relaxed) ||
	    !atomic_load_explicit(&h->oom_where, memory_order_acquire) || !ct_oom_read("", &oom) ||
	    oom.where != atomic_load_explicit(&h->oom_where, memory_order_relaxed))
		return;
	atomic_store_explicit(&h->oom_seen, oom.kills + 1, memory_order_relaxed);
}

int ct_ring_note_death(const char *const *dirs, pid_t pid, int status, uint64_t now_ns)
{
	uint64_t note = (uint64_t)(uint32_t)getpid() << 32 | (uint32_t)status;
	uint32_t pidns = ct_pidns_self();
	char name[CT_RING_NAME_MAX];
	char path[CT_RING_PATH_MAX];
	int kept = errno;
	int found = 0;

	if (pid <= 0 || pid == getpid() || !(WIFEXITED(status) || WIFSIGNALED(status)))
		return 0;
	ct_ring_name(name, pidns, (uint32_t)pid);
	for (; *dirs; dirs++) {
		struct ct_ring_header *h;
		uint64_t none = 0;

		if (!ct_ring_path(path, *dirs, name))
			continue;
		h = map_header(path, pidns, pid);
		if (!h)
			continue;
		if (is_meant(h, now_ns)) {
			found = 1;
			if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
			    !atomic_load_explicit(&h->death_seen_ns, memory_order_relaxed))
				note_oom(h);
			/* The first note stays. release: a reader that sees the time sees the note.
			 */
			atomic_compare_exchange_strong_explicit(&h->death_note, &none, note,
								memory_order_relaxed,
								memory_order_relaxed);
			none = 0;
			atomic_compare_exchange_strong_explicit(&h->death_seen_ns, &none,
								now_ns ? now_ns : 1,
								memory_order_release,
								memory_order_relaxed);
		}
		munmap(h, sizeof(*h));
	}
	errno = kept;
	return found;
}

static int is_meant_to_end(int sig)
{
	switch (sig) {
	case SIGUSR1:
	case SIGUSR2:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
		return 0;
	default:
		return sig > 0 && sig < 32;
	}
}

struct killing {
	uint32_t pidns;
	pid_t group;
	int sig;
	uint64_t now_ns;
};

static void note_kill(const char *path, const struct killing *k, pid_t pid)
{
	struct ct_ring_header *h = map_header(path, k->pidns, pid);
	uint64_t none = 0;

	if (!h)
		return;
	/* The process that sets the time writes the note: one owner. release: a reader of the note
	 * sees the time. */
	if (is_meant(h, k->now_ns) &&
	    atomic_compare_exchange_strong_explicit(&h->kill_ns, &none, k->now_ns ? k->now_ns : 1,
						    memory_order_relaxed, memory_order_relaxed))
		atomic_store_explicit(&h->kill_note,
				      (uint64_t)(uint32_t)getpid() << 32 | (uint32_t)k->sig,
				      memory_order_release);
	munmap(h, sizeof(*h));
}

static int note_kill_of_group(const char *path, void *arg)
{
	const struct killing *k = arg;
	const char *name = strrchr(path, '/') + 1;
	uint32_t pidns, pid;

	if (ct_ring_name_parse(name, &pidns, &pid) == CT_RING_NAME_OWN && pidns == k->pidns &&
	    (pid_t)pid != getpid() && getpgid((pid_t)pid) == k->group)
		note_kill(path, k, (pid_t)pid);
	return 0;
}

void ct_ring_note_kill(const char *const *dirs, pid_t pid, int sig, uint64_t now_ns)
{
	struct killing k = { .sig = sig, .now_ns = now_ns };
	char name[CT_RING_NAME_MAX];
	char path[CT_RING_PATH_MAX];
	int kept = errno;

	if (pid == 0 || pid == -1 || pid == getpid() || !is_meant_to_end(sig))
		return;
	k.pidns = ct_pidns_self();
	if (pid < 0) {
		k.group = -pid;
		ct_ring_dir_scan(dirs, note_kill_of_group, &k);
	} else {
		ct_ring_name(name, k.pidns, (uint32_t)pid);
		for (; *dirs; dirs++)
			if (ct_ring_path(path, *dirs, name))
				note_kill(path, &k, pid);
	}
	errno = kept;
}
