/* SPDX-License-Identifier: Apache-2.0 */
/* Moving what dead processes left in the ring directories into their runs; the contract is in
 * ring_dir.h.
 *
 * The rule behind every branch: evidence is kept while its run may still exist, and the ring
 * directory must not fill up. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/append.h"
#include "trace/clock.h"
#include "trace/ring_archive.h"
#include "trace/ring_dir.h"
#include "trace/run_id.h"
#include "trace/segment.h"

/* size: time to mount or move a run directory back. Sooner, what only the ring has would be lost. */
#define DAY_NS (24 * 3600 * CT_SECOND_NS)
/* size: 16 rings of the default size, beside those of jobs that run. */
#define ORPHANS_MAX_BYTES (64ull << 20)
/* size: the oldest, which may go at once; the limit is reached with half of them. */
#define N_ORPHANS 32

/* A ring whose run directory is not where it was. */
struct orphan {
	uint64_t age_ns;
	uint64_t bytes;
	char path[CT_RING_PATH_MAX];
};

struct pass {
	const struct ct_run_id *only;
	struct ct_collected *out;
	int condemned;			  /* the next orphan goes whatever its age */
	uint64_t orphan_bytes;		  /* of all that were kept */
	uint64_t orphan_limit;		  /* most that may stay */
	struct orphan orphans[N_ORPHANS]; /* the oldest of them */
	uint32_t n_orphans;
};

/* One ring file in hand. */
struct ring_file {
	const char *path;
	int fd;
	struct statx sx;
	enum ct_ring_name_kind name_kind;
	uint32_t pidns, pid;	 /* from its name */
	struct ct_ring_header h; /* a copy */
};

static void keep(struct pass *p, const struct ring_file *f, const char *why)
{
	if (!p->out->kept++)
		snprintf(p->out->why_kept, sizeof(p->out->why_kept), "%.80s: %.70s", f->path, why);
}

static int read_header(struct ring_file *f)
{
	ssize_t n = pread(f->fd, &f->h, sizeof(f->h), 0);

	if (n != (ssize_t)sizeof(f->h))
		return 0;
	f->h.process.run_dir[sizeof(f->h.process.run_dir) - 1] = '\0';
	f->h.process.boot_id[sizeof(f->h.process.boot_id) - 1] = '\0';
	f->h.process.host[sizeof(f->h.process.host) - 1] = '\0';
	return 1;
}

/* When the ring was last touched. Stores through a mapping of tmpfs do not change the file's time,
 * so the beat counts as well. */
static uint64_t age_ns(struct ring_file *f)
{
	uint64_t now = ct_clock_ns(CLOCK_REALTIME);
	uint64_t changed = (uint64_t)f->sx.stx_mtime.tv_sec * CT_SECOND_NS +
			   f->sx.stx_mtime.tv_nsec;
	uint64_t age = now > changed ? now - changed : 0;
	uint64_t beat = ct_load_acquire(&f->h.beat_ns);

	now = ct_clock_ns(CLOCK_MONOTONIC);
	if (f->h.magic == CT_RING_MAGIC && ct_process_same_boot(&f->h.process) && beat <= now &&
	    now - beat < age)
		age = now - beat;
	return age;
}

/* Does this process have a file of that name mapped? Its ring is found without opening it: see
 * ring_dir.h. */
static int is_mapped_here(const char *name)
{
	char buf[4096 + 1];
	size_t have = 0;
	int found = 0, has_text = 0;
	ssize_t n;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 1; /* unknown: leave it alone */
	while (!found && (n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		size_t tail;

		has_text = 1;
		have += (size_t)n;
		buf[have] = '\0';
		found = strstr(buf, name) != NULL;
		/* the name may span two reads */
		tail = have < CT_RING_NAME_MAX + 32 ? have : CT_RING_NAME_MAX + 32;
		memmove(buf, buf + have - tail, tail);
		have = tail;
	}
	close(fd);
	/* there is no information if the first thread has ended before the others: leave it alone */
	return found || !has_text;
}

static int is_same_file(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_minor == b->stx_dev_minor &&
	       a->stx_dev_major == b->stx_dev_major;
}

/* Take the lock that says: this ring is being dealt with. Fails while its owner or another
 * collector has it, or when the file has gone from its path in the meantime. */
static int lock_ring(struct ring_file *f)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct statx sx;
	int fd = ct_ring_file_open(f->path, O_RDWR, geteuid(), &sx);

	if (fd < 0)
		return 0;
	close(f->fd);
	f->fd = fd;
	if (!is_same_file(&sx, &f->sx))
		return 0;
	f->sx = sx;
	return fcntl(fd, F_SETLK, &whole) == 0 &&
	       statx(AT_FDCWD, f->path, AT_SYMLINK_NOFOLLOW, STATX_INO, &sx) == 0 &&
	       is_same_file(&sx, &f->sx) && read_header(f);
}

static void drop_file(struct pass *p, const struct ring_file *f, uint32_t *counter)
{
	if (unlink(f->path) != 0)
		return;
	(*counter)++;
	p->out->bytes += f->sx.stx_size;
}

/* A ring whose making did not come to an end: no record can be in it. */
static void collect_unmade(struct pass *p, struct ring_file *f)
{
	if (f->h.magic != 0 && f->h.magic != CT_RING_MAGIC)
		return; /* not ours */
	if (f->pidns == ct_pidns_self() ? ct_pid_start_ticks((pid_t)f->pid) != 0
					: age_ns(f) < DAY_NS)
		return;
	if (lock_ring(f) && (f->h.magic == 0 || ct_load_acquire(&f->h.state) == 0))
		drop_file(p, f, &p->out->removed);
}

/* Is every record marked as being in a segment? */
static int is_drained(const struct ring_file *f)
{
	for (uint32_t i = 0; i < f->h.n_chunks; i++) {
		uint64_t at = (uint64_t)f->h.chunks_at + (uint64_t)i * CT_CHUNK_BYTES;
		struct ct_chunk chunk;
		uint64_t drained;
		uint64_t tag;

		if (at + CT_CHUNK_BYTES > f->sx.stx_size ||
		    pread(f->fd, &chunk, sizeof(chunk), (off_t)at) != (ssize_t)sizeof(chunk))
			return 0;
		drained = ct_load_acquire(&chunk.drained);
		if ((ct_load_acquire(&chunk.state) & 0xff) == CT_CHUNK_FREE ||
		    drained == CT_CHUNK_SLOTS)
			continue;
		if (drained > CT_CHUNK_SLOTS ||
		    pread(f->fd, &tag, sizeof(tag), (off_t)(at + (1 + drained) * CT_SLOT_BYTES)) !=
			    (ssize_t)sizeof(tag))
			return 0;
		if (CT_TAG_LAP(tag) == (uint32_t)(ct_load_acquire(&chunk.state) >> 8) && (tag & 1))
			return 0;
	}
	return 1;
}

/* Did it end the way its last block says? A process can still be killed while its exit handlers
 * run. */
static int ended_in_order(struct ring_file *f)
{
	uint32_t status = (uint32_t)ct_load_acquire(&f->h.death_note);

	return ct_load_acquire(&f->h.state) == CT_RING_ENDED &&
	       (ct_load_acquire(&f->h.death_seen_ns) == 0 || WIFEXITED((int)status));
}

/* The run directory: a descriptor, -ENOENT if it is not there any more, or another -errno. */
static int open_run_dir(const struct ct_process *id)
{
	struct ct_run_id found;
	int fd, why;

	if (!id->run.ino || id->run_dir[0] != '/')
		return -ENOENT;
	fd = open(id->run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (ct_run_id_get(fd, "", &found) != CT_OK)
		why = -errno;
	else if (ct_run_id_same(&found, &id->run))
		return fd;
	else
		why = -ENOENT;
	close(fd);
	return why;
}

/* Write the archive under a name of its own and give it the right one when it is whole. */
static int archive(const struct ring_file *f, int dirfd, struct ct_err *err)
{
	char name[CT_SEGMENT_NAME_MAX];
	char part[CT_SEGMENT_NAME_MAX + 8];
	char text[96];
	uint64_t written;
	size_t len;
	int fd, st;

	ct_segment_stem(name, &f->h.process);
	len = strlen(name);
	snprintf(name + len, sizeof(name) - len, ".ring.zst");
	snprintf(part, sizeof(part), "%s.tmp", name);
	unlinkat(dirfd, part, 0); /* of a collector that died: the lock on the ring is ours */
	fd = openat(dirfd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
		    0600);
	if (fd < 0)
		return ct_fail(err, CT_IO, "%s", ct_errno_text(errno, text, sizeof(text)));
	fd = ct_fd_clear_of_stdio(fd);
	st = ct_ring_archive_write(f->fd, f->sx.stx_size, fd, &written, err);
	if (close(fd) != 0 && st == CT_OK) /* quota and network file systems report errors here */
		st = ct_fail(err, CT_IO, "close: %s", ct_errno_text(errno, text, sizeof(text)));
	if (st == CT_OK && renameat(dirfd, part, dirfd, name) != 0)
		st = ct_fail(err, CT_IO, "rename: %s", ct_errno_text(errno, text, sizeof(text)));
	if (st != CT_OK)
		unlinkat(dirfd, part, 0);
	return st;
}

/* How much of the ring directory orphans may take. */
static uint64_t orphan_limit(int fd)
{
	struct statvfs fs;
	uint64_t quarter;

	if (fstatvfs(fd, &fs) != 0)
		return ORPHANS_MAX_BYTES;
	quarter = (uint64_t)fs.f_blocks * fs.f_frsize / 4;
	return quarter < ORPHANS_MAX_BYTES ? quarter : ORPHANS_MAX_BYTES;
}

static void collect_orphan(struct pass *p, struct ring_file *f)
{
	struct orphan o = { .age_ns = age_ns(f), .bytes = f->sx.stx_size };
	uint64_t limit = orphan_limit(f->fd);
	uint32_t at;

	/* a caller with one run knows where its directory is now, and reads the ring itself */
	if (!p->only && (p->condemned || o.age_ns >= DAY_NS)) {
		drop_file(p, f, &p->out->removed);
		return;
	}
	keep(p, f,
	     "its run directory is not where it was; removed a day after the process's death");
	if (p->only)
		return;
	snprintf(o.path, sizeof(o.path), "%s", f->path);
	if (limit < p->orphan_limit)
		p->orphan_limit = limit;
	p->orphan_bytes += o.bytes;
	/* oldest first */
	for (at = p->n_orphans; at && p->orphans[at - 1].age_ns < o.age_ns; at--)
		if (at < N_ORPHANS)
			p->orphans[at] = p->orphans[at - 1];
	if (at < N_ORPHANS)
		p->orphans[at] = o;
	if (p->n_orphans < N_ORPHANS)
		p->n_orphans++;
}

static void collect_dead(struct pass *p, struct ring_file *f)
{
	struct ct_err err = { 0 };
	char text[96];
	int dirfd;

	if (!lock_ring(f))
		return;
	if (ended_in_order(f) && is_drained(f)) {
		drop_file(p, f, &p->out->removed);
		return;
	}
	dirfd = open_run_dir(&f->h.process);
	if (dirfd == -ENOENT) {
		collect_orphan(p, f);
		return;
	}
	if (dirfd < 0) {
		keep(p, f, ct_errno_text(-dirfd, text, sizeof(text)));
		return;
	}
	if (archive(f, dirfd, &err) == CT_OK)
		drop_file(p, f, &p->out->moved);
	else
		keep(p, f, err.text);
	close(dirfd);
}

/* Whether a parent may still note in this ring how its process ended. It is given limited time,
 * since some never wait. A parent that adopted the orphan does not know the ring, and init may
 * leave a zombie for seconds. */
static int is_awaited(struct ring_file *f, enum ct_owner owner)
{
	return owner == CT_OWNER_AWAITED && age_ns(f) < 60 * CT_SECOND_NS;
}

/* A process that was killed between making the file and allocating it left it empty. */
static void collect_stub(struct pass *p, const struct ring_file *f)
{
	struct statx sx;

	if (f->name_kind != CT_RING_NAME_OWN || f->pidns != ct_pidns_self() ||
	    ct_pid_start_ticks((pid_t)f->pid) != 0)
		return;
	if (statx(AT_FDCWD, f->path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &sx) == 0 &&
	    S_ISREG(sx.stx_mode) && sx.stx_uid == geteuid() && sx.stx_size == 0)
		drop_file(p, f, &p->out->removed);
}

static void collect_unless_lives(struct pass *p, struct ring_file *f)
{
	enum ct_owner owner = ct_ring_owner(&f->h, f->fd);

	if (owner == CT_OWNER_LIVES)
		return;
	if (is_awaited(f, owner))
		keep(p, f, "its process is dead, and its parent has not waited for it yet");
	else
		collect_dead(p, f);
}

static int collect_path(const char *path, void *arg)
{
	const char *name = strrchr(path, '/') + 1;
	struct ring_file f = { .path = path };
	struct pass *p = arg;
	int own;

	f.name_kind = ct_ring_name_parse(name, &f.pidns, &f.pid);
	own = f.pidns == ct_pidns_self() && f.pid == (uint32_t)getpid();
	/* What has our pid and is not ours is from before exec, or from a process that had the pid
	 * earlier. */
	if (own && is_mapped_here(name))
		return 0;
	/* Not for writing yet: most rings here are of living processes. In a program that has
	 * closed its stderr a descriptor can be 2 for a moment, and what is written there then must
	 * not get into them. */
	f.fd = ct_ring_file_open(path, O_RDONLY, geteuid(), &f.sx);
	if (f.fd < 0) {
		collect_stub(p, &f);
		return 0;
	}
	if (!read_header(&f))
		goto out;
	if (f.h.magic != CT_RING_MAGIC || ct_load_acquire(&f.h.state) == 0) {
		collect_unmade(p, &f);
		goto out;
	}
	if (p->only && !ct_run_id_same(p->only, &f.h.process.run))
		goto out;
	if (!ct_format_is_read(f.h.version)) {
		keep(p, &f, "made by another version of commtrace");
		goto out;
	}
	/* Set aside: a newer ring of the same pid has its name, so no process records into this
	 * one. */
	if (own || f.name_kind == CT_RING_NAME_ASIDE)
		collect_dead(p, &f);
	else
		collect_unless_lives(p, &f);
out:
	close(f.fd);
	return 0;
}

/* More orphans than a ring directory can bear: the oldest go before their day is over. */
static void thin_out(struct pass *p)
{
	p->condemned = 1;
	for (uint32_t i = 0; i < p->n_orphans && p->orphan_bytes > p->orphan_limit; i++) {
		uint32_t before = p->out->removed + p->out->moved;

		collect_path(p->orphans[i].path, p);
		if (p->out->removed + p->out->moved != before) {
			p->orphan_bytes -= p->orphans[i].bytes;
			p->out->kept--;
		}
	}
}

void ct_ring_dir_collect(const char *const *dirs, const struct ct_run_id *only,
			 struct ct_collected *collected)
{
	struct pass *p;
	int kept = errno;

	memset(collected, 0, sizeof(*collected));
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	p->only = only;
	p->out = collected;
	p->orphan_limit = ORPHANS_MAX_BYTES;
	ct_ring_dir_scan(dirs, collect_path, p);
	thin_out(p);
	free(p);
	errno = kept;
}
