/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY /* literals are coded also where no match is looked for */
#include <zstd.h>

#include "trace/block_model.h"
#include "trace/ops.h"
#include "trace/rare_code.h"
#include "trace/status.h"

/* One column being filled. Room is made for the worst case before the loop that fills it. */
struct column {
	uint8_t *start;
	uint8_t *p;
	size_t cap;
};

enum { N_COLUMNS = CT_COL_RARE_BITS + 1 };

struct ct_encoder {
	ZSTD_CCtx *zstd;
	struct ct_block_model model;
	struct ct_rare_model rares;
	struct column columns[N_COLUMNS];
	enum ct_column bits_to; /* where low bits of class bytes go ... */
	uint64_t bits;		/* ... and those not written yet */
	int n_bits;
	uint8_t *raw;
	size_t raw_cap;
	uint8_t *out;
	size_t out_cap;
};

struct ct_encoder *ct_encoder_new(void)
{
	struct ct_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->zstd = ZSTD_createCCtx();
	if (!e->zstd) {
		free(e);
		return NULL;
	}
	/* level 1: 3 costs twice the time and saves less than 1.5 % on columns */
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, 1);
	return e;
}

void ct_encoder_free(struct ct_encoder *e)
{
	if (!e)
		return;
	for (int i = 0; i < N_COLUMNS; i++)
		free(e->columns[i].start);
	ct_block_model_fini(&e->model);
	ct_rare_model_fini(&e->rares);
	free(e->raw);
	free(e->out);
	ZSTD_freeCCtx(e->zstd);
	free(e);
}

static int ensure(uint8_t **p, size_t *cap, size_t want)
{
	if (*cap >= want)
		return CT_OK;
	free(*p);
	*p = malloc(want);
	*cap = *p ? want : 0;
	return *p ? CT_OK : CT_NOMEM;
}

static int open_column(struct ct_encoder *e, enum ct_column id, size_t worst_bytes)
{
	struct column *c = &e->columns[id];
	int st = ensure(&c->start, &c->cap, worst_bytes + 16);

	c->p = c->start;
	return st;
}

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 128) {
		*p++ = (uint8_t)v | 128;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static void put(struct ct_encoder *e, enum ct_column id, uint64_t v)
{
	e->columns[id].p = put_varint(e->columns[id].p, v);
}

static void put_signed(struct ct_encoder *e, enum ct_column id, int64_t v)
{
	put(e, id, ct_zigzag(v));
}

static void put_bits(struct ct_encoder *e, uint64_t v, int n)
{
	struct column *c = &e->columns[e->bits_to];
	uint64_t bits;

	if (n > 32) {
		put_bits(e, v & 0xffffffffu, 32);
		v >>= 32;
		n -= 32;
	}
	/* all bits there are, as eight bytes of which the whole ones stay */
	e->bits |= v << e->n_bits;
	e->n_bits += n;
	bits = htole64(e->bits);
	memcpy(c->p, &bits, sizeof(bits));
	c->p += e->n_bits / 8;
	e->bits >>= e->n_bits & ~7;
	e->n_bits &= 7;
}

/* A timing residual: a byte for its magnitude (exponent and two bits of mantissa), which zstd's entropy coder
 * squeezes, and its remaining bits, which are noise, raw. 15 % smaller than varints. */
static void put_class(struct ct_encoder *e, enum ct_column id, int64_t residual)
{
	uint64_t v = ct_zigzag(residual);
	int top;

	if (v < 8) {
		*e->columns[id].p++ = (uint8_t)v;
		return;
	}
	top = 63 - __builtin_clzll(v);
	*e->columns[id].p++ = (uint8_t)(8 + (top - 3) * 4 + (int)(v >> (top - 2) & 3));
	put_bits(e, v & ((1ull << (top - 2)) - 1), top - 2);
}

static int open_columns(struct ct_encoder *e, const struct ct_block *b)
{
	const struct {
		enum ct_column id;
		size_t bytes;
	} worst[] = {
		{ CT_COL_EXTENTS, (size_t)b->n_extents * 60 },
		{ CT_COL_OP_TUPLES, (size_t)b->n_ops * 60 },
		{ CT_COL_OP_TUPLE, (size_t)b->n_ops * 10 },
		{ CT_COL_OP_ENTER, b->n_ops },
		{ CT_COL_OP_DURATION, b->n_ops },
		{ CT_COL_OP_SEQ, (size_t)b->n_ops * 20 },
		{ CT_COL_OP_COUNT, (size_t)b->n_ops * 10 },
		{ CT_COL_OP_LAUNCH, (size_t)b->n_ops * 10 },
		{ CT_COL_LAUNCH_TUPLES, (size_t)b->n_launches * 60 },
		{ CT_COL_LAUNCH_TUPLE, (size_t)b->n_launches * 10 },
		{ CT_COL_LAUNCH_ID, (size_t)b->n_launches * 10 },
		{ CT_COL_LAUNCH_START, b->n_launches },
		{ CT_COL_LAUNCH_DURATION, b->n_launches },
		{ CT_COL_LAUNCH_ERR, (size_t)b->n_launches * 10 },
		{ CT_COL_BITS, ((size_t)b->n_ops + b->n_launches) * 16 },
		{ CT_COL_RARES, (size_t)b->n_rares * 8 + b->n_bytes },
		{ CT_COL_RARE_TUPLES, (size_t)b->n_rares * 2 * CT_RARE_BYTES },
		{ CT_COL_RARE_TUPLE, (size_t)b->n_rares * 10 },
		{ CT_COL_RARE_LINK, (size_t)b->n_rares * 10 },
		{ CT_COL_RARE_VALUE, (size_t)b->n_rares * 2 * CT_RARE_BYTES },
		{ CT_COL_RARE_TIME, b->n_rares },
		{ CT_COL_RARE_LATER, (size_t)b->n_rares * 2 },
		{ CT_COL_RARE_REACH, b->n_rares },
		{ CT_COL_RARE_ERR, (size_t)b->n_rares * 5 },
		{ CT_COL_RARE_BITS, (size_t)b->n_rares * 24 },
	};

	for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++)
		if (open_column(e, worst[i].id, worst[i].bytes) != CT_OK)
			return CT_NOMEM;
	e->bits_to = CT_COL_BITS;
	e->bits = 0;
	e->n_bits = 0;
	return CT_OK;
}

static void put_extents(struct ct_encoder *e, const struct ct_block *b)
{
	uint64_t lap = 0;
	uint32_t tid = 0;

	for (uint32_t i = 0; i < b->n_extents; i++) {
		const struct ct_extent *x = &b->extents[i];

		put_signed(e, CT_COL_EXTENTS, ct_wrap_sub(x->lap, lap));
		put_signed(e, CT_COL_EXTENTS, (int64_t)x->tid - tid);
		put(e, CT_COL_EXTENTS, x->first);
		put(e, CT_COL_EXTENTS, x->n_slots);
		put(e, CT_COL_EXTENTS, x->n_ops);
		put(e, CT_COL_EXTENTS, x->n_launches);
		lap = x->lap;
		tid = x->tid;
	}
}

static void put_op_tuple(struct ct_encoder *e, const struct ct_op_tuple *t)
{
	put(e, CT_COL_OP_TUPLES, t->op);
	put(e, CT_COL_OP_TUPLES, t->dtype);
	put(e, CT_COL_OP_TUPLES, t->redop);
	put(e, CT_COL_OP_TUPLES, t->flags);
	put(e, CT_COL_OP_TUPLES, t->comm);
	put(e, CT_COL_OP_TUPLES, t->call);
	put(e, CT_COL_OP_TUPLES, t->site);
	put_signed(e, CT_COL_OP_TUPLES, t->result);
	put_signed(e, CT_COL_OP_TUPLES, t->peer);
	put(e, CT_COL_OP_TUPLES, t->tag);
	put(e, CT_COL_OP_TUPLES, t->count);
}

static void put_ops(struct ct_encoder *e, const struct ct_block *b)
{
	struct ct_block_model *m = &e->model;
	uint64_t q = b->quantum_ns;
	struct ct_extent_cursor cursor = { 0 };
	uint32_t last_exception = 0;
	uint32_t last_launch = 0;
	uint64_t *last = NULL; /* of the thread `last_tid` */
	uint32_t last_tid = 0;

	for (uint32_t i = 0; i < b->n_ops; i++) {
		const struct ct_op *op = &b->ops[i];
		uint32_t tid = ct_extent_tid(b, &cursor);
		uint64_t enter = op->enter_ns / q;
		struct ct_op_tuple tuple;
		uint32_t known = m->n_ops;
		uint64_t *seq;
		uint32_t t;
		int64_t gap;
		int64_t duration;

		ct_op_tuple(op, &tuple);
		t = ct_block_model_find_op(m, &tuple);
		if (m->n_ops != known)
			put_op_tuple(e, &tuple);
		put(e, CT_COL_OP_TUPLE, t);
		if (ct_op_class(op->op) == CT_CLASS_P2P)
			put(e, CT_COL_OP_COUNT, op->count);

		seq = ct_block_model_seq(m, t);
		if (op->seq != *seq) {
			put(e, CT_COL_OP_SEQ, i - last_exception);
			put_signed(e, CT_COL_OP_SEQ, ct_wrap_sub(op->seq, *seq));
			last_exception = i;
		}
		*seq = op->seq + 1;

		if (!last || tid != last_tid)
			last = ct_block_model_thread(m, tid);
		last_tid = tid;
		gap = ct_wrap_sub(enter, *last);
		*last = enter;
		duration = op->return_ns ? ct_wrap_sub(op->return_ns / q, enter) : 0;
		put_class(e, CT_COL_OP_ENTER, ct_wrap_sub((uint64_t)gap, (uint64_t)m->ops[t].gap));
		put_class(e, CT_COL_OP_DURATION,
			  ct_wrap_sub((uint64_t)duration, (uint64_t)m->ops[t].duration));
		ct_learn(&m->ops[t].gap, gap);
		ct_learn(&m->ops[t].duration, duration);
		m->tuple_of[i] = t;

		if (op->launch) {
			put(e, CT_COL_OP_LAUNCH,
			    ct_zigzag((int64_t)op->launch - (int64_t)last_launch) + 1);
			last_launch = op->launch;
			ct_block_model_note_launch(m, op->launch, i);
		} else {
			put(e, CT_COL_OP_LAUNCH, 0);
		}
	}
}

static void put_launch_tuple(struct ct_encoder *e, const struct ct_launch_tuple *t)
{
	put(e, CT_COL_LAUNCH_TUPLES, t->comm);
	put(e, CT_COL_LAUNCH_TUPLES, t->stream);
	put(e, CT_COL_LAUNCH_TUPLES, t->device);
	put(e, CT_COL_LAUNCH_TUPLES, t->n_ops);
	put_signed(e, CT_COL_LAUNCH_TUPLES, t->result);
	put(e, CT_COL_LAUNCH_TUPLES, t->start_source);
	put(e, CT_COL_LAUNCH_TUPLES, t->end_source);
	put(e, CT_COL_LAUNCH_TUPLES, t->has_start | (unsigned)t->has_end << 1);
}

/* As a class; in a block whose times are exact, as it is. */
static void put_err(struct ct_encoder *e, enum ct_column id, uint32_t err, uint64_t q)
{
	if (q == 1)
		put(e, id, err);
	else
		*e->columns[id].p++ = ct_err_class(err);
}

static void put_launches(struct ct_encoder *e, const struct ct_block *b)
{
	struct ct_block_model *m = &e->model;
	uint64_t q = b->quantum_ns;
	uint32_t last_id = 0;

	for (uint32_t i = 0; i < b->n_launches; i++) {
		const struct ct_launch *l = &b->launches[i];
		struct ct_launch_tuple tuple;
		uint32_t known = m->n_launches;
		struct ct_launch_state *s;
		struct ct_habits *habits;
		uint64_t start;
		uint64_t end;
		int64_t first;
		uint32_t t;

		ct_launch_tuple(l, &tuple);
		t = ct_block_model_find_launch(m, &tuple);
		s = &m->launches[t];
		if (m->n_launches != known)
			put_launch_tuple(e, &tuple);
		put(e, CT_COL_LAUNCH_TUPLE, t);
		put_signed(e, CT_COL_LAUNCH_ID, (int64_t)l->id - ((int64_t)last_id + 1));
		last_id = l->id;

		/* an op starts when it is enqueued or when its stream is free, whichever is later */
		first = ct_block_model_first_op(m, l->id);
		habits = first < 0 ? &s->habits : ct_block_model_habits(m, first);
		start = m->stream_end[s->stream];
		if (first >= 0 && b->ops[first].enter_ns / q > start)
			start = b->ops[first].enter_ns / q;
		if (tuple.has_start) {
			int64_t later = ct_wrap_sub(l->start_ns / q, start);

			put_class(e, CT_COL_LAUNCH_START,
				  ct_wrap_sub((uint64_t)later, (uint64_t)habits->start));
			ct_learn(&habits->start, later);
			start = l->start_ns / q;
		}
		end = start;
		if (tuple.has_end) {
			int64_t duration = ct_wrap_sub(l->end_ns / q, start);

			put_class(e, CT_COL_LAUNCH_DURATION,
				  ct_wrap_sub((uint64_t)duration, (uint64_t)habits->duration));
			ct_learn(&habits->duration, duration);
			end = l->end_ns / q;
		}
		m->stream_end[s->stream] = end;
		put_err(e, CT_COL_LAUNCH_ERR, l->start_err_ns, q);
		put_err(e, CT_COL_LAUNCH_ERR, l->end_err_ns, q);
	}
}

static void end_bits(struct ct_encoder *e, enum ct_column next)
{
	if (e->n_bits)
		*e->columns[e->bits_to].p++ = (uint8_t)e->bits;
	e->bits_to = next;
	e->bits = 0;
	e->n_bits = 0;
}

/* What the walk over a record's fields does in this direction. */
static inline uint64_t number(struct ct_encoder *e, enum ct_column id, uint64_t v)
{
	put(e, id, v);
	return v;
}

static inline uint32_t error(struct ct_encoder *e, enum ct_column id, uint32_t v, uint64_t q)
{
	put_err(e, id, v, q);
	return v;
}

static inline int64_t residual(struct ct_encoder *e, enum ct_column id, int64_t v)
{
	put_class(e, id, v);
	return v;
}

#define CODER struct ct_encoder
#include "trace/rare_walk.h"

/* A run of records with columns, or one that is stored whole. Returns the records put. */
static uint32_t put_run(struct ct_encoder *e, const struct ct_block *b, uint32_t from)
{
	const struct ct_rare *first = &b->rares[from];
	struct column *c = &e->columns[CT_COL_RARES];
	struct ct_rare_tuple tuple;
	uint32_t n = 0;

	for (; from + n < b->n_rares; n++) {
		const struct ct_rare *rare = &b->rares[from + n];
		uint8_t payload[CT_RARE_BYTES];
		uint32_t known = e->rares.n;
		uint32_t t;

		if (rare->kind != first->kind ||
		    !ct_rare_tuple(&e->rares, rare->kind, b->bytes + rare->at, rare->len, &tuple))
			break;
		t = ct_rare_find(&e->rares, &tuple);
		put(e, CT_COL_RARE_TUPLE, t);
		if (t == known)
			code_tuple(&tuple, e);
		memcpy(payload, b->bytes + rare->at, sizeof(payload));
		code_record(&e->rares, &e->model, b, &e->rares.states[t], payload, e);
	}
	put(e, CT_COL_RARES, (uint64_t)first->kind << 1 | (n != 0));
	if (n) {
		put(e, CT_COL_RARES, n);
		return n;
	}
	put(e, CT_COL_RARES, first->len);
	if (first->len)
		memcpy(c->p, b->bytes + first->at, first->len);
	c->p += first->len;
	return 1;
}

static void put_rares(struct ct_encoder *e, const struct ct_block *b)
{
	end_bits(e, CT_COL_RARE_BITS);
	ct_rare_model_launches(&e->rares, b);
	for (uint32_t i = 0; i < b->n_rares;)
		i += put_run(e, b, i);
	end_bits(e, CT_COL_BITS);
}

/* How a column is compressed: by matches and entropy; or by entropy alone, where no string repeats (class bytes, and
 * noise). */
enum way { BY_MATCHES, BY_ENTROPY };

static enum way way_of(int id)
{
	switch (id) {
	case CT_COL_OP_ENTER:
	case CT_COL_OP_DURATION:
	case CT_COL_LAUNCH_START:
	case CT_COL_LAUNCH_DURATION:
	case CT_COL_BITS:
	case CT_COL_RARE_TIME:
	case CT_COL_RARE_LATER:
	case CT_COL_RARE_REACH:
	case CT_COL_RARE_BITS:
		return BY_ENTROPY;
	default:
		return BY_MATCHES;
	}
}

/* Below this a frame of its own costs more than its code table saves. */
#define OWN_FRAME_BYTES 512u

static size_t held(const struct ct_encoder *e, int id)
{
	return (size_t)(e->columns[id].p - e->columns[id].start);
}

/* Class bytes, noise, and sizes that do not repeat: they have codes of their own. */
static int is_apart(const struct ct_encoder *e, int id)
{
	return (way_of(id) == BY_ENTROPY || id == CT_COL_OP_COUNT) && held(e, id) >= OWN_FRAME_BYTES;
}

static uint8_t *join_column(const struct ct_encoder *e, int id, uint8_t *p)
{
	size_t len = held(e, id);

	if (!len)
		return p;
	*p++ = (uint8_t)id;
	p = put_varint(p, len);
	memcpy(p, e->columns[id].start, len);
	return p + len;
}

static int compress(struct ct_encoder *e, enum way way, const uint8_t *from, const uint8_t *to,
		    size_t *at)
{
	size_t n;

	if (from == to)
		return CT_OK;
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_targetLength,
			       way == BY_ENTROPY ? ZSTD_TARGETLENGTH_MAX : 0);
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_hashLog, way == BY_ENTROPY ? ZSTD_HASHLOG_MIN : 0);
	ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
	n = ZSTD_compress2(e->zstd, e->out + *at, e->out_cap - *at, from, (size_t)(to - from));
	if (ZSTD_isError(n))
		return CT_NOMEM;
	*at += n;
	return CT_OK;
}

/* All columns that hold anything, as frames behind each other: one of all that repeat and all that are short, then one of
 * each other column, which has a code table of its own. */
static int compress_columns(struct ct_encoder *e, size_t *raw_bytes, size_t *at)
{
	size_t total = 0;
	uint8_t *p, *from;
	int st;

	for (int i = 1; i < N_COLUMNS; i++)
		total += 11 + held(e, i);
	if (total > CT_BLOCK_MAX_RAW)
		return CT_RANGE;
	if (ensure(&e->raw, &e->raw_cap, total) != CT_OK ||
	    ensure(&e->out, &e->out_cap, *at + ZSTD_compressBound(total) + N_COLUMNS * 32) != CT_OK)
		return CT_NOMEM;
	p = e->raw;
	for (int i = 1; i < N_COLUMNS; i++)
		if (!is_apart(e, i))
			p = join_column(e, i, p);
	st = compress(e, BY_MATCHES, e->raw, p, at);
	for (int i = 1; i < N_COLUMNS && st == CT_OK; i++) {
		if (!is_apart(e, i))
			continue;
		from = p;
		p = join_column(e, i, p);
		st = compress(e, way_of(i), from, p, at);
	}
	*raw_bytes = (size_t)(p - e->raw);
	return st;
}

static void widen(struct ct_block_header *h, uint64_t t)
{
	if (t && (!h->begin_ns || t < h->begin_ns))
		h->begin_ns = t;
	if (t > h->end_ns)
		h->end_ns = t;
}

/* One for each operation or wait; or it is repeated, and the last one counts. */
static int is_usual(unsigned kind)
{
	switch (kind) {
	case CT_KIND_STATUS:
	case CT_KIND_CLOCK:
	case CT_KIND_HOST_BEGIN:
	case CT_KIND_HOST_END:
	case CT_KIND_VCOUNTS:
	case CT_KIND_MATCH:
	case CT_KIND_WAIT:
	case CT_KIND_DETAIL:
	case CT_KIND_SUBMIT:
	case CT_KIND_NVTX:
		return 1;
	default:
		return 0;
	}
}

static uint16_t flags_of(const struct ct_block *b)
{
	for (uint32_t i = 0; i < b->n_rares; i++) {
		if (!is_usual(b->rares[i].kind))
			return CT_BLOCK_TELLS;
	}
	return 0;
}

static void fill_header(struct ct_block_header *h, const struct ct_block *b)
{
	*h = (struct ct_block_header){
		.magic = CT_BLOCK_MAGIC,
		.type = (uint16_t)b->type,
		.flags = flags_of(b),
		.number = b->number,
		.n_ops = b->n_ops,
		.n_launches = b->n_launches,
		.n_rares = b->n_rares,
		.n_extents = b->n_extents,
		.quantum_ns = b->quantum_ns,
	};
	for (uint32_t i = 0; i < b->n_ops; i++) {
		widen(h, b->ops[i].enter_ns);
		widen(h, b->ops[i].return_ns);
	}
	for (uint32_t i = 0; i < b->n_launches; i++) {
		widen(h, b->launches[i].start_ns);
		widen(h, b->launches[i].end_ns);
	}
}

int ct_block_encode(struct ct_encoder *e, const struct ct_block *b, const void **out,
		    size_t *out_bytes)
{
	struct ct_block_header h;
	size_t raw_bytes;
	size_t end = sizeof(h);
	size_t frame;
	int st;

	if (ct_block_records(b) > CT_BLOCK_MAX_RECORDS || b->n_extents > CT_BLOCK_MAX_RECORDS ||
	    !b->quantum_ns)
		return CT_RANGE;
	st = ct_block_model_reset(&e->model, b->n_ops + b->n_launches);
	if (st == CT_OK)
		st = ct_rare_model_reset(&e->rares, b->n_rares, b->n_launches);
	if (st == CT_OK)
		st = open_columns(e, b);
	if (st != CT_OK)
		return st;
	put_extents(e, b);
	put_ops(e, b);
	put_launches(e, b);
	put_rares(e, b);
	st = compress_columns(e, &raw_bytes, &end);
	if (st != CT_OK)
		return st;
	frame = end - sizeof(h);
	fill_header(&h, b);
	h.bytes = (uint32_t)frame;
	h.raw_bytes = (uint32_t)raw_bytes;
	h.crc = ct_crc32c(0, e->out + sizeof(h), frame);
	h.header_crc = ct_crc32c(0, &h, sizeof(h));
	memcpy(e->out, &h, sizeof(h));
	*out = e->out;
	*out_bytes = sizeof(h) + frame;
	return CT_OK;
}
