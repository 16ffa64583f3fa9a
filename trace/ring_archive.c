/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/append.h"

struct archive {
	ZSTD_CCtx *zstd;
	int fd;
	uint64_t written;
	char in[CT_RING_ARCHIVE_PIECE];
	char out[CT_RING_ARCHIVE_PIECE];
};

static int fail_io(struct ct_err *err, const char *what, int why)
{
	char text[96];

	return ct_fail(err, CT_IO, "%s: %s", what, ct_errno_text(why, text, sizeof(text)));
}

/* Hand `n` bytes of a->in to zstd and write what comes out. */
static int pack(struct archive *a, size_t n, int last, struct ct_err *err)
{
	ZSTD_inBuffer in = { a->in, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { a->out, sizeof(a->out), 0 };
		int why;

		left = ZSTD_compressStream2(a->zstd, &out, &in,
					    last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return ct_fail(err, CT_IO, "compressing: %s", ZSTD_getErrorName(left));
		why = ct_append(a->fd, a->written, out.dst, out.pos);
		if (why)
			return fail_io(err, "writing", why);
		a->written += out.pos;
	} while (last ? left != 0 : in.pos < in.size);
	return CT_OK;
}

int ct_ring_archive_write(int ring_fd, uint64_t bytes, int out_fd, uint64_t *written,
			  struct ct_err *err)
{
	struct archive *a = malloc(sizeof(*a));
	uint64_t at = 0;
	int st = CT_OK;

	*written = 0;
	if (!a)
		return ct_fail(err, CT_NOMEM, "out of memory");
	a->fd = out_fd;
	a->written = 0;
	a->zstd = ZSTD_createCCtx();
	if (!a->zstd) {
		st = ct_fail(err, CT_NOMEM, "out of memory");
		goto out_free;
	}
	ZSTD_CCtx_setParameter(a->zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(a->zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setPledgedSrcSize(a->zstd, bytes);
	while (at < bytes && st == CT_OK) {
		size_t want = bytes - at < CT_RING_ARCHIVE_PIECE ? (size_t)(bytes - at)
								 : CT_RING_ARCHIVE_PIECE;
		ssize_t n = pread(ring_fd, a->in, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			st = fail_io(err, "reading the ring", n < 0 ? errno : ESPIPE);
			break;
		}
		at += (uint64_t)n;
		st = pack(a, (size_t)n, at == bytes, err);
	}
	*written = a->written;
	ZSTD_freeCCtx(a->zstd);
out_free:
	free(a);
	return st;
}
