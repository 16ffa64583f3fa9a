/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segment_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/ring_read.h"

/* size: mostly two blocks, of 4,096 operations of 5 to 7 bytes: a header seldom costs a read. Each
 * file that is open has a window. */
#define WINDOW_BYTES (64u << 10)
#define HOP_BYTES                                                                                  \
	4096u /* size: a page, of which storage reads no less: a header and, mostly, a small block \
	       */
/* size: damaged blocks are searched for good ones inside. In a file crafted for it, that could be
 * quadratic. After so many bytes of it, four segments of the default size, a damaged block is
 * skipped by the length it gives. */
#define PATIENCE_BYTES (256ull << 20)

struct ct_segment_reader {
	struct ct_segment_header header;
	struct ct_decoder *decoder; /* NULL: no block was decoded yet */
	int lent;		    /* the caller owns it */
	char *path;
	int fd;		     /* -1: over memory */
	const uint8_t *data; /* the window: bytes [base, base + have) of the file */
	uint8_t *own;	     /* its memory, of a file */
	size_t cap;
	uint64_t base;
	size_t have;
	uint64_t at; /* where the next block should start */
	int ended;   /* the tail was judged: what a live process has appended since belongs to it */
	int follows; /* ct_segment_follow() ... */
	int waits;   /* ... and the block at `at` is not whole yet */
	uint64_t looked_again_at; /* skip_cut() */
	uint64_t failed_bytes;
	uint64_t read_bytes;
	uint32_t skim_before; /* number of a block; 0: all are decoded */
	int hops;	      /* ct_segment_hop() */
	uint64_t skipped_at;  /* the last block that was not decoded, 0 none */
	struct ct_block_header block;
	struct ct_damage damage;
};

/* ---- bytes
 * ------------------------------------------------------------------------------------------- */

/* Move the window so that it starts at `at` and holds `want` bytes or all that there are. */
static int slide(struct ct_segment_reader *r, uint64_t at, size_t want, struct ct_err *err)
{
	const size_t window = r->hops ? HOP_BYTES : WINDOW_BYTES;
	size_t cap = want > window ? want : window;
	size_t kept = r->data && at >= r->base && at < r->base + r->have
			      ? (size_t)(r->base + r->have - at)
			      : 0;

	if (r->cap < cap) {
		uint8_t *grown = realloc(r->own, cap);

		if (!grown)
			return ct_fail(err, CT_NOMEM, "%s: out of memory", r->path);
		r->own = grown;
		r->cap = cap;
	}
	/* what it holds already is not read again */
	if (kept)
		memmove(r->own, r->own + (at - r->base), kept);
	r->data = r->own;
	r->base = at;
	r->have = kept;
	while (r->have < cap) {
		ssize_t n = pread(r->fd, r->own + r->have, cap - r->have, (off_t)(at + r->have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ct_fail(err, CT_IO, "%s: offset %llu: %s", r->path,
				       (unsigned long long)at, strerror(errno));
		if (n == 0)
			break;
		r->have += (size_t)n;
		r->read_bytes += (uint64_t)n;
	}
	return CT_OK;
}

/* Look at the bytes from `at` on: *avail of them, at least `want` unless the file ends before. */
static int peek(struct ct_segment_reader *r, uint64_t at, size_t want, const uint8_t **p,
		size_t *avail, struct ct_err *err)
{
	uint64_t end = r->base + r->have;

	if (at < r->base || at > end || end - at < want) {
		if (r->fd >= 0) {
			int st = slide(r, at, want, err);

			if (st != CT_OK)
				return st;
		} else if (at > end) {
			*avail = 0;
			return CT_OK;
		}
	}
	*p = r->data + (at - r->base);
	*avail = r->base + r->have - at;
	return CT_OK;
}

/* A block header at `at`? 1 and *h, 0, or a failure. */
static int header_at(struct ct_segment_reader *r, uint64_t at, struct ct_block_header *h,
		     struct ct_err *err)
{
	const uint8_t *p = NULL;
	size_t avail = 0;
	int st = peek(r, at, sizeof(*h), &p, &avail, err);

	if (st != CT_OK)
		return st;
	if (avail < sizeof(*h))
		return 0;
	memcpy(h, p, sizeof(*h));
	return ct_block_header_check(h, at, NULL) == CT_OK;
}

/* Where the next bytes are that were ever written: a file with holes may seem to be terabytes long,
 * and reads as zeros there. */
static uint64_t behind_hole(const struct ct_segment_reader *r, uint64_t at)
{
	off_t data = r->fd >= 0 ? lseek(r->fd, (off_t)at, SEEK_DATA) : -1;

	if (data < 0 && r->fd >= 0 && errno == ENXIO)
		data = lseek(r->fd, 0, SEEK_END);
	return data > 0 && (uint64_t)data > at ? (uint64_t)data : at;
}

/* The first block header from *at on. 1 and *at, 0 if none, or a failure. */
static int find_header(struct ct_segment_reader *r, uint64_t *at, struct ct_err *err)
{
	const uint32_t magic = CT_BLOCK_MAGIC;
	struct ct_block_header h;

	for (;;) {
		const uint8_t *p = NULL;
		const uint8_t *hit;
		size_t avail = 0;
		int st;

		*at = behind_hole(r, *at);
		st = peek(r, *at, sizeof(h), &p, &avail, err);
		if (st != CT_OK)
			return st;
		if (avail < sizeof(h))
			return 0;
		hit = memmem(p, avail, &magic, sizeof(magic));
		if (!hit) {
			*at += avail - sizeof(magic) + 1;
			continue;
		}
		*at += (uint64_t)(hit - p);
		st = header_at(r, *at, &h, err);
		if (st != 0)
			return st;
		*at += 1;
	}
}

/* ---- open
 * -------------------------------------------------------------------------------------------- */

static int open_file(struct ct_segment_reader *r, struct ct_err *err)
{
	struct stat st;

	/* Look before opening: a FIFO would wait for its writer, a device might do anything. */
	if (stat(r->path, &st) != 0)
		return ct_fail(err, errno == ENOENT ? CT_NOTFOUND : CT_IO, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return ct_fail(err, CT_FORMAT, "not a regular file");
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* Want of descriptors is the reader's, as of memory: the file is not damaged. */
	if (r->fd < 0 && (errno == EMFILE || errno == ENFILE))
		return ct_fail(err, CT_NOMEM, "%s", strerror(errno));
	if (r->fd < 0)
		return ct_fail(err, errno == ENOENT ? CT_NOTFOUND : CT_IO, "%s", strerror(errno));
	if (fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return ct_fail(err, CT_FORMAT, "not a regular file");
	return CT_OK;
}

static int read_segment_header(struct ct_segment_reader *r, struct ct_err *err)
{
	struct ct_segment_header *h = &r->header;
	const uint8_t *p = NULL;
	size_t avail = 0;
	uint32_t crc;
	int st = peek(r, 0, sizeof(*h), &p, &avail, err);

	if (st != CT_OK)
		return st;
	if (avail == 0)
		return ct_fail(err, CT_FORMAT, "empty file");
	if (avail >= sizeof(h->magic) && memcmp(p, &(uint64_t){ CT_SEGMENT_MAGIC }, 8) != 0)
		return ct_fail(err, CT_FORMAT, "offset 0: not a commtrace segment");
	if (avail < sizeof(*h))
		return ct_fail(err, CT_FORMAT, "offset %zu: ends within the segment header", avail);
	memcpy(h, p, sizeof(*h));
	if (!ct_format_is_read(h->version))
		return ct_format_refuse(h->version, err);
	crc = h->crc;
	h->crc = 0;
	if (ct_crc32c(0, h, sizeof(*h)) != crc)
		return ct_fail(err, CT_FORMAT, "offset 0: segment header is damaged");
	h->crc = crc;
	if (h->header_bytes < sizeof(*h) || h->header_bytes > WINDOW_BYTES)
		return ct_fail(err, CT_FORMAT, "offset 12: segment header of %u bytes",
			       h->header_bytes);
	ct_process_terminate(&h->process);
	r->at = h->header_bytes;
	return CT_OK;
}

static int open_reader(const char *path, const void *data, size_t bytes,
		       struct ct_segment_reader **out, struct ct_err *err)
{
	struct ct_segment_reader *r = calloc(1, sizeof(*r));
	int st;

	*out = NULL;
	if (!r)
		return ct_fail(err, CT_NOMEM, "%s: out of memory", path);
	r->fd = -1;
	r->path = strdup(path);
	if (!r->path) {
		st = ct_fail(err, CT_NOMEM, "%s: out of memory", path);
		goto out_close;
	}
	r->data = data;
	r->have = bytes;
	st = data ? CT_OK : open_file(r, err);
	if (st == CT_OK)
		st = read_segment_header(r, err);
	if (st != CT_OK) {
		ct_fail_while(err, st, "%s", path);
		goto out_close;
	}
	*out = r;
	return CT_OK;
out_close:
	ct_segment_close_read(r);
	return st;
}

int ct_segment_open_read(const char *path, struct ct_segment_reader **reader, struct ct_err *err)
{
	return open_reader(path, NULL, 0, reader, err);
}

int ct_segment_open_memory(const void *data, size_t bytes, struct ct_segment_reader **reader,
			   struct ct_err *err)
{
	return open_reader("memory", data ? data : "", bytes, reader, err);
}

void ct_segment_close_read(struct ct_segment_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	if (!r->lent)
		ct_decoder_free(r->decoder);
	free(r->own);
	free(r->path);
	free(r);
}

void ct_segment_decode_by(struct ct_segment_reader *r, struct ct_decoder *decoder)
{
	if (!r->lent)
		ct_decoder_free(r->decoder);
	r->decoder = decoder;
	r->lent = 1;
}

const struct ct_segment_header *ct_segment_header(const struct ct_segment_reader *r)
{
	return &r->header;
}

const struct ct_block_header *ct_segment_block_header(const struct ct_segment_reader *r)
{
	return &r->block;
}

uint64_t ct_segment_position(const struct ct_segment_reader *r)
{
	return r->at;
}

uint64_t ct_segment_read_bytes(const struct ct_segment_reader *r)
{
	return r->read_bytes;
}

const struct ct_damage *ct_segment_damage(const struct ct_segment_reader *r)
{
	return &r->damage;
}

/* ---- blocks
 * ------------------------------------------------------------------------------------------ */

static void note_damage(struct ct_segment_reader *r, uint64_t at, const char *why)
{
	if (r->damage.first_why[0])
		return;
	r->damage.first_at = at;
	snprintf(r->damage.first_why, sizeof(r->damage.first_why), "offset %llu: %.80s",
		 (unsigned long long)at, why);
}

/* How many bytes are there from `at` to the end? */
static uint64_t count_rest(const struct ct_segment_reader *r, uint64_t at)
{
	uint64_t end = r->base + r->have;
	struct stat st;

	if (r->fd >= 0 && fstat(r->fd, &st) == 0 && (uint64_t)st.st_size > end)
		end = (uint64_t)st.st_size;
	return end > at ? end - at : 0;
}

static int starts_like_block(const uint8_t *p, size_t avail)
{
	const uint32_t magic = CT_BLOCK_MAGIC;

	return avail && memcmp(p, &magic, avail < 4 ? avail : 4) == 0;
}

/* The file ends with an incomplete block: one that was being written if it starts like one. */
static void skip_tail(struct ct_segment_reader *r, int torn, uint64_t bytes)
{
	r->waits = r->follows;
	if (r->follows)
		return;
	r->ended = 1;
	if (!bytes)
		return;
	note_damage(r, r->at, torn ? "the last block was being written" : "no block starts here");
	if (torn)
		r->damage.torn_bytes += bytes;
	else
		r->damage.skipped_bytes += bytes;
	r->at += bytes;
}

/* No block header at r->at: go to the next one, or to the end. */
static int skip_garbage(struct ct_segment_reader *r, int torn, struct ct_err *err)
{
	uint64_t next = r->at + 1;
	int st = find_header(r, &next, err);

	if (st < 0)
		return st;
	if (st) {
		note_damage(r, r->at, "no block starts here");
		r->damage.skipped_bytes += next - r->at;
		r->at = next;
		return CT_OK;
	}
	skip_tail(r, torn, count_rest(r, r->at));
	return CT_OK;
}

/* The file ends within the block at r->at. That is the tail of a process that died while writing,
 * unless another block follows: then writing continued after a failure that could not be undone. */
static int skip_cut(struct ct_segment_reader *r, uint64_t avail, struct ct_err *err)
{
	uint64_t next = r->at + sizeof(r->block);
	int st = r->failed_bytes < PATIENCE_BYTES ? find_header(r, &next, err) : 0;

	if (st < 0)
		return st;
	/* A live process may have written the rest, and more, since the file ended here: look at it
	 * once more. */
	if (st && r->looked_again_at != r->at) {
		r->looked_again_at = r->at;
		return CT_OK;
	}
	r->failed_bytes += r->follows ? 0 : avail;
	if (st) {
		note_damage(r, r->at, "half a block");
		r->damage.damaged_blocks++;
		r->damage.skipped_bytes += next - r->at;
		r->at = next;
		return CT_OK;
	}
	skip_tail(r, 1, avail);
	return CT_OK;
}

/* The block at r->at does not decode. Its length is not trusted: it may be half a block, followed
 * by others. */
static int skip_damaged(struct ct_segment_reader *r, const char *why, struct ct_err *err)
{
	uint64_t whole = r->at + sizeof(r->block) + r->block.bytes;
	uint64_t next = r->at + sizeof(r->block);
	int st = r->failed_bytes < PATIENCE_BYTES ? find_header(r, &next, err) : 0;

	if (st < 0)
		return st;
	if (!st || next > whole)
		next = whole;
	r->failed_bytes += r->block.bytes;
	note_damage(r, r->at, why);
	r->damage.damaged_blocks++;
	r->damage.skipped_bytes += next - r->at;
	r->at = next;
	return CT_OK;
}

static int is_skimmed(const struct ct_segment_reader *r)
{
	return r->block.number < r->skim_before || r->skim_before == CT_SKIM_ALL;
}

/* Does a skimmed block have records that are returned? */
static int reports(const struct ct_segment_reader *r)
{
	return r->skim_before == CT_SKIM_OPS || r->block.type != CT_BLOCK_DATA ||
	       (r->block.flags & CT_BLOCK_HAS_RARES);
}

/* Over a block that need not be read, to the header behind it. 1, 0 if it is to be read, or a
 * failure. */
static int hop(struct ct_segment_reader *r, struct ct_block *block, struct ct_err *err)
{
	const uint64_t next = r->at + sizeof(r->block) + r->block.bytes;
	struct ct_block_header h;
	int st;

	if (!r->hops || !is_skimmed(r) || reports(r))
		return 0;
	st = header_at(r, next, &h, err);
	if (st != 1)
		return st;
	ct_block_skim_header(&r->block, block);
	r->skipped_at = r->at;
	r->at = next;
	return 1;
}

/* Many files are opened only for their header: the decoder is created for the first block. */
static int decode(struct ct_segment_reader *r, const uint8_t *frame, struct ct_block *block,
		  struct ct_err *why)
{
	if (!r->decoder)
		r->decoder = ct_decoder_new();
	if (!r->decoder)
		return ct_fail(why, CT_NOMEM, "out of memory");
	if (is_skimmed(r)) {
		const int with_rares = reports(r);
		const int st = ct_block_skim(r->decoder, &r->block, frame, with_rares, block, why);

		if (st == CT_OK && !with_rares)
			r->skipped_at = r->at;
		return st;
	}
	r->skipped_at = 0;
	return ct_block_decode(r->decoder, &r->block, frame, block, why);
}

void ct_segment_follow(struct ct_segment_reader *r, int follows)
{
	r->follows = follows;
}

void ct_segment_hop(struct ct_segment_reader *r)
{
	r->hops = 1;
}

void ct_segment_skim(struct ct_segment_reader *r, uint32_t before)
{
	r->skim_before = before;
}

/* What the last block that was not decoded has beside its operations, which were counted before. */
static int rest_of_skipped(struct ct_segment_reader *r, struct ct_block *block, struct ct_err *err)
{
	const uint8_t *p = NULL;
	const uint64_t at = r->skipped_at;
	size_t avail = 0, whole;
	struct ct_err why;
	int st;

	r->skipped_at = 0;
	if (!r->decoder && !(r->decoder = ct_decoder_new()))
		return ct_fail(err, CT_NOMEM, "out of memory");
	if (header_at(r, at, &r->block, err) != 1)
		return 0;
	whole = sizeof(r->block) + r->block.bytes;
	if (peek(r, at, whole, &p, &avail, err) != CT_OK || avail < whole)
		return 0;
	st = ct_block_skim(r->decoder, &r->block, p + sizeof(r->block), 1, block, &why);
	if (st != CT_OK)
		return st == CT_NOMEM ? ct_fail(err, st, "%s: %s", r->path, why.text) : 0;
	block->skimmed_ops = 0;
	block->begin_ns = block->end_ns = 0;
	block->is_again = 1;
	return 1;
}

static int next_block(struct ct_segment_reader *r, struct ct_block *block, struct ct_err *err)
{
	if (r->waits)
		r->have = 0; /* what was looked at may be whole by now */
	r->waits = 0;
	while (!r->ended && !r->waits) {
		const uint8_t *p = NULL;
		size_t avail = 0;
		struct ct_err why;
		size_t whole;
		int st = peek(r, r->at, sizeof(r->block), &p, &avail, err);

		if (st != CT_OK)
			return st;
		if (avail < sizeof(r->block)) {
			skip_tail(r, starts_like_block(p, avail), avail);
			return 0;
		}
		st = header_at(r, r->at, &r->block, err);
		if (st == 0)
			st = skip_garbage(r, starts_like_block(p, avail), err);
		if (st < 0)
			return st;
		if (st == 0)
			continue;
		st = hop(r, block, err);
		if (st != 0)
			return st;
		whole = sizeof(r->block) + r->block.bytes;
		st = peek(r, r->at, whole, &p, &avail, err);
		if (st != CT_OK)
			return st;
		if (avail < whole) {
			st = skip_cut(r, avail, err);
		} else {
			st = decode(r, p + sizeof(r->block), block, &why);
			if (st == CT_OK) {
				r->at += whole;
				return 1;
			}
			/* on some file systems its size comes before its bytes */
			if (st == CT_FORMAT && r->follows && avail == whole) {
				r->waits = 1;
				return 0;
			}
			if (st == CT_FORMAT)
				st = skip_damaged(r, why.text, err);
			else
				ct_fail(err, st, "%s: %s", r->path, why.text);
		}
		if (st != CT_OK)
			return st;
	}
	return 0;
}

int ct_segment_next_block(struct ct_segment_reader *r, struct ct_block *block, struct ct_err *err)
{
	const int st = next_block(r, block, err);

	return st == 0 && r->skipped_at ? rest_of_skipped(r, block, err) : st;
}

/* The last whole block that starts at or after `at`. 1 and *last, 0, or a failure. */
static int last_from(struct ct_segment_reader *r, uint64_t at, uint64_t *last, struct ct_err *err)
{
	struct ct_block_header h;
	int found = 0;
	int st;

	while ((st = find_header(r, &at, err)) == 1) {
		const uint8_t *p;
		size_t avail;

		st = header_at(r, at, &h, err);
		if (st != 1)
			break; /* the file is changing */
		st = peek(r, at, sizeof(h) + h.bytes, &p, &avail, err);
		if (st != CT_OK)
			break;
		if (avail < sizeof(h) + h.bytes) {
			at += sizeof(h);
			r->failed_bytes += h.bytes;
			if (r->failed_bytes > PATIENCE_BYTES)
				break;
			continue;
		}
		*last = at;
		found = 1;
		at += sizeof(h) + h.bytes;
	}
	return st < 0 ? st : found;
}

int ct_segment_seek_last(struct ct_segment_reader *r, struct ct_err *err)
{
	const uint64_t first = r->header.header_bytes;
	uint64_t size = r->have;
	uint64_t tail = WINDOW_BYTES;
	struct stat st;

	if (r->fd >= 0) {
		if (fstat(r->fd, &st) != 0)
			return ct_fail(err, CT_IO, "%s: %s", r->path, strerror(errno));
		size = (uint64_t)st.st_size;
	}
	for (;; tail *= 16) {
		uint64_t from = size > tail && size - tail > first ? size - tail : first;
		int found = last_from(r, from, &r->at, err);

		if (found || from == first)
			return found;
	}
}
