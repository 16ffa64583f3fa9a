/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/copy/ring_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/copy/bring.h"
#include "trace/ring_archive.h"
#include "trace/ring_read.h"
#include "trace/ring_stacks.h"
#include "trace/ring_traffic.h"

/* Word by word in ascending order: in the tables of a ring the word that marks an entry as valid
 * comes first and was written last. */
static void copy_words(uint64_t *to, const void *from, size_t bytes)
{
	ct_word *words = (ct_word *)(uintptr_t)from; /* C11 atomics load through non-const only */

	for (size_t i = 0; i < bytes / 8; i++)
		to[i] = atomic_load_explicit(&words[i], memory_order_acquire);
}

/* A chunk that its owner may be filling, and that may be freed and claimed again meanwhile: what
 * does not belong to one lap is left out. */
static void copy_chunk(uint64_t *to, const struct ct_chunk *chunk)
{
	struct ct_slot *slots = ct_chunk_slots(chunk);
	uint32_t lap;

	copy_words(to, chunk, CT_SLOT_BYTES);
	lap = (uint32_t)(to[0] >> 8);
	for (uint32_t i = 0; i < CT_CHUNK_SLOTS; i++) {
		uint64_t *slot = to + (i + 1) * (CT_SLOT_BYTES / 8);

		if (!ct_slot_copy(&slots[i], lap, slot))
			memset(slot, 0, CT_SLOT_BYTES);
	}
}

static void copy_opens(uint64_t *to, const struct ct_ring_view *view)
{
	for (uint32_t i = 0; i < view->n_opens; i++, to += sizeof(struct ct_ring_open) / 8) {
		copy_words(to, &view->ring.opens[i], sizeof(struct ct_ring_open));
		if (atomic_load_explicit(&view->ring.opens[i].tag, memory_order_acquire) != to[0])
			to[0] = 0; /* closed meanwhile, perhaps opened again */
	}
}

/* An entry that was freed meanwhile, and perhaps used for another peer, is left out. */
static void copy_traffic(uint64_t *to, const struct ct_ring_view *view)
{
	for (uint32_t i = 0; i < view->n_traffic; i++, to += sizeof(struct ct_ring_traffic) / 8) {
		copy_words(to, &view->ring.traffic[i], sizeof(struct ct_ring_traffic));
		if (atomic_load_explicit(&view->ring.traffic[i].key, memory_order_acquire) != to[0])
			memset(to, 0, sizeof(struct ct_ring_traffic));
	}
}

static int write_live(const char *path, int fd, struct ct_err *err)
{
	struct ct_ring_view view;
	int st = ct_ring_view_open(path, &view, err), error;
	uint64_t *copy;

	if (st != CT_OK)
		return st;
	copy = calloc(1, view.bytes + 8);
	if (!copy) {
		ct_ring_view_close(&view);
		return ct_fail(err, CT_NOMEM, "%s: %s", path, ct_status_text(CT_NOMEM));
	}
	const char *base = (const char *)view.ring.header;
	/* Chunks first: what is drained meanwhile is in the segments, which are copied later. */
	for (uint32_t i = 0; i < view.n_chunks; i++) {
		const struct ct_chunk *chunk = ct_ring_chunk(&view.ring, i);

		copy_chunk(copy + ((const char *)chunk - base) / 8, chunk);
	}
	copy_opens(copy + ((const char *)view.ring.opens - base) / 8, &view);
	if (view.n_traffic)
		copy_traffic(copy + ((const char *)view.ring.traffic - base) / 8, &view);
	if (view.stacks_bytes)
		ct_ring_stacks_copy(&view.ring, view.stacks_bytes,
				    copy + (view.ring.stacks - base) / 8);
	copy_words(copy + ((const char *)view.ring.comms - base) / 8, view.ring.comms,
		   view.n_comms * sizeof(struct ct_ring_comm));
	copy_words(copy + (view.ring.strings - base) / 8, view.ring.strings, view.strings_bytes);
	copy_words(copy, base, sizeof(struct ct_ring_header));
	error = ct_bring_bytes(fd, copy, view.bytes) == 0 ? 0 : errno;
	free(copy);
	ct_ring_view_close(&view);
	return error ? ct_fail(err, CT_IO, "%s", strerror(error)) : CT_OK;
}

static int write_dead(const char *path, int fd, struct ct_err *err)
{
	uint64_t written;
	struct stat st;
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), status;

	if (from < 0 || fstat(from, &st) != 0)
		status = ct_fail(err, CT_IO, "%s: %s", path, strerror(errno));
	else
		status = ct_ring_archive_write(from, (uint64_t)st.st_size, fd, &written, err);
	if (from >= 0)
		close(from);
	return status;
}

static int name_of(const char *path, char name[CT_RING_COPY_NAME], int *lives, struct ct_err *err)
{
	struct ct_ring_header header;
	int status = ct_ring_header_read(path, &header, lives, err);
	size_t len;

	if (status != CT_OK)
		return status;
	ct_segment_stem(name, &header.process);
	len = strlen(name);
	snprintf(name + len, CT_RING_COPY_NAME - len, *lives ? ".ring" : ".ring.zst");
	return CT_OK;
}

static int write_copy(const char *path, int lives, int fd, struct ct_err *err)
{
	return lives ? write_live(path, fd, err) : write_dead(path, fd, err);
}

int ct_ring_copy_into(const char *path, int fd, char name[CT_RING_COPY_NAME], struct ct_err *err)
{
	int lives, status = name_of(path, name, &lives, err);

	return status == CT_OK ? write_copy(path, lives, fd, err) : status;
}

int ct_ring_copy(const char *path, int dirfd, int *archived, struct ct_err *err)
{
	char name[CT_RING_COPY_NAME], part[CT_RING_COPY_NAME + 32];
	int lives, fd, status = name_of(path, name, &lives, err);

	if (status != CT_OK)
		return status;
	*archived = !lives;
	snprintf(part, sizeof(part), "%s.tmp.%d", name, (int)getpid());
	fd = openat(dirfd, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ct_fail(err, CT_IO, "%s: %s", part, strerror(errno));
	status = write_copy(path, lives, fd, err);
	if (close(fd) != 0 && status == CT_OK)
		status = ct_fail(err, CT_IO, "%s: %s", part, strerror(errno));
	if (status == CT_OK && renameat(dirfd, part, dirfd, name) != 0)
		status = ct_fail(err, CT_IO, "%s: %s", name, strerror(errno));
	if (status != CT_OK)
		unlinkat(dirfd, part, 0);
	return status;
}
