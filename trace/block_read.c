/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block_read.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/block_model.h"
#include "trace/ops.h"
#include "trace/rare_code.h"

/* A column being read. Reading past its end sets `bad` and gives zeros: loops stay simple and check
 * once. */
struct column_cursor {
	const uint8_t *p;
	const uint8_t *end;
	int bad;
};

enum { N_COLUMNS = CT_COL_RARE_BITS + 1 };

struct ct_decoder {
	ZSTD_DCtx *zstd;
	struct ct_block_model model;
	uint8_t *raw;
	size_t raw_cap;
	struct ct_rare_model rares;
	struct column_cursor columns[N_COLUMNS];
	enum ct_column bits_from; /* where low bits of class bytes come from */
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
	ct_rare_model_fini(&d->rares);
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

static uint64_t get_long_varint(struct column_cursor *c)
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

static inline uint64_t get_varint(struct column_cursor *c)
{
	return c->p != c->end && *c->p < 128 ? *c->p++ : get_long_varint(c);
}

static inline uint64_t get(struct ct_decoder *d, enum ct_column id)
{
	return get_varint(&d->columns[id]);
}

static inline int64_t get_signed(struct ct_decoder *d, enum ct_column id)
{
	return ct_unzigzag(get(d, id));
}

/* Makes n bits be there, at most 32, as many bytes as there is space for. Bits above n_bits are
 * those that come next, so reading them twice changes nothing. */
static void refill(struct ct_decoder *d, int n)
{
	struct column_cursor *c = &d->columns[d->bits_from];

	if (c->end - c->p >= 8) {
		uint64_t next;

		memcpy(&next, c->p, sizeof(next));
		d->bits |= le64toh(next) << d->n_bits;
		c->p += (63 - d->n_bits) / 8;
		d->n_bits |= 56;
	}
	while (d->n_bits < n && c->p != c->end) {
		d->bits |= (uint64_t)*c->p++ << d->n_bits;
		d->n_bits += 8;
	}
	if (d->n_bits < n) {
		c->bad = 1;
		d->bits = 0;
		d->n_bits = 63; /* zeros: as many as may be asked for */
	}
}

static inline uint64_t get_few_bits(struct ct_decoder *d, int n)
{
	uint64_t v;

	if (d->n_bits < n)
		refill(d, n);
	v = d->bits & ((1ull << n) - 1);
	d->bits >>= n;
	d->n_bits -= n;
	return v;
}

static uint64_t get_bits(struct ct_decoder *d, int n)
{
	uint64_t low = get_few_bits(d, n > 32 ? 32 : n);

	return n > 32 ? low | get_few_bits(d, n - 32) << 32 : low;
}

static void take_bits_from(struct ct_decoder *d, enum ct_column id)
{
	d->bits_from = id;
	d->bits = 0;
	d->n_bits = 0;
}

static inline uint8_t get_byte(struct ct_decoder *d, enum ct_column id)
{
	struct column_cursor *c = &d->columns[id];

	if (c->p < c->end)
		return *c->p++;
	c->bad = 1;
	return 0;
}

/* See put_class() in block_encode.c. */
__attribute__((always_inline)) static inline int64_t get_class(struct ct_decoder *d,
							       enum ct_column id)
{
	unsigned class = get_byte(d, id);
	int low = (int)(class - 8) / 4 + 1;

	if (class < 8)
		return ct_unzigzag(class);
	if (low > 61) {
		d->columns[id].bad = 1;
		return 0;
	}
	return ct_unzigzag((uint64_t)(4 | (class & 3)) << low |
			   (low <= 32 ? get_few_bits(d, low) : get_bits(d, low)));
}

/* Point the cursors at their columns; unknown ones are skipped by their length. */
static int split_columns(struct ct_decoder *d, const uint8_t *raw, size_t bytes, struct ct_err *err)
{
	struct column_cursor all = { raw, bytes ? raw + bytes : raw, 0 };

	memset(d->columns, 0, sizeof(d->columns));
	take_bits_from(d, CT_COL_BITS);
	while (all.p < all.end) {
		unsigned id = *all.p++;
		uint64_t len = get_varint(&all);

		if (all.bad || len > (uint64_t)(all.end - all.p))
			return ct_fail(err, CT_FORMAT, "column %u runs past the end of its block",
				       id);
		if (id < N_COLUMNS)
			d->columns[id] = (struct column_cursor){ all.p, all.p + len, 0 };
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

/* A time that is so long after its base, where `usual` is predicted. */
__attribute__((always_inline)) static inline int64_t get_time(struct ct_decoder *d,
							      enum ct_column id, int64_t *usual)
{
	int64_t after = (int64_t)ct_wrap_add((uint64_t)*usual, get_class(d, id));

	ct_learn(usual, after);
	return after;
}

static int get_ops(struct ct_decoder *d, const struct ct_block_header *h, struct ct_block *b)
{
	struct ct_block_model *m = &d->model;
	struct column_cursor *exceptions = &d->columns[CT_COL_OP_SEQ];
	struct ct_thread_ops of = { 0 };
	uint64_t next_exception = exceptions->p < exceptions->end ? get_varint(exceptions)
								  : UINT64_MAX;
	uint32_t last_launch = 0;

	if (ct_block_room(&b->ops, b->n_ops, h->n_ops, &b->cap_ops, sizeof(*b->ops)) != CT_OK)
		return CT_NOMEM;
	while (ct_thread_ops_next(b, h->n_ops, &of)) {
		uint64_t *last = ct_block_model_thread(m, of.tid);

		for (uint32_t i = of.first; i < of.end; i++) {
			struct ct_op *op = &b->ops[i];
			uint64_t t = get(d, CT_COL_OP_TUPLE);
			struct ct_op_state *s;
			uint64_t *seq;
			uint64_t launch;
			int64_t duration;

			if (d->columns[CT_COL_OP_TUPLE].bad || t > m->n_ops)
				return CT_FORMAT;
			if (t == m->n_ops) {
				struct ct_op_tuple fresh = { 0 };

				get_op_tuple(d, &fresh);
				ct_block_model_add_op(m, &fresh);
			}
			s = &m->ops[t];
			memcpy(&op->flags, &s->tuple.flags, CT_OP_REPEATS);
			op->count = ct_op_class(op->op) == CT_CLASS_P2P ? get(d, CT_COL_OP_COUNT)
									: s->tuple.count;

			seq = &m->next_seq[s->sequence];
			op->seq = *seq;
			if (i == next_exception) {
				op->seq = ct_wrap_add(op->seq, ct_unzigzag(get_varint(exceptions)));
				if (exceptions->p < exceptions->end)
					next_exception += get_varint(exceptions);
			}
			*seq = op->seq + 1;

			op->tid = of.tid;
			*last = ct_wrap_add(*last, get_time(d, CT_COL_OP_ENTER, &s->gap));
			duration = get_time(d, CT_COL_OP_DURATION, &s->duration);
			op->enter_ns = to_ns(*last, h->quantum_ns);
			op->return_ns = op->flags & CT_OP_UNRETURNED
						? 0
						: to_ns(ct_wrap_add(*last, duration),
							h->quantum_ns);
			m->tuple_of[i] = (uint32_t)t;

			launch = get(d, CT_COL_OP_LAUNCH);
			op->launch = 0;
			if (launch) {
				struct ct_launch_index *index;

				last_launch = (uint32_t)ct_wrap_add(last_launch,
								    ct_unzigzag(launch - 1));
				op->launch = last_launch;
				index = ct_block_model_index(m, op->launch);
				index->op = index->op ? index->op : i + 1;
			}
			b->n_ops++;
		}
	}
	return CT_OK;
}

static void get_launch_tuple(struct ct_decoder *d, struct ct_launch_tuple *t)
{
	t->comm = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->stream = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->device = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->n_ops = (uint32_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->result = (int16_t)get_signed(d, CT_COL_LAUNCH_TUPLES);
	t->start_source = (uint8_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->end_source = (uint8_t)get(d, CT_COL_LAUNCH_TUPLES);
	t->has = get(d, CT_COL_LAUNCH_TUPLES) & (CT_LAUNCH_HAS_START | CT_LAUNCH_HAS_END);
}

/* See put_err() in block_encode.c. */
static uint32_t get_err(struct ct_decoder *d, enum ct_column id, uint64_t q)
{
	return q == 1 ? (uint32_t)get(d, id) : ct_err_of_class(get_byte(d, id));
}

static int get_launches(struct ct_decoder *d, const struct ct_block_header *h, struct ct_block *b)
{
	struct ct_block_model *m = &d->model;
	const uint32_t q = h->quantum_ns;
	uint32_t id = 0;

	if (ct_block_room(&b->launches, b->n_launches, h->n_launches, &b->cap_launches,
			  sizeof(*b->launches)) != CT_OK)
		return CT_NOMEM;
	for (uint32_t i = 0; i < h->n_launches; i++) {
		struct ct_launch *l = &b->launches[i];
		uint64_t t = get(d, CT_COL_LAUNCH_TUPLE);
		struct ct_launch_index *index;
		struct ct_launch_state *s;
		struct ct_habits *habits;
		uint64_t start;

		if (d->columns[CT_COL_LAUNCH_TUPLE].bad || t > m->n_launches)
			return CT_FORMAT;
		if (t == m->n_launches) {
			struct ct_launch_tuple fresh = { 0 };

			get_launch_tuple(d, &fresh);
			ct_block_model_add_launch(m, &fresh);
		}
		s = &m->launches[t];
		id = (uint32_t)ct_wrap_add((uint64_t)id + 1, get_signed(d, CT_COL_LAUNCH_ID));
		memset(l, 0, sizeof(*l));
		memcpy(&l->device, &s->tuple, CT_LAUNCH_REPEATS);
		l->comm = s->tuple.comm;
		l->id = id;

		index = ct_block_model_index(m, id);
		index->launch = index->launch ? index->launch : i + 1;
		habits = &s->habits;
		start = m->stream_end[s->stream];
		if (index->op) {
			uint64_t enter = ct_quanta(b->ops[index->op - 1].enter_ns, q);

			habits = ct_block_model_habits(m, index);
			start = enter > start ? enter : start;
		}
		if (s->tuple.has & CT_LAUNCH_HAS_START) {
			start = ct_wrap_add(start,
					    get_time(d, CT_COL_LAUNCH_START, &habits->start));
			l->start_ns = to_ns(start, q);
		}
		if (s->tuple.has & CT_LAUNCH_HAS_END) {
			start = ct_wrap_add(start,
					    get_time(d, CT_COL_LAUNCH_DURATION, &habits->duration));
			l->end_ns = to_ns(start, q);
		}
		m->stream_end[s->stream] = start;
		l->start_err_ns = get_err(d, CT_COL_LAUNCH_ERR, q);
		l->end_err_ns = get_err(d, CT_COL_LAUNCH_ERR, q);
		b->n_launches++;
	}
	return CT_OK;
}

/* What the walk over a record's fields does in this direction. */
static inline uint64_t number(struct ct_decoder *d, enum ct_column id, uint64_t v)
{
	(void)v;
	return get(d, id);
}

static inline uint32_t error(struct ct_decoder *d, enum ct_column id, uint32_t v, uint64_t q)
{
	(void)v;
	return get_err(d, id, q);
}

static inline int64_t residual(struct ct_decoder *d, enum ct_column id, int64_t v)
{
	(void)v;
	return get_class(d, id);
}

static inline void keep(uint8_t *p, unsigned bytes, uint64_t v)
{
	ct_rare_store(p, bytes, v);
}

#define CODER struct ct_decoder
#include "trace/rare_walk.h"

/* The next record of a run. */
static int get_coded(struct ct_decoder *d, unsigned kind, int with_waits, struct ct_block *b)
{
	uint64_t t = get(d, CT_COL_RARE_TUPLE);
	uint8_t payload[CT_RARE_BYTES];
	struct ct_rare_state *s;

	if (d->columns[CT_COL_RARE_TUPLE].bad || t > d->rares.n)
		return CT_FORMAT;
	if (t == d->rares.n)
		code_tuple(&ct_rare_add(&d->rares, kind)->tuple, d);
	s = &d->rares.states[t];
	if (s->tuple.kind != kind)
		return CT_FORMAT;
	memcpy(payload, s->tuple.bytes, sizeof(payload));
	code_record(&d->rares, &d->model, b, s, payload, d);
	/* its times lean on those of operations and launches */
	return kind == CT_KIND_WAIT && !with_waits
		       ? CT_OK
		       : ct_block_add_rare(b, (enum ct_kind)kind, payload, sizeof(payload));
}

/* The records between operations; without waits, if operations and launches were left out. */
static int get_rares(struct ct_decoder *d, const struct ct_block_header *h, int with_waits,
		     struct ct_block *b)
{
	struct column_cursor *c = &d->columns[CT_COL_RARES];
	int st = CT_OK;

	if (ct_rare_model_reset(&d->rares, h->n_rares) != CT_OK)
		return CT_NOMEM;
	take_bits_from(d, CT_COL_RARE_BITS);
	for (uint32_t i = 0; i < h->n_rares;) {
		uint64_t kind = get_varint(c);
		uint64_t n = get_varint(c);
		int is_run = kind & 1;

		kind >>= 1;
		if (c->bad || kind > UINT16_MAX ||
		    n > (is_run ? h->n_rares - i : (uint64_t)(c->end - c->p)) || n > UINT16_MAX)
			return CT_FORMAT;
		if (is_run && !ct_rare_has_columns((unsigned)kind))
			return CT_FORMAT;
		for (uint64_t k = 0; is_run && k < n && st == CT_OK; k++)
			st = get_coded(d, (unsigned)kind, with_waits, b);
		if (!is_run) {
			st = ct_block_add_rare(b, (enum ct_kind)kind, c->p, n);
			c->p += n;
		}
		if (st != CT_OK)
			return st;
		i += is_run ? (uint32_t)n : 1;
		if (is_run && !n)
			return CT_FORMAT;
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
		st = get_rares(d, h, 1, b);
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

	if (h->flags & CT_BLOCK_LEFT_OUT)
		return ct_block_skim(d, h, frame, 1, b, err);
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
		st = ct_block_model_reset(&d->model, 0);
	if (st == CT_OK)
		st = get_rares(d, h, 0, b);
	for (int i = 0; st == CT_OK && i < N_COLUMNS; i++)
		if (d->columns[i].bad)
			st = CT_FORMAT;
	return st == CT_OK
		       ? st
		       : ct_fail(err, st,
				 st == CT_NOMEM ? "out of memory" : "columns do not fit together");
}

/* What the header has of it; times as decoding it would have them. */
static void take_header(const struct ct_block_header *h, struct ct_block *b)
{
	const uint64_t q = h->quantum_ns;

	b->number = h->number;
	b->quantum_ns = h->quantum_ns;
	b->skimmed_ops = h->n_ops;
	b->skimmed_launches = h->n_launches;
	b->is_left_out = (h->flags & CT_BLOCK_LEFT_OUT) != 0;
	b->begin_ns = h->begin_ns ? to_ns(h->begin_ns / q, q) : 0;
	b->end_ns = h->end_ns ? to_ns(h->end_ns / q, q) : 0;
}

void ct_block_skim_header(const struct ct_block_header *h, struct ct_block *b)
{
	ct_block_reset(b, (enum ct_block_type)h->type);
	take_header(h, b);
}

int ct_block_skim(struct ct_decoder *d, const struct ct_block_header *h, const void *frame,
		  int with_rares, struct ct_block *b, struct ct_err *err)
{
	int st;

	ct_block_reset(b, (enum ct_block_type)h->type);
	st = with_rares ? unpack(d, h, frame, err) : check_frame(h, frame, err);
	if (st == CT_OK && with_rares)
		st = decode_rest(d, h, b, err);
	if (st != CT_OK) {
		ct_block_reset(b, (enum ct_block_type)h->type);
		return st;
	}
	take_header(h, b);
	return CT_OK;
}
