/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/ring_archive.h"
#include "trace/ring_dir.h"
#include "trace/ring_stacks.h"
#include "trace/ring_tables.h"
#include "trace/ring_traffic.h"

void ct_process_terminate(struct ct_process *p)
{
	p->host[sizeof(p->host) - 1] = '\0';
	p->job[sizeof(p->job) - 1] = '\0';
	p->boot_id[sizeof(p->boot_id) - 1] = '\0';
	p->version[sizeof(p->version) - 1] = '\0';
	p->exe[sizeof(p->exe) - 1] = '\0';
	p->run_dir[sizeof(p->run_dir) - 1] = '\0';
}

/* ---- is it a ring?
 * ----------------------------------------------------------------------------------- */

static int table_fits(uint64_t at, uint64_t n, uint64_t size, uint64_t align, uint64_t bytes)
{
	return at >= sizeof(struct ct_ring_header) && at % align == 0 && at <= bytes &&
	       n <= (bytes - at) / size;
}

/* Is this the header of a ring that has `bytes` bytes? */
static int check_header(const struct ct_ring_header *h, uint64_t bytes, struct ct_err *err)
{
	uint64_t state;

	if (h->magic == 0)
		return ct_fail(err, CT_FORMAT, "empty: its process died before the ring was made");
	if (h->magic != CT_RING_MAGIC)
		return ct_fail(err, CT_FORMAT, "not a commtrace ring");
	if (!ct_format_is_read(h->version))
		return ct_format_refuse(h->version, err);
	if (bytes < h->file_bytes)
		return ct_fail(err, CT_TORN, "cut off: %llu of %llu bytes are there",
			       (unsigned long long)bytes, (unsigned long long)h->file_bytes);
	if (h->header_bytes < sizeof(*h) ||
	    !table_fits(h->comms_at, h->n_comms, sizeof(struct ct_ring_comm), 8, bytes) ||
	    !table_fits(h->opens_at, h->n_opens, sizeof(struct ct_ring_open), 8, bytes) ||
	    (ct_load_acquire(&h->traffic) &&
	     !table_fits(ct_ring_traffic_at(h), ct_ring_traffic_entries(h),
			 sizeof(struct ct_ring_traffic), 8, bytes)) ||
	    (ct_load_acquire(&h->stacks) &&
	     !table_fits(ct_ring_stacks_at(h), 2 * (uint64_t)ct_ring_stacks_bytes(h) / 8, 8, 8,
			 bytes)) ||
	    !table_fits(h->strings_at, h->strings_bytes, 1, 4, bytes) ||
	    !table_fits(h->chunks_at, h->n_chunks, CT_CHUNK_BYTES, CT_SLOT_BYTES, bytes))
		return ct_fail(err, CT_FORMAT, "ring header is damaged: a table runs past the end");
	state = ct_load_acquire(&h->state);
	if (state != CT_RING_LIVE && state != CT_RING_ENDED)
		return ct_fail(err, CT_FORMAT, "its process died before the ring was made");
	return CT_OK;
}

/* A table may have grown since it was checked: the file has space for all there will ever be. */
static uint32_t bounded(const struct ct_ring_view *v, uint64_t n, const void *table, size_t size)
{
	uint64_t most = (v->bytes - (size_t)((const char *)table - (char *)v->ring.header)) / size;

	return (uint32_t)(n < most ? n : most);
}

void ct_ring_view_tables(struct ct_ring_view *v)
{
	const struct ct_ring_header *h = v->ring.header;
	uint64_t traffic = ct_load_acquire(&h->traffic);
	uint32_t traffic_at = (uint32_t)traffic;

	v->n_comms = bounded(v, h->n_comms, v->ring.comms, sizeof(struct ct_ring_comm));
	v->strings_bytes = bounded(v, h->strings_bytes, v->ring.strings, 1);
	v->n_traffic = 0;
	if (traffic_at < sizeof(*h) || traffic_at > v->bytes || traffic_at % 8)
		return;
	v->ring.traffic = (struct ct_ring_traffic *)(void *)((char *)v->ring.header + traffic_at);
	v->n_traffic = bounded(v, traffic >> 32, v->ring.traffic, sizeof(struct ct_ring_traffic));
}

/* Point the view at a checked ring. */
static void set_view(struct ct_ring_view *v, void *base, size_t bytes, int mapped)
{
	struct ct_ring_header *h = base;
	char *p = base;

	v->ring.header = h;
	v->ring.comms = (struct ct_ring_comm *)(void *)(p + h->comms_at);
	v->ring.opens = (struct ct_ring_open *)(void *)(p + h->opens_at);
	v->ring.stacks = p + ct_ring_stacks_at(h);
	v->ring.strings = p + h->strings_at;
	v->ring.chunks = (struct ct_chunk *)(void *)(p + h->chunks_at);
	v->bytes = bytes;
	v->mapped = mapped;
	v->n_opens = h->n_opens;
	v->stacks_bytes = ct_ring_stacks_bytes(h);
	v->n_chunks = bounded(v, h->n_chunks, v->ring.chunks, CT_CHUNK_BYTES);
	ct_ring_view_tables(v);
}

/* Make `data` (from posix_memalign) the view's, or free it. */
static int adopt(struct ct_ring_view *v, void *data, size_t bytes, struct ct_err *err)
{
	int st;

	if (bytes < sizeof(struct ct_ring_header))
		st = ct_fail(err, CT_FORMAT, "%zu bytes: too short for a ring", bytes);
	else
		st = check_header(data, bytes, err);
	if (st != CT_OK) {
		free(data);
		return st;
	}
	ct_process_terminate(&((struct ct_ring_header *)data)->process);
	set_view(v, data, bytes, 0);
	return CT_OK;
}

/* ---- opening
 * ----------------------------------------------------------------------------------------- */

struct file {
	int fd;
	uint64_t bytes;
	int archived;
};

/* Opens without ever blocking: a FIFO or a device may have the name of a ring. */
static int file_open(const char *path, struct file *f, struct ct_err *err)
{
	uint8_t start[4] = { 0 };
	struct stat st;

	if (stat(path, &st) != 0)
		return ct_fail(err, errno == ENOENT ? CT_NOTFOUND : CT_IO, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return ct_fail(err, CT_FORMAT, "not a regular file");
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		return ct_fail(err, errno == ENOENT ? CT_NOTFOUND : CT_IO, "%s", strerror(errno));
	if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode) || pread(f->fd, start, 4, 0) < 0) {
		close(f->fd);
		return ct_fail(err, CT_IO, "cannot be read: %s", strerror(errno));
	}
	f->bytes = (uint64_t)st.st_size;
	f->archived = ct_ring_archive_is(start);
	return CT_OK;
}

/* Read `bytes` bytes from the start. */
static int read_whole(int fd, char *to, size_t bytes, struct ct_err *err)
{
	size_t at = 0;

	while (at < bytes) {
		ssize_t n = pread(fd, to + at, bytes - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ct_fail(err, CT_IO, "offset %zu: %s", at, strerror(errno));
		if (n == 0)
			return ct_fail(err, CT_TORN, "offset %zu: shorter than it was", at);
		at += (size_t)n;
	}
	return CT_OK;
}

static int head_of(const struct file *f, struct ct_ring_header *h, struct ct_err *err)
{
	size_t bytes;
	void *data;
	int st;

	if (!f->archived) {
		if (f->bytes < sizeof(*h))
			return ct_fail(err, CT_FORMAT, "%llu bytes: too short for a ring",
				       (unsigned long long)f->bytes);
		return read_whole(f->fd, (char *)h, sizeof(*h), err);
	}
	st = ct_ring_archive_read(f->fd, sizeof(*h), 1, &data, &bytes, err);
	if (st != CT_OK)
		return st;
	if (bytes < sizeof(*h))
		st = ct_fail(err, CT_FORMAT, "%zu bytes: too short for a ring", bytes);
	else
		memcpy(h, data, sizeof(*h));
	free(data);
	return st;
}

int ct_ring_header_read(const char *path, struct ct_ring_header *header, int *lives,
			struct ct_err *err)
{
	struct file f;
	int st = file_open(path, &f, err);

	*lives = 0;
	if (st != CT_OK)
		goto out;
	st = head_of(&f, header, err);
	if (st == CT_OK) /* how long an archive becomes is known when it is unpacked */
		st = check_header(header, f.archived ? header->file_bytes : f.bytes, err);
	if (st == CT_OK) {
		ct_process_terminate(&header->process);
		*lives = !f.archived && ct_ring_owner_lives(header, f.fd);
	}
	close(f.fd);
out:
	return st == CT_OK ? CT_OK : ct_fail_while(err, st, "%s", path);
}

static int open_archive(const struct file *f, struct ct_ring_view *view, struct ct_err *err)
{
	size_t bytes;
	void *data;
	int st = ct_ring_archive_read(f->fd, CT_RING_MAX_BYTES, 0, &data, &bytes, err);

	return st == CT_OK ? adopt(view, data, bytes, err) : st;
}

static int open_copy(const struct file *f, struct ct_ring_view *view, struct ct_err *err)
{
	void *data = NULL;
	int st;

	if (posix_memalign(&data, CT_SLOT_BYTES, f->bytes) != 0)
		return ct_fail(err, CT_NOMEM, "out of memory");
	st = read_whole(f->fd, data, f->bytes, err);
	if (st != CT_OK) {
		free(data);
		return st;
	}
	return adopt(view, data, f->bytes, err);
}

static int open_live(const struct file *f, struct ct_ring_view *view, struct ct_err *err)
{
	void *map = mmap(NULL, f->bytes, PROT_READ, MAP_SHARED, f->fd, 0);
	int st;

	if (map == MAP_FAILED)
		return open_copy(f, view, err);
	st = check_header(map, f->bytes, err);
	if (st == CT_OK)
		set_view(view, map, f->bytes, 1);
	else
		munmap(map, f->bytes);
	return st;
}

int ct_ring_view_open(const char *path, struct ct_ring_view *view, struct ct_err *err)
{
	struct ct_ring_header h;
	struct file f;
	int st;

	memset(view, 0, sizeof(*view));
	view->ring.fd = -1;
	st = file_open(path, &f, err);
	if (st != CT_OK)
		return ct_fail_while(err, st, "%s", path);
	if (f.archived) {
		st = open_archive(&f, view, err);
	} else {
		st = head_of(&f, &h, err);
		/* the rest of the file after the ring is not needed, and it may be terabytes of
		 * nothing */
		if (st == CT_OK && h.file_bytes < f.bytes)
			f.bytes = h.file_bytes;
		if (st == CT_OK && f.bytes > CT_RING_MAX_BYTES)
			st = ct_fail(err, CT_FORMAT, "no ring is so large");
		if (st == CT_OK)
			st = check_header(&h, f.bytes, err);
		if (st == CT_OK) {
			ct_process_terminate(&h.process);
			st = ct_ring_owner_lives(&h, f.fd) ? open_live(&f, view, err)
							   : open_copy(&f, view, err);
		}
	}
	close(f.fd);
	if (st != CT_OK)
		return ct_fail_while(err, st, "%s", path);
	strncpy(view->ring.path, path, sizeof(view->ring.path) - 1);
	return CT_OK;
}

int ct_ring_view_memory(const void *data, size_t bytes, struct ct_ring_view *view,
			struct ct_err *err)
{
	void *copy = NULL;

	memset(view, 0, sizeof(*view));
	view->ring.fd = -1;
	if (bytes > CT_RING_MAX_BYTES)
		return ct_fail(err, CT_FORMAT, "no ring is so large");
	if (posix_memalign(&copy, CT_SLOT_BYTES, bytes ? bytes : 1) != 0)
		return ct_fail(err, CT_NOMEM, "out of memory");
	memcpy(copy, data, bytes);
	return adopt(view, copy, bytes, err);
}

void ct_ring_view_close(struct ct_ring_view *view)
{
	if (!view->ring.header)
		return;
	if (view->mapped)
		munmap(view->ring.header, view->bytes);
	else
		free(view->ring.header);
	memset(view, 0, sizeof(*view));
	view->ring.fd = -1;
}

/* ---- what is in it
 * ----------------------------------------------------------------------------------- */

const char *ct_ring_view_string(const struct ct_ring_view *view, uint32_t id, size_t *len)
{
	uint64_t at = (uint64_t)(id - 1) * 4;
	const char *entry;
	uint32_t n;

	if (id == 0 || at + 8 > view->strings_bytes)
		return NULL;
	entry = view->ring.strings + at;
	/* acquire: pairs with ct_ring_string(), the bytes are there when the length is */
	n = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)entry, memory_order_acquire);
	if (n == 0 || n >= view->strings_bytes - at - 4 || entry[4 + n] != '\0')
		return NULL;
	*len = n;
	return entry + 4;
}

uint32_t ct_ring_view_strings_end(const struct ct_ring_view *view)
{
	uint32_t id = 1;
	size_t len;

	while (ct_ring_view_string(view, id, &len))
		id += (uint32_t)(ct_ring_string_bytes(len) / 4);
	return id;
}

int ct_ring_view_add_string(const struct ct_ring_view *view, uint32_t id, struct ct_block *block)
{
	uint8_t rec[4 + CT_RING_STRING_MAX];
	size_t len;
	const char *text = ct_ring_view_string(view, id, &len);

	if (!text)
		return CT_OK;
	if (len > sizeof(rec) - 4)
		len = sizeof(rec) - 4;
	memcpy(rec, &id, 4);
	memcpy(rec + 4, text, len);
	return ct_block_add_rare(block, CT_KIND_STRING, rec, 4 + len);
}

static int add_strings(const struct ct_ring_view *view, struct ct_block *block)
{
	uint32_t id = 1;
	size_t len;
	int st = CT_OK;

	while (st == CT_OK && ct_ring_view_string(view, id, &len)) {
		st = ct_ring_view_add_string(view, id, block);
		id += (uint32_t)(ct_ring_string_bytes(len) / 4);
	}
	return st;
}

static int add_comm(const struct ct_ring_view *view, const struct ct_ring_comm *c,
		    uint32_t strings_end, struct ct_block *block)
{
	struct ct_comm_rec comm;
	struct ct_comm_status_rec status;
	int st;

	if (!ct_ring_comm_read(c, &comm) || !ct_ring_comm_status_read(c, &status) ||
	    status.comm != comm.id)
		return CT_OK;
	st = ct_block_add_rare(block, CT_KIND_COMM, &comm, sizeof(comm));
	if (st == CT_OK)
		st = ct_block_add_rare(block, CT_KIND_COMM_STATUS, &status, sizeof(status));
	if (st == CT_OK && comm.name >= strings_end)
		st = ct_ring_view_add_string(view, comm.name, block);
	return st;
}

static int add_open(const struct ct_ring_open *o, struct ct_block *block)
{
	struct ct_open_launch_rec rec;

	if (!ct_ring_open_read(o, &rec))
		return CT_OK;
	return ct_block_add_rare(block, CT_KIND_OPEN_LAUNCH, &rec, sizeof(rec));
}

static int add_traffic(const struct ct_ring_view *view, struct ct_block *block)
{
	struct ct_traffic_rec rec;
	int st = CT_OK;

	for (uint32_t i = 0; i < view->n_traffic && st == CT_OK; i++)
		if (ct_ring_traffic_read(&view->ring, i, &rec))
			st = ct_block_add_rare(block, CT_KIND_TRAFFIC, &rec, sizeof(rec));
	return st;
}

static int add_header(const struct ct_ring_header *h, struct ct_block *block)
{
	struct ct_status_rec status = { ct_load_acquire(&h->beat_ns),
					ct_load_acquire(&h->flushed_ns) };
	int st = ct_block_add_rare(block, CT_KIND_STATUS, &status, sizeof(status));

	/* The ring has no times of losses, and those in segments are of what was lost until then:
	 * the process's whole time holds all of them. */
	for (uint32_t i = 1; i < CT_LOSS_MAX && st == CT_OK; i++) {
		struct ct_loss_rec loss = {
			.reason = i,
			.records = ct_load_acquire(&h->losses[i]),
			.begin_ns = h->process.start_ns,
			.end_ns = status.beat_ns,
		};

		if (loss.records)
			st = ct_block_add_rare(block, CT_KIND_LOSS, &loss, sizeof(loss));
	}
	return st;
}

int ct_ring_view_state(const struct ct_ring_view *view, struct ct_block *block)
{
	uint32_t strings_end = ct_ring_view_strings_end(view);
	int st = add_strings(view, block);

	for (uint32_t i = 0; i < view->n_comms && st == CT_OK; i++)
		st = add_comm(view, &view->ring.comms[i], strings_end, block);
	for (uint32_t i = 0; i < view->n_opens && st == CT_OK; i++)
		st = add_open(&view->ring.opens[i], block);
	if (st == CT_OK)
		st = add_traffic(view, block);
	if (st == CT_OK)
		st = ct_ring_stacks_read(&view->ring, view->stacks_bytes, block);
	return st == CT_OK ? add_header(view->ring.header, block) : st;
}
