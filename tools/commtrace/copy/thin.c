/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/copy/thin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/grow.h"
#include "tools/commtrace/copy/bring.h"
#include "trace/block.h"
#include "trace/segment_read.h"

/* size: at least so many operations of a process are kept, four times what a verdict of `hang`
 * reads at its end: others may be behind. */
#define LEAST_OPS 4096u

/* size: unreturned calls that are noted. There is one for a thread at most, and few threads
 * communicate. */
#define MOST_CALLS 256u

/* ---- where the latest part begins ---- */

struct thin_block {
	size_t segment;
	uint64_t at, last_ns; /* last_ns: the latest time so far */
	uint32_t number, ops;
	int is_left_out;
};

struct blocks {
	struct thin_block *all;
	uint32_t n, cap;
	uint64_t ops, last_op_ns;
};

static int add(struct blocks *blocks, const struct thin_block *block)
{
	if (ct_grow(&blocks->all, &blocks->cap, blocks->n + 1, sizeof(*blocks->all)) != CT_OK)
		return CT_NOMEM;
	blocks->all[blocks->n++] = *block;
	return CT_OK;
}

static int list(const char *path, size_t segment, struct blocks *blocks, struct ct_block *block,
		struct ct_err *err)
{
	struct ct_segment_reader *reader;
	int st = ct_segment_open_read(path, &reader, err), more = 1;

	if (st == CT_FORMAT)
		return CT_OK;
	if (st != CT_OK)
		return st;
	ct_segment_skim(reader, CT_SKIM_ALL);
	while (st == CT_OK && more == 1) {
		const struct ct_block_header *h = ct_segment_block_header(reader);
		uint64_t last = blocks->n ? blocks->all[blocks->n - 1].last_ns : 0;

		more = ct_segment_next_block(reader, block, err);
		st = more < 0 ? more : CT_OK;
		if (more != 1 || block->is_again)
			continue;
		if (block->skimmed_ops && block->end_ns > blocks->last_op_ns)
			blocks->last_op_ns = block->end_ns;
		blocks->ops += block->skimmed_ops;
		st = add(blocks, &(struct thin_block){
					 .segment = segment,
					 .at = ct_segment_position(reader) - sizeof(*h) - h->bytes,
					 .last_ns = block->end_ns > last ? block->end_ns : last,
					 .number = block->number,
					 .ops = block->skimmed_ops,
					 .is_left_out = block->is_left_out });
	}
	ct_segment_close_read(reader);
	return st;
}

static void choose(const struct blocks *blocks, uint64_t keep_ns, struct ct_thin *thin)
{
	uint64_t before = 0;
	uint32_t k = 0;

	for (uint32_t i = 0; i < blocks->n; i++)
		thin->last[blocks->all[i].segment] = blocks->all[i].number;
	for (; k < blocks->n; before += blocks->all[k++].ops) {
		const struct thin_block *b = &blocks->all[k];

		if (b->last_ns + keep_ns >= blocks->last_op_ns ||
		    blocks->ops - before - b->ops < LEAST_OPS)
			break;
	}
	/* k is one of them: behind the last one there are no operations */
	if (!before || blocks->all[k - 1].is_left_out)
		return;
	thin->segment = blocks->all[k].segment;
	thin->at = blocks->all[k].at;
	thin->number = blocks->all[k].number;
	thin->before = blocks->all[k - 1].number;
	thin->left_out = before;
}

int ct_thin_find(const char *const *paths, size_t n_paths, uint64_t keep_ns, struct ct_thin *thin,
		 struct ct_err *err)
{
	struct blocks blocks = { 0 };
	struct ct_block block = { 0 };
	int st;

	*thin = (struct ct_thin){ .last = calloc(n_paths + 1, sizeof(*thin->last)) };
	st = thin->last ? CT_OK : CT_NOMEM;
	for (size_t i = 0; i < n_paths && st == CT_OK; i++)
		st = list(paths[i], i, &blocks, &block, err);
	if (st == CT_OK)
		choose(&blocks, keep_ns, thin);
	ct_block_fini(&block);
	free(blocks.all);
	return st;
}

/* ---- what stays of the earlier part ---- */

/* A verdict of `hang` needs to know which threads were in a call when the latest part began. */
static int take_call(struct ct_thin_calls *calls, const struct ct_host_rec *rec)
{
	uint32_t i = 0;

	while (i < calls->n && calls->open[i].tid != rec->tid)
		i++;
	if (rec->return_ns) {
		if (i < calls->n && calls->open[i].enter_ns == rec->enter_ns)
			calls->open[i] = calls->open[--calls->n];
		return CT_OK;
	}
	if (i == MOST_CALLS)
		return CT_OK;
	if (ct_grow(&calls->open, &calls->cap, i + 1, sizeof(*calls->open)) != CT_OK)
		return CT_NOMEM;
	calls->n += i == calls->n;
	calls->open[i] = *rec;
	return CT_OK;
}

static int take_calls(struct ct_thin_calls *calls, const struct ct_block *block)
{
	struct ct_host_rec rec;
	int st = CT_OK;

	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++) {
		if (block->rares[i].kind != CT_KIND_HOST_BEGIN &&
		    block->rares[i].kind != CT_KIND_HOST_END)
			continue;
		ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
		st = take_call(calls, &rec);
	}
	return st;
}

struct thin_writer {
	struct ct_segment_reader *reader;
	struct ct_encoder *encoder;
	struct ct_block block;
	int fd;
	const char *path;
	struct ct_err *err;
};

static int put(const struct thin_writer *w, const void *data, size_t bytes)
{
	if (ct_bring_bytes(w->fd, data, bytes) == 0)
		return CT_OK;
	return ct_fail(w->err, CT_IO, "%s: %s", w->path, strerror(errno));
}

static int put_header(const struct thin_writer *w)
{
	struct ct_segment_header header = *ct_segment_header(w->reader);

	header.header_bytes = sizeof(header);
	header.flags |= CT_SEGMENT_THINNED;
	header.crc = 0;
	header.crc = ct_crc32c(0, &header, sizeof(header));
	return put(w, &header, sizeof(header));
}

static int put_block(struct thin_writer *w)
{
	const void *data;
	size_t bytes;
	int st = ct_block_encode(w->encoder, &w->block, &data, &bytes);

	return st == CT_OK ? put(w, data, bytes)
			   : ct_fail(w->err, st, "%s: block %u: %s", w->path, w->block.number,
				     ct_status_text(st));
}

static int is_of_operation(unsigned kind)
{
	const enum ct_kind_about about = ct_kind_about(kind);

	return about == CT_ABOUT_OPERATION || about == CT_ABOUT_UNFINISHED;
}

static void drop_records_of_operations(struct ct_block *block)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < block->n_rares; i++)
		if (!is_of_operation(block->rares[i].kind))
			block->rares[n++] = block->rares[i];
	block->n_rares = n;
	block->n_extents = 0;
}

/* Without its operations. Records of single operations have nothing to say without them, but
 * readers that skip operations look at those of a segment's last block. */
static int leave_out(struct thin_writer *w, int is_last, int is_last_of_all,
		     const struct ct_thin_calls *calls)
{
	const struct ct_block_header *h = ct_segment_block_header(w->reader);
	int st = CT_OK;

	w->block.is_left_out = 1;
	if (w->block.type == CT_BLOCK_DATA && !(h->flags & CT_BLOCK_HAS_RARES) && !is_last)
		w->block.n_rares = w->block.n_bytes = w->block.n_extents = 0;
	else if (!is_last)
		drop_records_of_operations(&w->block);
	for (uint32_t i = 0; is_last_of_all && i < calls->n && st == CT_OK; i++)
		st = ct_block_add_rare(&w->block, CT_KIND_HOST_BEGIN, &calls->open[i],
				       sizeof(calls->open[i]));
	return st == CT_OK ? put_block(w) : st;
}

/* Bytes of the file as they are, from `at` to before `end`, or to its end. */
static int put_bytes(struct thin_writer *w, uint64_t at, uint64_t end)
{
	char buffer[1 << 16]; /* size: as copies of files have it */
	int from = at < end ? open(w->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1, st = CT_OK;
	ssize_t n = from < 0 ? -1 : 1;

	if (at >= end)
		return CT_OK;
	while (st == CT_OK && n > 0 && at < end) {
		const size_t most = end - at < sizeof(buffer) ? (size_t)(end - at) : sizeof(buffer);

		n = pread(from, buffer, most, (off_t)at);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			st = put(w, buffer, (size_t)n);
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (n < 0)
		st = ct_fail(w->err, CT_IO, "%s: %s", w->path, strerror(errno));
	if (from >= 0)
		close(from);
	return st;
}

/* Damage goes with the blocks around it, so that it is on record in the part, too. */
static int write_segment(struct thin_writer *w, const struct ct_thin *thin, size_t segment,
			 struct ct_thin_calls *calls)
{
	const uint64_t cut = segment == thin->segment ? thin->at : UINT64_MAX;
	const uint32_t last = thin->last[segment];
	uint64_t at = ct_segment_position(w->reader), begin;
	int st = put_header(w), more;

	ct_segment_skim(w->reader, CT_SKIM_OPS);
	while (st == CT_OK) {
		more = ct_segment_next_block(w->reader, &w->block, w->err);
		if (more < 0)
			return more;
		begin = ct_segment_position(w->reader) - sizeof(struct ct_block_header) -
			ct_segment_block_header(w->reader)->bytes;
		if (!more || begin >= cut)
			return put_bytes(w, at, UINT64_MAX);
		st = put_bytes(w, at, begin);
		at = ct_segment_position(w->reader);
		st = st ?: take_calls(calls, &w->block);
		st = st
			     ?: leave_out(w,
					  w->block.number == last ||
						  w->block.number == thin->before,
					  w->block.number == thin->before, calls);
	}
	return st;
}

int ct_thin_write(const char *const *paths, size_t segment, const struct ct_thin *thin,
		  struct ct_thin_calls *calls, int fd, struct ct_err *err)
{
	struct thin_writer w = { .fd = fd, .path = paths[segment], .err = err };
	int st = ct_segment_open_read(w.path, &w.reader, err);

	if (st != CT_OK)
		return st;
	w.encoder = ct_encoder_new();
	st = w.encoder ? write_segment(&w, thin, segment, calls)
		       : ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	ct_encoder_free(w.encoder);
	ct_block_fini(&w.block);
	ct_segment_close_read(w.reader);
	return st;
}
