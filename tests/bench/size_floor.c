/* SPDX-License-Identifier: Apache-2.0 */
/* Each time that is stored is predicted from what a reader of the whole run knows before it; what
 * is left is counted by class: a sign and magnitude of four steps an octave, in one of many
 * contexts (field, and what the record is about). The floor is the entropy of the classes in their
 * contexts, plus the bits below a class, which are noise. The tables of contexts, and what the
 * records say besides, count nothing: a coder that stays above the floor by half is good. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/size.h"
#include "trace/mix.h"
#include "trace/ops.h"
#include "trace/rare_code.h"
#include "trace/reader.h"

enum field {
	OP_ENTER,
	OP_DURATION,
	OP_COUNT,
	LAUNCH_START,
	LAUNCH_DURATION,
	LAUNCH_ERR,
	WAIT_ISSUED,
	WAIT_BEGIN,
	WAIT_ERR,
	HOST_ENTER,
	HOST_DURATION,
};
static const char *const field_names[CT_SIZE_FIELDS] = {
	"op enter",	   "op duration",   "op count",	     "launch start",
	"launch duration", "launch errors", "wait issued",   "wait begin",
	"wait error",	   "host enter",    "host duration",
};

enum { LAUNCHES = 1 << 16 };

struct ct_size_state {
	int64_t usual[CT_SIZE_FIELDS][CT_SIZE_CONTEXTS];
	uint64_t size[CT_SIZE_CONTEXTS];   /* of the context's last operation */
	uint64_t thread[CT_SIZE_CONTEXTS]; /* enter of the thread's last call */
	uint64_t stream[CT_SIZE_CONTEXTS]; /* end of the stream's last launch */
	uint64_t issued[CT_SIZE_CONTEXTS], reached[CT_SIZE_CONTEXTS]; /* of a stream's last wait */
	struct {
		uint32_t id, what;
		uint64_t enter, left, start, end;
	} launches[LAUNCHES];
};

static uint32_t context(uint64_t a, uint64_t b)
{
	return (uint32_t)(ct_mix(ct_mix(a) ^ b) % CT_SIZE_CONTEXTS);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint32_t class_of(int64_t residual, int *low_bits)
{
	uint64_t v = (uint64_t)residual << 1 ^ (residual < 0 ? UINT64_MAX : 0);
	int top;

	*low_bits = 0;
	if (v < 8)
		return (uint32_t)v;
	top = 63 - __builtin_clzll(v);
	*low_bits = top - 2;
	return (uint32_t)(8 + (top - 3) * 4 + (int)(v >> (top - 2) & 3));
}

/* A value of the field in the context. If it is learnt, what is left is the difference from what is
 * usual there. */
static void count(struct ct_size_floor *f, enum field field, uint32_t c, int64_t value,
		  int is_learnt)
{
	int64_t *usual = &f->state->usual[field][c];
	int low = 0;

	if (!f->counts[field])
		f->counts[field] = calloc(CT_SIZE_CONTEXTS, sizeof(*f->counts[field]));
	if (!f->counts[field])
		ct_size_fail("out of memory");
	f->counts[field][c][class_of(value - *usual, &low)]++;
	f->low_bits[field] += low;
	f->n[field]++;
	if (is_learnt)
		ct_learn(usual, value);
}

/* An error follows from the last one of its kind. */
static void count_error(struct ct_size_floor *f, enum field field, uint32_t c, uint32_t err_ns)
{
	int64_t *last = &f->state->usual[field][c];

	count(f, field, c, ct_err_class(err_ns), 0);
	*last = ct_err_class(err_ns);
}

/* A size is that of the last one in the context, or any. */
static void count_size(struct ct_size_floor *f, uint32_t c, uint64_t size)
{
	uint64_t *last = &f->state->size[c];

	count(f, OP_COUNT, c, size == *last ? 0 : (int64_t)size, 0);
	*last = size;
}

void ct_size_floor_process(struct ct_size_floor *f)
{
	free(f->state);
	f->state = calloc(1, sizeof(*f->state));
	if (!f->state)
		ct_size_fail("out of memory");
}

static uint32_t what_of(const struct ct_op *op)
{
	int is_p2p = ct_op_class(op->op) == CT_CLASS_P2P;

	return context((uint64_t)op->comm << 32 | (uint64_t)op->op << 16 | op->call,
		       is_p2p ? (uint64_t)(op->peer + 2) << 32 : op->count);
}

static void take_op(struct ct_size_floor *f, const struct ct_op *op, uint64_t q)
{
	struct ct_size_state *s = f->state;
	uint32_t what = what_of(op);
	uint64_t *last = &s->thread[op->tid % CT_SIZE_CONTEXTS];
	uint64_t enter = op->enter_ns / q;

	count(f, OP_ENTER, what, (int64_t)(enter - *last), 1);
	*last = enter;
	if (op->return_ns)
		count(f, OP_DURATION, what, (int64_t)(op->return_ns / q - enter), 1);
	if (ct_op_class(op->op) == CT_CLASS_P2P)
		count_size(f, what, op->count);
	if (op->launch && s->launches[op->launch % LAUNCHES].id != op->launch) {
		s->launches[op->launch % LAUNCHES].id = op->launch;
		s->launches[op->launch % LAUNCHES].what = what;
		s->launches[op->launch % LAUNCHES].enter = enter;
		s->launches[op->launch % LAUNCHES].left = op->return_ns / q;
		s->launches[op->launch % LAUNCHES].start = s->launches[op->launch % LAUNCHES]
								   .end = 0;
	}
}

static void take_launch(struct ct_size_floor *f, const struct ct_launch *l, uint64_t q)
{
	struct ct_size_state *s = f->state;
	uint64_t *free_at = &s->stream[l->stream % CT_SIZE_CONTEXTS];
	uint64_t start = *free_at;
	uint32_t what = context(l->comm, l->n_ops);

	if (s->launches[l->id % LAUNCHES].id == l->id) {
		what = s->launches[l->id % LAUNCHES].what;
		if (s->launches[l->id % LAUNCHES].enter > start)
			start = s->launches[l->id % LAUNCHES].enter;
	}
	if (l->start_ns) {
		count(f, LAUNCH_START, what, (int64_t)(l->start_ns / q - start), 1);
		start = l->start_ns / q;
		if (s->launches[l->id % LAUNCHES].id == l->id)
			s->launches[l->id % LAUNCHES].start = start;
		count_error(f, LAUNCH_ERR, 0, l->start_err_ns);
	}
	if (l->end_ns) {
		count(f, LAUNCH_DURATION, what, (int64_t)(l->end_ns / q - start), 1);
		count_error(f, LAUNCH_ERR, 1, l->end_err_ns);
		*free_at = l->end_ns / q;
		if (s->launches[l->id % LAUNCHES].id == l->id)
			s->launches[l->id % LAUNCHES].end = *free_at;
	}
}

static void take_wait(struct ct_size_floor *f, const struct ct_wait_rec *w, uint64_t q)
{
	struct ct_size_state *s = f->state;
	uint32_t waiter = context(w->waiter, (uint64_t)w->flags << 32 | w->via);
	uint32_t of = w->launch % LAUNCHES, before = w->after % LAUNCHES;
	int is_known = s->launches[of].id == w->launch;
	uint32_t what = is_known && !(w->flags & CT_WAIT_HOST) ? s->launches[of].what : waiter;
	uint64_t begin = w->begin_ns / q;
	uint64_t issued = w->issued_ns / q;
	uint64_t base = s->issued[waiter];
	uint64_t first = issued > s->reached[waiter] ? issued : s->reached[waiter];

	if (is_known && s->launches[of].left > base)
		base = s->launches[of].left;
	count(f, WAIT_ISSUED, what, (int64_t)(issued - base), 1);
	s->issued[waiter] = issued;
	if (!w->begin_ns)
		return;
	if (w->flags & CT_WAIT_HOST) {
		count(f, WAIT_BEGIN, what, (int64_t)(begin - issued), 1);
		return;
	}
	/* the nearest of what it may have waited for: which one it was is taken to be known */
	base = first;
	if (is_known && distance(s->launches[of].start, begin) < distance(base, begin))
		base = s->launches[of].start;
	if (s->launches[before].id == w->after &&
	    distance(s->launches[before].end, begin) < distance(base, begin))
		base = s->launches[before].end;
	count(f, WAIT_BEGIN, what, (int64_t)(begin - base), 0);
	count_error(f, WAIT_ERR, 0, w->begin_err_ns);
	s->reached[waiter] = begin;
}

static void take_host(struct ct_size_floor *f, const struct ct_host_rec *h, uint64_t q)
{
	struct ct_size_state *s = f->state;
	uint64_t *last = &s->thread[(h->tid + 2) % CT_SIZE_CONTEXTS];
	uint32_t what = context(h->call, h->comm);

	count(f, HOST_ENTER, what, (int64_t)(h->enter_ns / q - *last), 1);
	*last = h->enter_ns / q;
	count(f, HOST_DURATION, what, (int64_t)(h->return_ns / q - h->enter_ns / q), 1);
}

void ct_size_floor_block(struct ct_size_floor *f, const struct ct_block *b)
{
	uint64_t q = b->quantum_ns;

	for (uint32_t i = 0; i < b->n_ops; i++)
		take_op(f, &b->ops[i], q);
	for (uint32_t i = 0; i < b->n_launches; i++)
		take_launch(f, &b->launches[i], q);
	for (uint32_t i = 0; i < b->n_rares; i++) {
		struct ct_wait_rec wait;
		struct ct_host_rec host;

		if (b->rares[i].kind == CT_KIND_WAIT) {
			ct_rare_get(b, &b->rares[i], &wait, sizeof(wait));
			take_wait(f, &wait, q);
		} else if (b->rares[i].kind == CT_KIND_HOST_END) {
			ct_rare_get(b, &b->rares[i], &host, sizeof(host));
			take_host(f, &host, 1); /* they are in ns */
		}
	}
}

/* Entropy of one context's classes, with Miller's and Madow's correction for what a small sample
 * hides. */
static double bits_of(const uint32_t counts[CT_SIZE_CLASSES])
{
	double n = 0, bits = 0, classes = 0;

	for (int i = 0; i < CT_SIZE_CLASSES; i++)
		n += counts[i];
	for (int i = 0; i < CT_SIZE_CLASSES; i++)
		if (counts[i]) {
			bits -= counts[i] * log2(counts[i] / n);
			classes++;
		}
	return n > 0 ? bits + (classes - 1) / 2 / log(2) : 0;
}

static double field_bytes(const struct ct_size_floor *f, int field)
{
	double bits = f->low_bits[field];

	for (int c = 0; f->counts[field] && c < CT_SIZE_CONTEXTS; c++)
		bits += bits_of(f->counts[field][c]);
	return bits / 8;
}

double ct_size_floor_bytes(const struct ct_size_floor *f)
{
	double bytes = 0;

	for (int field = 0; field < CT_SIZE_FIELDS; field++)
		bytes += field_bytes(f, field);
	return bytes;
}

void ct_size_floor_print(const struct ct_size_floor *f, double n_ops)
{
	for (int field = 0; field < CT_SIZE_FIELDS; field++)
		if (f->n[field])
			printf("floor of %-16s %10llu %8.3f\n", field_names[field],
			       (unsigned long long)f->n[field], field_bytes(f, field) / n_ops);
}
