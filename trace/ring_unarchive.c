/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/format.h"

/* size: 8 MB. Level 1 needs 512 KB; a frame that needs more is not ours. */
#define WINDOW_LOG_MAX 23

int ct_ring_archive_is(const uint8_t start[4])
{
	return start[0] == 0x28 && start[1] == 0xb5 && start[2] == 0x2f && start[3] == 0xfd;
}

/* Read up to CT_RING_ARCHIVE_PIECE bytes; how many, 0 at the end, or -errno. */
static ssize_t read_piece(int fd, void *buf, uint64_t at)
{
	ssize_t n;

	do {
		n = pread(fd, buf, CT_RING_ARCHIVE_PIECE, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* How much memory the archive needs, from its first bytes. */
static int content_size(const void *start, size_t n, size_t max, int head, size_t *size,
			struct ct_err *err)
{
	unsigned long long content = ZSTD_getFrameContentSize(start, n);

	if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN)
		return ct_fail(err, CT_FORMAT, "not an archived ring");
	if (content > max && !head)
		return ct_fail(err, CT_FORMAT, "unpacks to %llu bytes: no ring is so large",
			       content);
	*size = content < max ? (size_t)content : max;
	return CT_OK;
}

/* Up to the end of the frame, whose checksum counts; of a head only until `out` is full. */
static int unpack(ZSTD_DCtx *zstd, int fd, char *piece, ssize_t n, int head, ZSTD_outBuffer *out,
		  struct ct_err *err)
{
	uint64_t at = 0;

	for (;;) {
		ZSTD_inBuffer in = { piece, (size_t)n, 0 };

		while (in.pos < in.size) {
			size_t left;

			if (head && out->pos == out->size)
				return CT_OK;
			left = ZSTD_decompressStream(zstd, out, &in);
			if (ZSTD_isError(left))
				return ct_fail(err, CT_FORMAT, "archive is damaged: %s",
					       ZSTD_getErrorName(left));
			if (left == 0)
				return CT_OK; /* end of the frame */
		}
		at += (uint64_t)n;
		n = read_piece(fd, piece, at);
		if (n < 0)
			return ct_fail(err, CT_IO, "read: %s", strerror((int)-n));
		if (n == 0)
			return ct_fail(err, CT_TORN,
				       "archive ends early, %zu of %zu bytes unpacked", out->pos,
				       out->size);
	}
}

int ct_ring_archive_read(int fd, size_t max, int head, void **data, size_t *bytes,
			 struct ct_err *err)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	char *piece = malloc(CT_RING_ARCHIVE_PIECE);
	ZSTD_outBuffer out = { 0 };
	ssize_t n;
	int st;

	*data = NULL;
	*bytes = 0;
	if (!zstd || !piece) {
		st = ct_fail(err, CT_NOMEM, "out of memory");
		goto out;
	}
	n = read_piece(fd, piece, 0);
	st = n < 0 ? ct_fail(err, CT_IO, "read: %s", strerror((int)-n))
		   : content_size(piece, (size_t)n, max, head, &out.size, err);
	if (st != CT_OK)
		goto out;
	if (posix_memalign(&out.dst, CT_SLOT_BYTES, out.size ? out.size : 1) != 0) {
		out.dst = NULL;
		st = ct_fail(err, CT_NOMEM, "out of memory");
		goto out;
	}
	ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	st = unpack(zstd, fd, piece, n, head, &out, err);
	if (st == CT_OK && out.pos < out.size)
		st = ct_fail(err, CT_FORMAT, "archive holds less than it says");
	if (st != CT_OK)
		goto out;
	*data = out.dst;
	*bytes = out.size;
	out.dst = NULL;
out:
	free(out.dst);
	free(piece);
	ZSTD_freeDCtx(zstd);
	return st;
}
