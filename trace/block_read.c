/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block_read.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/block_model.h"
#include "trace/ops.h"

/* A column being read. Reading past its end sets `bad` and gives zeros: loops stay simple and check once. */
struct cursor {
	const uint8_t *p;
	const uint8_t *end;
	int bad;
};

enum { N_COLUMNS = CT_COL_RARES + 1 };

struct ct_decoder {
	ZSTD_DCtx *zstd;
	struct ct_block_model model;
	uint8_t *raw;
	size_t raw_cap;
	struct cursor columns[N_COLUMNS];
	uint64_t bits;
	int n_bits;
};

struct ct_decoder *ct_decoder_new(void)
{
	struct ct_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->zstd = ZSTD_createDCtx();
	if (!d->zstd) {
		free(d);
		return NULL;
	}
	return d;
}

void ct_decoder_free(struct ct_decoder *d)
{
	if (!d)
		return;
	ct_block_model_fini(&d->model);
	free(d->raw);
	ZSTD_freeDCtx(d->zstd);
	free(d);
}

int ct_block_header_check(const struct ct_block_header *h, uint64_t at, struct ct_err *err)
{
	struct ct_block_header copy = *h;
	unsigned long long where = at;

	if (h->magic != CT_BLOCK_MAGIC)
		return ct_fail(err, CT_FORMAT, "offset %llu: no block starts here", where);
	copy.header_crc = 0;
	if (ct_crc32c(0, &copy, sizeof(copy)) != h->header_crc)
		return ct_fail(err, CT_FORMAT, "offset %llu: block header is damaged", where);
	if (h->raw_bytes > CT_BLOCK_MAX_RAW || h->bytes > CT_BLOCK_MAX_RAW ||
	    h->n_ops > CT_BLOCK_MAX_RECORDS || h->n_launches > CT_BLOCK_MAX_RECORDS ||
	    h->n_rares > CT_BLOCK_MAX_RECORDS || h->n_extents > CT_BLOCK_MAX_RECORDS ||
	    h->quantum_ns == 0)
		return ct_fail(err, CT_FORMAT, "offset %llu: block header is out of bounds", where);
	return CT_OK;
}

static uint64_t get_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		if (c->p == c->end)
			break;
		v |= (uint64_t)(*c->p & 127) << shift;
		if (!(*c->p++ & 128))
			return v;
	}
	c->bad = 1;
	return 0;
}

static uint64_t get(struct ct_decoder *d, enum ct_column id)
{
	return get_varint(&d->columns[id]);
}

static int64_t get_signed(struct ct_decoder *d, enum ct_column id)
{
	return ct_unzigzag(get(d, id));
}

static uint64_t get_bits(struct ct_decoder *d, int n)
{
	struct cursor *c = &d->columns[CT_COL_BITS];
	uint64_t v;

	if (n > 32) {
		v = get_bits(d, 32);
		return v | get_bits(d, n - 32) << 32;
	}
	/* As many bytes as there is room for. Bits above n_bits are those that come next, so reading them twice changes nothing. */
	if (d->n_bits < n && c->end - c->p >= 8) {
		uint64_t next;

		memcpy(&next, c->p, sizeof(next));
		d->bits |= le64toh(next) << d->n_bits;
		c->p += (63 - d->n_bits) / 8;
		d->n_bits |= 56;
	}
	while (d->n_bits < n) {
		if (c->p == c->end) {
			c->bad = 1;
			return 0;
		}
		d->bits |= (uint64_t)*c->p++ << d->n_bits;
		d->n_bits += 8;
	}
	v = n ? d->bits & (UINT64_MAX >> (64 - n)) : 0;
	d->bits >>= n;
	d->n_bits -= n;
	return v;
}

/* See put_class() in block.c. */
static int64_t get_class(struct ct_decoder *d, enum ct_column id)
{
	struct cursor *c = &d->columns[id];
	uint64_t mantissa;
	int top;

	if (c->p == c->end) {
		c->bad = 1;
		return 0;
	}
	if (*c->p < 8)
		return ct_unzigzag(*c->p++);
	top = 3 + (*c->p - 8) / 4;
	mantissa = (uint64_t)((*c->p++ - 8) & 3);
	if (top > 63) {
		c->bad = 1;
		return 0;
	}
	return ct_unzigzag(1ull << top | mantissa << (top - 2) | get_bits(d, top - 2));
}

/* Point the cursors at their columns; unknown ones are skipped by their length. */
static int split_columns(struct ct_decoder *d, const uint8_t *raw, size_t bytes, struct ct_err *err)
{
	struct cursor all = { raw, bytes ? raw + bytes : raw, 0 };

	memset(d->columns, 0, sizeof(d->columns));
	d->bits = 0;
	d->n_bits = 0;
	while (all.p < all.end) {
		unsigned id = *all.p++;
		uint64_t len = get_varint(&all);

		if (all.bad || len > (uint64_t)(all.end - all.p))
			return ct_fail(err, CT_FORMAT, "column %u runs past the end of its block",
				       id);
		if (id < N_COLUMNS)
			d->columns[id] = (struct cursor){ all.p, all.p + len, 0 };
		all.p += len;
	}
	return CT_OK;
}

static int get_extents(struct ct_decoder *d, uint32_t n, struct ct_block *b)
{
	struct ct_extent x = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		x.lap = ct_wrap_add(x.lap, get_signed(d, CT_COL_EXTENTS));
		x.tid = (uint32_t)ct_wrap_add(x.tid, get_signed(d, CT_COL_EXTENTS));
		x.first = (uint32_t)get(d, CT_COL_EXTENTS);
		x.n_slots = (uint32_t)get(d, CT_COL_EXTENTS);
		x.n_ops = (uint32_t)get(d, CT_COL_EXTENTS);
		x.n_launches = (uint32_t)get(d, CT_COL_EXTENTS);
		if (d->columns[CT_COL_EXTENTS].bad)
			return CT_FORMAT;
		if (ct_block_add_extent(b, &x) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

static void get_op_tuple(struct ct_decoder *d, struct ct_op_tuple *t)
{
	t->op = (uint8_t)get(d, CT_COL_OP_TUPLES);
	t->dtype = (uint8_t)get(d, CT_COL_OP_TUPLES);
	t->redop = (uint8_t)get(d, CT_COL_OP_TUPLES);
	t->flags = (uint8_t)get(d, CT_COL_OP_TUPLES);
	t->comm = (uint32_t)get(d, CT_COL_OP_TUPLES);
	t->call = (uint16_t)get(d, CT_COL_OP_TUPLES);
	t->site = (uint32_t)get(d, CT_COL_OP_TUPLES);
	t->result = (int16_t)get_signed(d, CT_COL_OP_TUPLES);
	t->peer = (int32_t)get_signed(d, CT_COL_OP_TUPLES);
	t->tag = (uint32_t)get(d, CT_COL_OP_TUPLES);
	t->count = get(d, CT_COL_OP_TUPLES);
}

/* A time of 0 means "not there" in records: the first quantum of the clock reads as 1. */
static uint64_t to_ns(uint64_t quanta, uint64_t quantum)
{
	uint64_t ns = quanta * quantum;

	return ns ? ns : 1;
}

static int get_ops(struct ct_decoder *d, const struct ct_block_header *h, struct ct_block *b)
{
	struct ct_block_model *m = &d->model;
	struct cursor *exceptions = &d->columns[CT_COL_OP_SEQ];
	struct ct_extent_cursor cursor = { 0 };
	uint64_t next_exception = exceptions->p < exceptions->end ? get_varint(exceptions)
								  : UINT64_MAX;
	uint32_t last_launch = 0;

	for (uint32_t i = 0; i < h->n_ops; i++) {
		uint64_t t = get(d, CT_COL_OP_TUPLE);
		struct ct_op op = { .tid = ct_extent_tid(b, &cursor) };
		struct ct_op_tuple *tuple;
		uint64_t *last;
		uint64_t *seq;
		uint64_t launch;
		int64_t gap;
		int64_t duration;

		if (d->columns[CT_COL_OP_TUPLE].bad || t > m->n_ops)
			return CT_FORMAT;
		if (t == m->n_ops) {
			struct ct_op_tuple fresh = { 0 };

			get_op_tuple(d, &fresh);
			ct_block_model_add_op(m, &fresh);
		}
		tuple = &m->ops[t].tuple;
		op.op = tuple->op;
		op.dtype = tuple->dtype;
		op.redop = tuple->redop;
		op.flags = tuple->flags;
		op.comm = tuple->comm;
		op.call = tuple->call;
		op.site = tuple->site;
		op.result = tuple->result;
		op.peer = tuple->peer;
		op.tag = tuple->tag;
		op.count = ct_op_class(op.op) == CT_CLASS_P2P ? get(d, CT_COL_OP_COUNT)
							      : tuple->count;

		seq = ct_block_model_seq(m, (uint32_t)t);
		op.seq = *seq;
		if (i == next_exception) {
			op.seq = ct_wrap_add(op.seq, ct_unzigzag(get_varint(exceptions)));
			if (exceptions->p < exceptions->end)
				next_exception += get_varint(exceptions);
		}
		*seq = op.seq + 1;

		last = ct_block_model_thread(m, op.tid);
		gap = (int64_t)ct_wrap_add((uint64_t)m->ops[t].gap, get_class(d, CT_COL_OP_ENTER));
		duration = (int64_t)ct_wrap_add((uint64_t)m->ops[t].duration,
						get_class(d, CT_COL_OP_DURATION));
		*last = ct_wrap_add(*last, gap);
		ct_block_model_learn_op(m, (uint32_t)t, gap, duration);
		op.enter_ns = to_ns(*last, h->quantum_ns);
		if (!(op.flags & CT_OP_UNRETURNED))
			op.return_ns = to_ns(ct_wrap_add(*last, duration), h->quantum_ns);

		launch = get(d, CT_COL_OP_LAUNCH);
		if (launch) {
			last_launch = (uint32_t)ct_wrap_add(last_launch, ct_unzigzag(launch - 1));
			op.launch = last_launch;
			ct_block_model_note_launch(m, op.launch, i);
		}
		if (ct_block_add_op(b, &op) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

static void get_launch_tuple(struct ct_decoder *d, struct ct_launch_tuple *t)
{
	uint64_t has;

	t->comm = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->stream = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->device = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->n_ops = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->result = (int16_t)get_signed(d, CT_COL_LAUNCH_TUPLES);
	t->start_source = (uint8_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->end_source = (uint8_t)get(d, CT_COL_LAUNCH_TUPLES);
	has = get(d, CT_COL_LAUNCH_TUPLES);
	t->has_start = has & 1;
	t->has_end = has >> 1 & 1;
}

static int get_launches(struct ct_decoder *d, const struct ct_block_header *h, struct ct_block *b)
{
	struct ct_block_model *m = &d->model;
	uint64_t q = h->quantum_ns;
	uint32_t id = 0;
	uint32_t start_err = 0;
	uint32_t end_err = 0;

	for (uint32_t i = 0; i < h->n_launches; i++) {
		uint64_t t = get(d, CT_COL_LAUNCH_TUPLE);
		struct ct_launch l = { 0 };
		struct ct_launch_state *s;
		uint64_t start;
		int64_t first;

		if (d->columns[CT_COL_LAUNCH_TUPLE].bad || t > m->n_launches)
			return CT_FORMAT;
		if (t == m->n_launches) {
			struct ct_launch_tuple fresh = { 0 };

			get_launch_tuple(d, &fresh);
			ct_block_model_add_launch(m, &fresh);
		}
		s = &m->launches[t];
		id = (uint32_t)ct_wrap_add((uint64_t)id + 1, get_signed(d, CT_COL_LAUNCH_ID));
		l.id = id;
		l.comm = s->tuple.comm;
		l.stream = s->tuple.stream;
		l.device = s->tuple.device;
		l.n_ops = s->tuple.n_ops;
		l.result = s->tuple.result;
		l.start_source = s->tuple.start_source;
		l.end_source = s->tuple.end_source;

		first = ct_block_model_first_op(m, l.id);
		start = m->stream_end[s->stream];
		if (first >= 0 && b->ops[first].enter_ns / q > start)
			start = b->ops[first].enter_ns / q;
		if (s->tuple.has_start) {
			start = ct_wrap_add(start, get_class(d, CT_COL_LAUNCH_START));
			l.start_ns = to_ns(start, q);
		}
		m->stream_end[s->stream] = start;
		if (s->tuple.has_end) {
			int64_t duration = (int64_t)ct_wrap_add(
				(uint64_t)s->duration, get_class(d, CT_COL_LAUNCH_DURATION));

			s->duration = duration;
			m->stream_end[s->stream] = ct_wrap_add(start, duration);
			l.end_ns = to_ns(m->stream_end[s->stream], q);
		}
		start_err = (uint32_t)ct_wrap_add(start_err, get_signed(d, CT_COL_LAUNCH_ERR));
		end_err = (uint32_t)ct_wrap_add(end_err, get_signed(d, CT_COL_LAUNCH_ERR));
		l.start_err_ns = start_err;
		l.end_err_ns = end_err;
		if (ct_block_add_launch(b, &l) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

static int get_rares(struct ct_decoder *d, const struct ct_block_header *h, struct ct_block *b)
{
	struct cursor *c = &d->columns[CT_COL_RARES];

	for (uint32_t i = 0; i < h->n_rares; i++) {
		uint64_t kind = get_varint(c);
		uint64_t len = get_varint(c);

		if (c->bad || kind > UINT16_MAX || len > UINT16_MAX ||
		    len > (uint64_t)(c->end - c->p))
			return CT_FORMAT;
		if (ct_block_add_rare(b, (enum ct_kind)kind, c->p, len) != CT_OK)
			return CT_NOMEM;
		c->p += len;
	}
	return CT_OK;
}

int ct_block_decode_raw(struct ct_decoder *d, const struct ct_block_header *h, const void *raw,
			size_t raw_bytes, struct ct_block *b, struct ct_err *err)
{
	int st;

	ct_block_reset(b, (enum ct_block_type)h->type);
	b->number = h->number;
	b->quantum_ns = h->quantum_ns;
	st = split_columns(d, raw, raw_bytes, err);
	if (st != CT_OK)
		return st;
	st = ct_block_model_reset(&d->model, h->n_ops + h->n_launches);
	if (st == CT_OK)
		st = get_extents(d, h->n_extents, b);
	if (st == CT_OK)
		st = get_ops(d, h, b);
	if (st == CT_OK)
		st = get_launches(d, h, b);
	if (st == CT_OK)
		st = get_rares(d, h, b);
	for (int i = 0; st == CT_OK && i < N_COLUMNS; i++)
		if (d->columns[i].bad)
			st = CT_FORMAT;
	if (st == CT_OK)
		return CT_OK;
	ct_block_reset(b, (enum ct_block_type)h->type);
	return ct_fail(err, st, st == CT_NOMEM ? "out of memory" : "columns do not fit together");
}

/* The checksum of a frame holds. */
static int check_frame(const struct ct_block_header *h, const void *frame, struct ct_err *err)
{
	if (h->raw_bytes > CT_BLOCK_MAX_RAW)
		return ct_fail(err, CT_FORMAT, "block of %u bytes is too large", h->raw_bytes);
	if (ct_crc32c(0, frame, h->bytes) != h->crc)
		return ct_fail(err, CT_FORMAT, "block content is damaged");
	return CT_OK;
}

static int unpack(struct ct_decoder *d, const struct ct_block_header *h, const void *frame,
		  struct ct_err *err)
{
	size_t raw;
	int st = check_frame(h, frame, err);

	if (st != CT_OK)
		return st;
	if (d->raw_cap < h->raw_bytes) {
		free(d->raw);
		d->raw = malloc(h->raw_bytes);
		d->raw_cap = d->raw ? h->raw_bytes : 0;
		if (!d->raw)
			return ct_fail(err, CT_NOMEM, "out of memory");
	}
	raw = ZSTD_decompressDCtx(d->zstd, d->raw, d->raw_cap, frame, h->bytes);
	if (ZSTD_isError(raw) || raw != h->raw_bytes)
		return ct_fail(err, CT_FORMAT, "block does not unpack: %s",
			       ZSTD_isError(raw) ? ZSTD_getErrorName(raw) : "unexpected length");
	return CT_OK;
}

int ct_block_decode(struct ct_decoder *d, const struct ct_block_header *h, const void *frame,
		    struct ct_block *b, struct ct_err *err)
{
	int st;

	ct_block_reset(b, (enum ct_block_type)h->type);
	st = unpack(d, h, frame, err);
	return st == CT_OK ? ct_block_decode_raw(d, h, d->raw, h->raw_bytes, b, err) : st;
}

/* The other records than operations, from the columns of the unpacked frame. */
static int decode_rest(struct ct_decoder *d, const struct ct_block_header *h, struct ct_block *b,
		       struct ct_err *err)
{
	int st = split_columns(d, d->raw, h->raw_bytes, err);

	if (st != CT_OK)
		return st;
	st = get_extents(d, h->n_extents, b);
	if (st == CT_OK)
		st = get_rares(d, h, b);
	if (st == CT_OK && (d->columns[CT_COL_EXTENTS].bad || d->columns[CT_COL_RARES].bad))
		st = CT_FORMAT;
	return st == CT_OK
		       ? st
		       : ct_fail(err, st,
				 st == CT_NOMEM ? "out of memory" : "columns do not fit together");
}

int ct_block_skim(struct ct_decoder *d, const struct ct_block_header *h, const void *frame,
		  int with_rares, struct ct_block *b, struct ct_err *err)
{
	const uint64_t q = h->quantum_ns;
	int st;

	ct_block_reset(b, (enum ct_block_type)h->type);
	st = with_rares ? unpack(d, h, frame, err) : check_frame(h, frame, err);
	if (st == CT_OK && with_rares)
		st = decode_rest(d, h, b, err);
	if (st != CT_OK) {
		ct_block_reset(b, (enum ct_block_type)h->type);
		return st;
	}
	b->number = h->number;
	b->quantum_ns = h->quantum_ns;
	b->skimmed_ops = h->n_ops;
	/* as decoding it would have it */
	b->begin_ns = h->begin_ns ? to_ns(h->begin_ns / q, q) : 0;
	b->end_ns = h->end_ns ? to_ns(h->end_ns / q, q) : 0;
	return CT_OK;
}
