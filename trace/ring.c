/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "trace/append.h"
#include "trace/ring_stacks.h"
#include "trace/ring_tables.h"
#include "trace/ring_traffic.h"

#define TMPFS_MAGIC 0x01021994
#define RAMFS_MAGIC 0x858458f6

static uint32_t clamp(uint64_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : (uint32_t)value;
}

/* Append in decimal. Handlers of fatal signals may need a name: snprintf is not async-signal-safe. */
static char *put_number(char *p, uint64_t value)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*p++ = digits[--n];
	return p;
}

void ct_ring_name(char *name, uint32_t pidns, uint32_t pid)
{
	char *p = name;

	memcpy(p, "commtrace.", 10);
	p = put_number(p + 10, pidns);
	*p++ = '.';
	p = put_number(p, pid);
	memcpy(p, ".ring", 6);
}

/* dir/name, or dir/name.START.ring with start nonzero. Returns 0 if it does not fit. */
static int put_path(char path[256], const char *dir, const char *name, uint64_t start)
{
	size_t dir_len = strlen(dir);
	char *p = path;

	if (dir_len + CT_RING_NAME_MAX + 32 > 256)
		return 0;
	memcpy(p, dir, dir_len);
	p += dir_len;
	*p++ = '/';
	memcpy(p, name, strlen(name) + 1);
	p += strlen(name);
	if (start) {
		*p++ = '.';
		p = put_number(p, start);
		memcpy(p, ".ring", 6);
	}
	return 1;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* fact: Linux 5.14 */
#endif
/* size: what a ring has at first, 24,000 records. With half of it a burst of 10,000 nonblocking calls on two busy cores lost records:
 * the write thread, which adds more, may wait for a core longer than such a burst takes (mpi.requests). */
#define FIRST_BYTES (2u << 20)

static uint32_t chunks_in(const struct ct_ring_header *h, size_t bytes)
{
	return (uint32_t)((bytes - h->chunks_at) / CT_CHUNK_BYTES);
}

/* Lay the tables out in `bytes`, of which `first` are there; the header must be zero. */
static void lay_out(struct ct_ring_header *h, size_t bytes, size_t first)
{
	uint32_t n_traffic = clamp(bytes / 1024, 256, 4096);
	uint32_t stacks = clamp(bytes / 256, 4096, CT_RING_STACKS_MOST);
	uint64_t at = sizeof(*h);

	h->magic = CT_RING_MAGIC;
	h->version = CT_FORMAT_VERSION;
	h->header_bytes = sizeof(*h);
	h->file_bytes = bytes;
	h->n_comms = clamp(bytes / 4096, 64, 1024);
	/* a host runs ahead of its GPU by as many launches as the driver's queue holds, 1024: also with 1 MB */
	h->n_opens = clamp(bytes / 1024, 64, 1024);
	/* ids of strings must fit into 16 bits, because an op's call is one */
	h->strings_bytes = clamp(bytes / 32, 4096, 128u << 10);
	h->comms_at = (uint32_t)at;
	at += (uint64_t)h->n_comms * sizeof(struct ct_ring_comm);
	h->opens_at = (uint32_t)at;
	at += (uint64_t)h->n_opens * sizeof(struct ct_ring_open);
	atomic_store_explicit(&h->traffic, (uint64_t)n_traffic << 32 | at, memory_order_relaxed);
	at += (uint64_t)n_traffic * sizeof(struct ct_ring_traffic);
	atomic_store_explicit(&h->stacks, (uint64_t)stacks << 32 | at, memory_order_relaxed);
	at += 2ull * stacks;
	h->strings_at = (uint32_t)at;
	at += h->strings_bytes;
	at = (at + CT_CHUNK_BYTES - 1) / CT_CHUNK_BYTES * CT_CHUNK_BYTES;
	h->chunks_at = (uint32_t)at;
	h->n_chunks = chunks_in(h, first);
	atomic_store_explicit(&h->n_free, h->n_chunks, memory_order_relaxed);
}

/* A file of the same name is what this pid left when it executed another program or what an earlier process
 * with this pid left when it died: move it aside, the write thread archives it. */
static int create_file(const char *dir, const char *name, char path[256])
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char aside[256];
	struct timespec now;
	int fd;

	if (!put_path(path, dir, name, 0))
		return -1;
	fd = open(path, flags, 0600);
	if (fd >= 0 || errno != EEXIST)
		return fd;
	clock_gettime(CLOCK_REALTIME, &now);
	if (!put_path(aside, dir, name,
		      (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ||
	    rename(path, aside) != 0)
		return -1;
	return open(path, flags, 0600);
}

/* Allocate every page now, or fail now. */
static int allocate(int fd, size_t bytes)
{
	int why;

	do {
		why = posix_fallocate(fd, 0, (off_t)bytes);
	} while (why == EINTR);
	return why;
}

/* The lock that says that the owner lives: it belongs to the open file, which the mapping keeps, so that no descriptor has to
 * stay: -1. Before Linux 3.15 it belongs to the process and its descriptor. */
static int lock(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &whole) != 0) {
		fcntl(fd, F_SETLK, &whole); /* without it other pid namespaces rely on the beat */
		return fd;
	}
	close(fd);
	return -1;
}

static int are_allocated(int fd, size_t bytes)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 >= bytes;
}

/* Maps the ring and makes its first pages be there: all of them, if the kernel cannot add some later, if it (or what emulates it)
 * only says that it did, or if adding would wait for a disk. Returns how many bytes are there, 0 if that fails. */
static size_t map_file(int fd, size_t bytes, int is_memory, void **map)
{
	size_t first = is_memory && bytes > FIRST_BYTES ? FIRST_BYTES : bytes;

	if (ftruncate(fd, (off_t)bytes) != 0 || (!is_memory && allocate(fd, bytes) != 0))
		return 0;
	*map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*map == MAP_FAILED)
		return 0;
	if (madvise(*map, first, MADV_POPULATE_WRITE) == 0 && are_allocated(fd, first))
		return first;
	munmap(*map, bytes);
	if (allocate(fd, bytes) != 0)
		return 0;
	*map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	return *map == MAP_FAILED ? 0 : bytes;
}

/* Try one directory; 0 and *map on success. */
static int map_in(struct ct_ring *ring, const char *dir, const char *name, size_t bytes, void **map,
		  uint32_t *kind)
{
	struct statvfs room;
	struct stat st;
	struct statfs fs;
	size_t first;
	int is_memory;
	int fd = ct_fd_clear_of_stdio(create_file(dir, name, ring->path));

	if (fd < 0)
		return -1;
	if (fstatvfs(fd, &room) != 0 || fstatfs(fd, &fs) != 0)
		goto out_unlink;
	is_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
	while (bytes > CT_RING_MIN_BYTES && bytes > (uint64_t)room.f_bavail * room.f_frsize / 2)
		bytes /= 2;
	if (bytes > (uint64_t)room.f_bavail * room.f_frsize / 2)
		goto out_unlink;
	first = map_file(fd, bytes, is_memory, map);
	if (!first)
		goto out_unlink;
	if (fstat(fd, &st) == 0) {
		ring->dev = st.st_dev;
		ring->ino = st.st_ino;
	}
	lay_out(*map, bytes, first);
	ring->fd = lock(fd);
	*kind = is_memory ? CT_RING_SHARED : CT_RING_DISK;
	return 0;
out_unlink:
	unlink(ring->path);
	close(fd);
	return -1;
}

static int map_private(struct ct_ring *ring, size_t bytes, void **map, uint32_t *kind)
{
	*map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	if (*map == MAP_FAILED)
		return -1;
	lay_out(*map, bytes, bytes);
	ring->fd = -1;
	ring->path[0] = '\0';
	*kind = CT_RING_PRIVATE;
	return 0;
}

int ct_ring_create(struct ct_ring *ring, struct ct_process *process, const char *const *dirs,
		   size_t bytes, struct ct_err *err)
{
	char name[CT_RING_NAME_MAX];
	struct ct_ring_header *h;
	void *map = NULL;
	int made = -1;

	memset(ring, 0, sizeof(*ring));
	ring->fd = -1;
	if (bytes < CT_RING_MIN_BYTES)
		bytes = CT_RING_MIN_BYTES;
	ct_ring_name(name, process->pidns, process->pid);
	for (; *dirs && made != 0; dirs++)
		made = map_in(ring, *dirs, name, bytes, &map, &process->ring_kind);
	if (made != 0)
		made = map_private(ring, bytes, &map, &process->ring_kind);
	if (made != 0)
		return ct_fail(err, CT_NOMEM, "ring of %zu bytes: no memory", bytes);

	h = map;
	/* a forked child that touched the ring would write into its parent's chunks: it gets no mapping */
	madvise(map, h->file_bytes, MADV_DONTFORK);
	h->process = *process;
	ring->header = h;
	ring->bytes = h->file_bytes;
	ring->comms = (struct ct_ring_comm *)((char *)map + h->comms_at);
	ring->opens = (struct ct_ring_open *)((char *)map + h->opens_at);
	ring->stacks = (char *)map + ct_ring_stacks_at(h);
	ring->traffic = (struct ct_ring_traffic *)((char *)map + ct_ring_traffic_at(h));
	ring->strings = (char *)map + h->strings_at;
	ring->chunks = (struct ct_chunk *)((char *)map + h->chunks_at);
	atomic_store_explicit(&h->beat_ns, process->start_ns, memory_order_relaxed);
	atomic_store_explicit(&h->state, CT_RING_LIVE, memory_order_release);
	return CT_OK;
}

int ct_ring_grow(struct ct_ring *ring)
{
	struct ct_ring_header *h = ring->header;
	uint32_t all = chunks_in(h, ring->bytes);
	uint32_t n, more;

	if (h->n_chunks >= all || atomic_exchange_explicit(&ring->grows, 1, memory_order_acquire))
		return 0;
	n = h->n_chunks;
	more = n < all - n ? n : all - n;
	if (more && madvise(ct_ring_chunk(ring, n), (size_t)more * CT_CHUNK_BYTES,
			    MADV_POPULATE_WRITE) == 0) {
		/* release: who takes one of the free ones finds it; pairs with take_free() */
		atomic_store_explicit(&h->n_chunks, n + more, memory_order_release);
		atomic_fetch_add_explicit(&h->n_free, more, memory_order_release);
	} else {
		more = 0;
	}
	atomic_store_explicit(&ring->grows, 0, memory_order_release);
	return more != 0;
}

int ct_ring_is_removed(const struct ct_ring *ring)
{
	char dir[sizeof(ring->path)];
	struct stat st;
	char *slash;

	if (stat(ring->path, &st) == 0)
		return st.st_dev == ring->dev && st.st_ino != ring->ino;
	if (errno != ENOENT)
		return 0;
	memcpy(dir, ring->path, sizeof(dir));
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	return stat(dir, &st) == 0 && st.st_dev == ring->dev;
}

void ct_ring_close(struct ct_ring *ring, int unlink_file)
{
	if (!ring->header)
		return;
	if (unlink_file && ring->path[0])
		unlink(ring->path);
	munmap(ring->header, ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	memset(ring, 0, sizeof(*ring));
	ring->fd = -1;
}

/* One chunk off the count of free ones; 0 if there is none. */
static int take_free(ct_word *n_free)
{
	uint64_t n = atomic_load_explicit(n_free, memory_order_relaxed);

	while (n && !atomic_compare_exchange_weak_explicit(n_free, &n, n - 1, memory_order_acquire,
							   memory_order_relaxed))
		;
	return n != 0;
}

int ct_ring_claim(struct ct_ring *ring, struct ct_lane *lane)
{
	struct ct_ring_header *h = ring->header;
	uint32_t n_chunks;
	uint64_t lap;

	if (!h || !take_free(&h->n_free))
		return 0;
	n_chunks = atomic_load_explicit(&h->n_chunks, memory_order_relaxed);
	/* release: who sees this number sees the chunks that this thread claimed before; pairs with
	 * ct_drain_begin() */
	do
		lap = atomic_fetch_add_explicit(&h->claims, 1, memory_order_release) + 1;
	while ((uint32_t)lap == 0);
	/* Chunks are freed about in the order in which they were claimed, so the search is short; having taken
	 * one off the count, there is one to find. Two rounds bound it against the impossible. */
	for (uint32_t tries = 0; tries < 2 * n_chunks; tries++) {
		struct ct_chunk *chunk = ct_ring_chunk(ring, (uint32_t)((lap + tries) % n_chunks));
		uint64_t state = atomic_load_explicit(&chunk->state, memory_order_relaxed);

		/* acquire: pairs with the release in ct_ring_free_chunk(), the write thread is through with it */
		if ((state & 0xff) != CT_CHUNK_FREE ||
		    !atomic_compare_exchange_strong_explicit(
			    &chunk->state, &state, lap << 8 | CT_CHUNK_OWNED, memory_order_acquire,
			    memory_order_relaxed))
			continue;
		ct_lane_close(lane);
		if (!lane->tid)
			lane->tid = (uint32_t)syscall(SYS_gettid);
		/* ordered before the first record by that record's release */
		atomic_store_explicit(&chunk->owner, lane->tid, memory_order_relaxed);
		lane->lap = (uint32_t)lap;
		lane->next = ct_chunk_slots(chunk);
		lane->end = lane->next + CT_CHUNK_SLOTS;
		return 1;
	}
	atomic_fetch_add_explicit(&h->n_free, 1, memory_order_relaxed);
	return 0;
}

void ct_lane_close(struct ct_lane *lane)
{
	struct ct_chunk *chunk = ct_lane_chunk(lane);

	if (chunk) {
		uint64_t state = atomic_load_explicit(&chunk->state, memory_order_relaxed);

		/* release: who sees CLOSED sees every slot */
		atomic_store_explicit(&chunk->state, (state & ~0xffull) | CT_CHUNK_CLOSED,
				      memory_order_release);
	}
	lane->next = NULL;
	lane->end = NULL;
}

void ct_ring_free_chunk(struct ct_ring *ring, struct ct_chunk *chunk)
{
	uint64_t state = atomic_load_explicit(&chunk->state, memory_order_relaxed);

	atomic_store_explicit(&chunk->drained, 0, memory_order_relaxed);
	/* until the next owner stores its number, the chunk must not look like that of a thread that has ended */
	atomic_store_explicit(&chunk->owner, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->state, (state & ~0xffull) | CT_CHUNK_FREE,
			      memory_order_release);
	atomic_fetch_add_explicit(&ring->header->n_free, 1, memory_order_release);
}

uint32_t ct_ring_string(struct ct_ring *ring, const char *text)
{
	size_t len = strnlen(text, CT_RING_STRING_MAX);
	uint64_t size = ct_ring_string_bytes(len);
	uint64_t at;
	char *entry;

	if (!ring->header || len == 0)
		return 0;
	at = atomic_fetch_add_explicit(&ring->header->strings_used, size, memory_order_relaxed);
	if (at + size > ring->header->strings_bytes) {
		ct_ring_lose(ring, CT_LOSS_STRINGS_FULL, 1);
		return 0;
	}
	entry = ring->strings + at;
	memcpy(entry + 4, text, len);
	entry[4 + len] = '\0';
	atomic_store_explicit((_Atomic uint32_t *)(void *)entry, (uint32_t)len,
			      memory_order_release);
	return (uint32_t)(at / 4 + 1);
}

int ct_ring_comm_has_room(const struct ct_ring *ring)
{
	return ring->header && atomic_load_explicit(&ring->comms_taken, memory_order_relaxed) <
				       ring->header->n_comms;
}

/* The lowest free one, as far as known, comes next: a search skips only a few used ones. */
void ct_ring_comm_free(struct ct_ring *ring, uint32_t i)
{
	atomic_store_explicit(&ring->comms[i].id, 0, memory_order_release);
	atomic_fetch_sub_explicit(&ring->comms_taken, 1, memory_order_relaxed);
	if (i < atomic_load_explicit(&ring->comms_hint, memory_order_relaxed))
		atomic_store_explicit(&ring->comms_hint, i, memory_order_relaxed);
}

struct ct_ring_comm *ct_ring_comm_add(struct ct_ring *ring, const struct ct_comm_rec *comm)
{
	uint32_t n = ct_ring_comm_has_room(ring) ? ring->header->n_comms : 0;
	uint32_t from = atomic_load_explicit(&ring->comms_hint, memory_order_relaxed);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (from + k) % n;
		struct ct_ring_comm *c = &ring->comms[i];
		uint64_t unused = 0;

		if (!atomic_compare_exchange_strong_explicit(&c->id, &unused, 1ull << 32,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		atomic_fetch_add_explicit(&ring->comms_taken, 1, memory_order_relaxed);
		atomic_store_explicit(&ring->comms_hint, i + 1, memory_order_relaxed);
		atomic_store_explicit(&c->key, comm->key, memory_order_relaxed);
		atomic_store_explicit(&c->parent, comm->parent, memory_order_relaxed);
		atomic_store_explicit(&c->created_ns, comm->created_ns, memory_order_relaxed);
		atomic_store_explicit(&c->ranks,
				      (uint64_t)comm->nranks << 32 | (uint32_t)comm->rank,
				      memory_order_relaxed);
		atomic_store_explicit(&c->bits,
				      comm->backend | (uint64_t)comm->key_source << 8 |
					      (uint64_t)comm->name << 32,
				      memory_order_relaxed);
		atomic_store_explicit(&c->next_seq, 0, memory_order_relaxed);
		atomic_store_explicit(&c->ended_ns, 0, memory_order_relaxed);
		atomic_store_explicit(&c->last_enter, 0, memory_order_relaxed);
		atomic_store_explicit(&c->last_op, 0, memory_order_relaxed);
		atomic_store_explicit(&c->members_key, comm->members_key, memory_order_relaxed);
		atomic_store_explicit(&c->where, comm->device, memory_order_relaxed);
		atomic_store_explicit(&c->id, comm->id, memory_order_release);
		return c;
	}
	ct_ring_lose(ring, CT_LOSS_COMM_TABLE_FULL, 1);
	return NULL;
}

#define LEAPS 32u
#define LEAP 61u

struct ct_ring_open *ct_ring_open_add(struct ct_ring *ring, uint32_t launch,
				      const uint64_t words[8])
{
	uint32_t n = ring->header ? ring->header->n_opens : 0;

	/* Launches close about in the order in which they open: start where the oldest probably was. Those that stay
	 * open are side by side: skip them, or each search goes through all of a nearly full table. */
	for (uint32_t i = 0; i < LEAPS + n; i++) {
		uint32_t at = i < LEAPS ? launch + i * LEAP : launch + (i - LEAPS);
		struct ct_ring_open *o = &ring->opens[at % n];

		if (!ct_ring_open_reserve(o))
			continue;
		ct_ring_open_fill(o, launch, words);
		return o;
	}
	ct_ring_lose(ring, CT_LOSS_OPEN_TABLE_FULL, 1);
	return NULL;
}
