/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block.h"

#include <stdlib.h>
#include <string.h>

#include "trace/block_columns.h"
#include "trace/block_model.h"
#include "trace/ops.h"
#include "trace/rare_code.h"
#include "trace/status.h"

struct ct_encoder {
	struct ct_block_model model;
	struct ct_rare_model rares;
	struct ct_block_columns columns;
	struct ct_bits bits;
	int has_unusual; /* records */
};

struct ct_encoder *ct_encoder_new(void)
{
	struct ct_encoder *e = calloc(1, sizeof(*e));

	if (e && ct_block_columns_init(&e->columns) == CT_OK)
		return e;
	free(e);
	return NULL;
}

void ct_encoder_free(struct ct_encoder *e)
{
	if (!e)
		return;
	ct_block_columns_fini(&e->columns);
	ct_block_model_fini(&e->model);
	ct_rare_model_fini(&e->rares);
	free(e);
}

/* Where the next byte of a column goes. */
static inline uint8_t **end_of(struct ct_encoder *e, enum ct_column id)
{
	return &e->columns.all[id].p;
}

static inline void put(struct ct_encoder *e, enum ct_column id, uint64_t v)
{
	*end_of(e, id) = ct_put_varint(*end_of(e, id), v);
}

static inline void put_signed(struct ct_encoder *e, enum ct_column id, int64_t v)
{
	put(e, id, ct_zigzag(v));
}

/* Low bits of class bytes go there from now on. */
static void begin_bits(struct ct_encoder *e, enum ct_column id)
{
	e->bits = (struct ct_bits){ .p = *end_of(e, id) };
}

static void end_bits(struct ct_encoder *e, enum ct_column id)
{
	for (unsigned i = 0; i < e->bits.n; i += 8)
		*e->bits.p++ = (uint8_t)(e->bits.bits >> i);
	*end_of(e, id) = e->bits.p;
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
		if (ct_block_column_open(&e->columns, worst[i].id, worst[i].bytes) != CT_OK)
			return CT_NOMEM;
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

/* A time that is so long after its base, where `usual` is predicted. */
static inline uint8_t *put_time(uint8_t *p, struct ct_bits *bits, int64_t after, int64_t *usual)
{
	p = ct_put_class(p, bits, ct_wrap_sub((uint64_t)after, (uint64_t)*usual));
	ct_learn(usual, after);
	return p;
}

static void put_ops(struct ct_encoder *e, const struct ct_block *b)
{
	struct ct_block_model *m = &e->model;
	struct ct_thread_ops of = { 0 };
	struct ct_bits bits = e->bits;
	uint8_t *which = *end_of(e, CT_COL_OP_TUPLE);
	uint8_t *enters = *end_of(e, CT_COL_OP_ENTER);
	uint8_t *durations = *end_of(e, CT_COL_OP_DURATION);
	uint8_t *launches = *end_of(e, CT_COL_OP_LAUNCH);
	const uint32_t q = b->quantum_ns;
	uint32_t last_exception = 0;
	uint32_t last_launch = 0;
	uint32_t t = 0;

	while (ct_thread_ops_next(b, b->n_ops, &of)) {
		uint64_t *thread_last = ct_block_model_thread(m, of.tid);
		uint64_t last = *thread_last;

		for (uint32_t i = of.first; i < of.end; i++) {
			const struct ct_op *op = &b->ops[i];
			const uint64_t enter = ct_quanta(op->enter_ns, q);
			const uint32_t known = m->n_ops;
			struct ct_op_state *s;
			uint64_t *seq;

			t = ct_block_model_find_op(m, op, t);
			s = &m->ops[t];
			if (t == known)
				put_op_tuple(e, &s->tuple);
			which = ct_put_varint(which, t);
			if (ct_op_class(op->op) == CT_CLASS_P2P)
				put(e, CT_COL_OP_COUNT, op->count);

			seq = &m->next_seq[s->sequence];
			if (op->seq != *seq) {
				put(e, CT_COL_OP_SEQ, i - last_exception);
				put_signed(e, CT_COL_OP_SEQ, ct_wrap_sub(op->seq, *seq));
				last_exception = i;
			}
			*seq = op->seq + 1;

			enters = put_time(enters, &bits, ct_wrap_sub(enter, last), &s->gap);
			durations = put_time(
				durations, &bits,
				op->return_ns ? ct_wrap_sub(ct_quanta(op->return_ns, q), enter) : 0,
				&s->duration);
			last = enter;
			m->tuple_of[i] = t;

			if (op->launch) {
				struct ct_launch_index *index = ct_block_model_index(m, op->launch);

				index->op = index->op ? index->op : i + 1;
				launches = ct_put_varint(
					launches,
					ct_zigzag((int64_t)op->launch - (int64_t)last_launch) + 1);
				last_launch = op->launch;
			} else {
				*launches++ = 0;
			}
		}
		*thread_last = last;
	}
	*end_of(e, CT_COL_OP_TUPLE) = which;
	*end_of(e, CT_COL_OP_ENTER) = enters;
	*end_of(e, CT_COL_OP_DURATION) = durations;
	*end_of(e, CT_COL_OP_LAUNCH) = launches;
	e->bits = bits;
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
	put(e, CT_COL_LAUNCH_TUPLES, t->has);
}

/* As a class; in a block whose times are exact, as it is. */
static inline uint8_t *put_err(uint8_t *p, uint32_t err, uint64_t q)
{
	if (q == 1)
		return ct_put_varint(p, err);
	*p++ = ct_err_class(err);
	return p;
}

static void put_launches(struct ct_encoder *e, const struct ct_block *b)
{
	struct ct_block_model *m = &e->model;
	struct ct_bits bits = e->bits;
	uint8_t *which = *end_of(e, CT_COL_LAUNCH_TUPLE);
	uint8_t *ids = *end_of(e, CT_COL_LAUNCH_ID);
	uint8_t *starts = *end_of(e, CT_COL_LAUNCH_START);
	uint8_t *durations = *end_of(e, CT_COL_LAUNCH_DURATION);
	uint8_t *errors = *end_of(e, CT_COL_LAUNCH_ERR);
	const uint32_t q = b->quantum_ns;
	uint32_t last_id = 0;
	uint32_t t = 0;

	for (uint32_t i = 0; i < b->n_launches; i++) {
		const struct ct_launch *l = &b->launches[i];
		const uint32_t known = m->n_launches;
		struct ct_launch_index *index;
		struct ct_launch_state *s;
		struct ct_habits *habits;
		uint64_t start;

		t = ct_block_model_find_launch(m, l, t);
		s = &m->launches[t];
		if (t == known)
			put_launch_tuple(e, &s->tuple);
		which = ct_put_varint(which, t);
		ids = ct_put_varint(ids, ct_zigzag((int64_t)l->id - ((int64_t)last_id + 1)));
		last_id = l->id;

		/* an op starts when it is enqueued or when its stream is free, whichever is later */
		index = ct_block_model_index(m, l->id);
		index->launch = index->launch ? index->launch : i + 1;
		habits = &s->habits;
		start = m->stream_end[s->stream];
		if (index->op) {
			uint64_t enter = ct_quanta(b->ops[index->op - 1].enter_ns, q);

			habits = ct_block_model_habits(m, index);
			start = enter > start ? enter : start;
		}
		if (s->tuple.has & CT_LAUNCH_HAS_START) {
			uint64_t started = ct_quanta(l->start_ns, q);

			starts = put_time(starts, &bits, ct_wrap_sub(started, start),
					  &habits->start);
			start = started;
		}
		if (s->tuple.has & CT_LAUNCH_HAS_END) {
			uint64_t ended = ct_quanta(l->end_ns, q);

			durations = put_time(durations, &bits, ct_wrap_sub(ended, start),
					     &habits->duration);
			start = ended;
		}
		m->stream_end[s->stream] = start;
		errors = put_err(errors, l->start_err_ns, q);
		errors = put_err(errors, l->end_err_ns, q);
	}
	*end_of(e, CT_COL_LAUNCH_TUPLE) = which;
	*end_of(e, CT_COL_LAUNCH_ID) = ids;
	*end_of(e, CT_COL_LAUNCH_START) = starts;
	*end_of(e, CT_COL_LAUNCH_DURATION) = durations;
	*end_of(e, CT_COL_LAUNCH_ERR) = errors;
	e->bits = bits;
}

/* What the walk over a record's fields does in this direction. */
static inline uint64_t number(struct ct_encoder *e, enum ct_column id, uint64_t v)
{
	put(e, id, v);
	return v;
}

static inline uint32_t error(struct ct_encoder *e, enum ct_column id, uint32_t v, uint64_t q)
{
	*end_of(e, id) = put_err(*end_of(e, id), v, q);
	return v;
}

static inline int64_t residual(struct ct_encoder *e, enum ct_column id, int64_t v)
{
	*end_of(e, id) = ct_put_class(*end_of(e, id), &e->bits, v);
	return v;
}

static inline void keep(uint8_t *p, unsigned bytes, uint64_t v)
{
	(void)p;
	(void)bytes;
	(void)v;
}

#define CODER struct ct_encoder
#include "trace/rare_walk.h"

/* A run of records with columns, or one that is stored whole; *t is the tuple of the one before.
 * Returns the records put. */
static uint32_t put_run(struct ct_encoder *e, const struct ct_block *b, uint32_t from, uint32_t *t)
{
	const struct ct_rare *first = &b->rares[from];
	uint8_t **rares = end_of(e, CT_COL_RARES);
	uint32_t n = 0;

	for (; from + n < b->n_rares; n++) {
		const struct ct_rare *rare = &b->rares[from + n];
		const uint32_t known = e->rares.n;
		uint8_t *payload = b->bytes + rare->at;

		if (rare->kind != first->kind ||
		    !ct_rare_find(&e->rares, rare->kind, payload, rare->len, t))
			break;
		put(e, CT_COL_RARE_TUPLE, *t);
		if (*t == known)
			code_tuple(&e->rares.states[*t].tuple, e);
		code_record(&e->rares, &e->model, b, &e->rares.states[*t], payload, e);
	}
	put(e, CT_COL_RARES, (uint64_t)first->kind << 1 | (n != 0));
	if (n) {
		put(e, CT_COL_RARES, n);
		return n;
	}
	put(e, CT_COL_RARES, first->len);
	if (first->len)
		memcpy(*rares, b->bytes + first->at, first->len);
	*rares += first->len;
	return 1;
}

static int is_usual(unsigned kind)
{
	const enum ct_kind_about about = ct_kind_about(kind);

	return about == CT_ABOUT_OPERATION || about == CT_ABOUT_LATEST;
}

static void put_rares(struct ct_encoder *e, const struct ct_block *b)
{
	uint32_t t = 0;

	e->has_unusual = 0;
	for (uint32_t i = 0; i < b->n_rares;) {
		e->has_unusual |= !is_usual(b->rares[i].kind);
		i += put_run(e, b, i, &t);
	}
}

/* From the earliest to the latest time of operations and launches, 0 if there is none. 0 is no
 * time. */
static void fill_times(struct ct_block_header *h, const struct ct_block *b)
{
	uint64_t begin_less_1 = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < b->n_ops; i++) {
		const uint64_t from = b->ops[i].enter_ns, to = b->ops[i].return_ns;

		begin_less_1 = from - 1 < begin_less_1 ? from - 1 : begin_less_1;
		end = to > end ? to : end;
		end = from > end ? from : end;
	}
	for (uint32_t i = 0; i < b->n_launches; i++) {
		const uint64_t from = b->launches[i].start_ns, to = b->launches[i].end_ns;

		begin_less_1 = from - 1 < begin_less_1 ? from - 1 : begin_less_1;
		begin_less_1 = to - 1 < begin_less_1 ? to - 1 : begin_less_1;
		end = to > end ? to : end;
		end = from > end ? from : end;
	}
	h->begin_ns = begin_less_1 + 1;
	h->end_ns = end;
}

static void fill_header(struct ct_block_header *h, const struct ct_block *b, int has_unusual)
{
	*h = (struct ct_block_header){
		.magic = CT_BLOCK_MAGIC,
		.type = (uint16_t)b->type,
		.flags = has_unusual ? CT_BLOCK_HAS_RARES : 0,
		.number = b->number,
		.n_ops = b->n_ops,
		.n_launches = b->n_launches,
		.n_rares = b->n_rares,
		.n_extents = b->n_extents,
		.quantum_ns = b->quantum_ns,
	};
	fill_times(h, b);
	if (!b->is_left_out)
		return;
	h->flags |= CT_BLOCK_LEFT_OUT;
	h->n_ops = b->skimmed_ops;
	h->n_launches = b->skimmed_launches;
	h->begin_ns = b->begin_ns;
	h->end_ns = b->end_ns;
}

int ct_block_encode(struct ct_encoder *e, const struct ct_block *b, const void **out,
		    size_t *out_bytes)
{
	struct ct_block_header h;
	size_t raw_bytes;
	size_t frame;
	int st;

	if (ct_block_records(b) > CT_BLOCK_MAX_RECORDS || b->n_extents > CT_BLOCK_MAX_RECORDS ||
	    !b->quantum_ns)
		return CT_RANGE;
	st = ct_block_model_reset(&e->model, b->n_ops + b->n_launches);
	if (st == CT_OK)
		st = ct_rare_model_reset(&e->rares, b->n_rares);
	if (st == CT_OK)
		st = open_columns(e, b);
	if (st != CT_OK)
		return st;
	put_extents(e, b);
	begin_bits(e, CT_COL_BITS);
	put_ops(e, b);
	put_launches(e, b);
	end_bits(e, CT_COL_BITS);
	begin_bits(e, CT_COL_RARE_BITS);
	put_rares(e, b);
	end_bits(e, CT_COL_RARE_BITS);
	st = ct_block_columns_compress(&e->columns, sizeof(h), &raw_bytes, &frame);
	if (st != CT_OK)
		return st;
	fill_header(&h, b, e->has_unusual);
	h.bytes = (uint32_t)frame;
	h.raw_bytes = (uint32_t)raw_bytes;
	h.crc = ct_crc32c(0, e->columns.out + sizeof(h), frame);
	h.header_crc = ct_crc32c(0, &h, sizeof(h));
	memcpy(e->columns.out, &h, sizeof(h));
	*out = e->columns.out;
	*out_bytes = sizeof(h) + frame;
	return CT_OK;
}
