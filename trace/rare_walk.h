/* SPDX-License-Identifier: Apache-2.0 */
/* rare_walk.h — one walk over the fields of a frequent record for both directions (rare_code.h), so
 * that they cannot differ. Included once by the encoder and once by the decoder, each of which
 * defines CODER, its type, and before it includes this: number(), error(), residual()   put the
 * value that they are given and return it, or return the one they read; keep() stores it in the
 * record, or leaves that as it is. Inlined into each, field by field as rare_fields.def has them,
 * since a record has five of them. */
#ifndef CT_TRACE_RARE_WALK_H
#define CT_TRACE_RARE_WALK_H

#include <stddef.h>

#include "trace/rare_code.h"

/* The fields of a tuple that has just been added: the encoder has filled in what the decoder gets. */
static void code_tuple(struct ct_rare_tuple *t, CODER *coder)
{
	for (const struct ct_rare_field *f = ct_rare_fields((unsigned)t->kind); f->bytes; f++) {
		uint8_t *at = t->bytes + f->at;

		if (ct_rare_is_time(f))
			*at = number(coder, CT_COL_RARE_TUPLES, *at) != 0;
		if (f->coding != CT_RARE_SAME)
			continue;
		for (unsigned i = 0; i < f->n; i++, at += f->bytes)
			ct_rare_store(at, f->bytes,
				      number(coder, CT_COL_RARE_TUPLES,
					     ct_rare_load(at, f->bytes)));
	}
}

/* A record being coded. */
struct walk {
	struct ct_rare_model *m;
	struct ct_block_model *ops;
	const struct ct_block *b;
	struct ct_rare_state *s;
	uint8_t *payload;
	CODER *coder;
	uint32_t q;
	uint64_t time; /* coded last, quanta */
	/* Of a WAIT: what it names in the block, and the habits of waits for that. */
	const struct ct_launch_index *of;
	struct ct_habits *habits;
};

/* code: a record has five fields. What is done with each is known when this is compiled. */
#define INLINED __attribute__((always_inline)) static inline

static inline uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

INLINED uint64_t code_number(const struct walk *w, enum ct_column id, uint64_t v, uint64_t expected)
{
	const int64_t d = ct_wrap_sub(v, expected);

	return ct_wrap_add(expected, ct_unzigzag(number(w->coder, id, ct_zigzag(d))));
}

INLINED uint64_t code_time(const struct walk *w, enum ct_column id, uint64_t v, uint64_t expected)
{
	return ct_wrap_add(expected, residual(w->coder, id, ct_wrap_sub(v, expected)));
}

/* A time so long after another one, as is usual. */
INLINED uint64_t code_after(const struct walk *w, enum ct_column id, uint64_t v, uint64_t base,
			    int64_t *usual)
{
	v = code_time(w, id, v, ct_wrap_add(base, *usual));
	ct_learn(usual, ct_wrap_sub(v, base));
	return v;
}

/* Since the thread's last record of the kind. */
INLINED uint64_t code_clock(const struct walk *w, unsigned kind, uint64_t v, int64_t *usual)
{
	const unsigned tid_at = kind == CT_KIND_SUBMIT ? offsetof(struct ct_submit_rec, tid)
						       : offsetof(struct ct_host_rec, tid);
	uint64_t *clock = ct_rare_clock(w->m, kind, (uint32_t)ct_rare_load(w->payload + tid_at, 4));

	v = code_after(w, CT_COL_RARE_TIME, v, *clock, usual);
	*clock = v;
	return v;
}

/* A number in a WAIT. */
#define OF_WAIT(w, name)                                                                           \
	((uint32_t)ct_rare_load((w)->payload + offsetof(struct ct_wait_rec, name), 4))

INLINED int is_host(const struct walk *w)
{
	return OF_WAIT(w, flags) & CT_WAIT_HOST;
}

/* A wait is put on a stream after the one before it, and after the call that launched what it waits
 * for. */
INLINED uint64_t code_issue(struct walk *w, uint64_t v)
{
	uint64_t base = w->s->issued;

	if (w->of->op) {
		w->habits = ct_block_model_habits(w->ops, w->of);
		base = later_of(base, ct_quanta(w->b->ops[w->of->op - 1].return_ns, w->q));
	}
	v = code_after(w, CT_COL_RARE_TIME, v, base,
		       is_host(w) ? &w->s->habits.wait : &w->habits->wait);
	w->s->issued = v;
	return v;
}

/* A stream reaches a wait not before it was put there, nor before the last one; or when the launch
 * starts that it waits for; or when the one has ended that was waited for before. It is predicted
 * by what was nearest the last time. */
INLINED uint64_t code_reach(const struct walk *w, uint64_t v, int64_t *usual)
{
	const struct ct_launch *launches = w->b->launches;
	const struct ct_launch_index *before;
	uint64_t choices[3];
	uint64_t best = UINT64_MAX;

	if (is_host(w))
		return code_after(w, CT_COL_RARE_LATER, v, w->time, usual);
	before = ct_block_model_look(w->ops, OF_WAIT(w, after));
	choices[0] = choices[1] = choices[2] = later_of(w->time, w->s->reached);
	if (w->of->launch)
		choices[1] = later_of(choices[0],
				      ct_quanta(launches[w->of->launch - 1].start_ns, w->q));
	if (before->launch)
		choices[2] = later_of(choices[0],
				      ct_quanta(launches[before->launch - 1].end_ns, w->q));
	v = code_time(w, CT_COL_RARE_REACH, v, choices[w->habits->reach]);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t off = ct_zigzag(ct_wrap_sub(v, choices[i]));

		if (off < best) {
			best = off;
			w->habits->reach = i;
		}
	}
	w->s->reached = v;
	return v;
}

/* One element. */
INLINED uint64_t code_value(struct walk *w, unsigned kind, enum ct_rare_coding coding,
			    unsigned offset, uint64_t v)
{
	uint64_t *last = &w->s->last[offset / 4];
	int64_t *usual = (int64_t *)last;

	switch (coding) {
	case CT_RARE_NEXT:
		v = *last = code_number(w, CT_COL_RARE_VALUE, v, *last + 1);
		if (kind == CT_KIND_WAIT)
			w->of = ct_block_model_look(w->ops, (uint32_t)v);
		return v;
	case CT_RARE_LIKE:
		return *last = code_number(w, CT_COL_RARE_VALUE, v, *last);
	case CT_RARE_AFTER:
		return code_number(w, CT_COL_RARE_LINK, v,
				   w->s->last[offsetof(struct ct_wait_rec, launch) / 4]);
	case CT_RARE_ERROR:
		return error(w->coder, CT_COL_RARE_ERR, (uint32_t)v, w->q);
	case CT_RARE_TIME:
		v = ct_quanta(v, w->q);
		v = kind == CT_KIND_WAIT ? code_issue(w, v) : code_clock(w, kind, v, usual);
		w->time = v;
		break;
	case CT_RARE_LATER:
		v = code_after(w, CT_COL_RARE_LATER, ct_quanta(v, w->q), w->time, usual);
		w->time = v;
		break;
	case CT_RARE_REACH:
		v = code_reach(w, ct_quanta(v, w->q), usual);
		break;
	case CT_RARE_SAME:
	case CT_RARE_ZERO:
		return v;
	}
	v *= w->q;
	return v ? v : 1; /* 0 is not a time */
}

INLINED void code_field(struct walk *w, unsigned kind, enum ct_rare_coding coding, unsigned at,
			unsigned bytes, unsigned n)
{
	const int is_time = coding == CT_RARE_TIME || coding == CT_RARE_LATER ||
			    coding == CT_RARE_REACH;

	if (coding == CT_RARE_SAME || coding == CT_RARE_ZERO || (is_time && !w->s->tuple.bytes[at]))
		return;
	for (unsigned offset = at; offset < at + n * bytes; offset += bytes)
		keep(w->payload + offset, bytes,
		     code_value(w, kind, coding, offset, ct_rare_load(w->payload + offset, bytes)));
}

/* Readers pair begin and end of a call by its time, and one of them may be in a ring. */
INLINED uint32_t quantum_of(unsigned kind, const struct ct_block *b)
{
	return kind == CT_KIND_HOST_BEGIN || kind == CT_KIND_HOST_END ? 1 : b->quantum_ns;
}

/* The fields of a record of the tuple s that are not SAME, in a block whose operations and launches
 * are known as far as they are: payload is the whole record, or to the decoder where it goes. */
static inline void code_record(struct ct_rare_model *m, struct ct_block_model *ops,
			       const struct ct_block *b, struct ct_rare_state *s, uint8_t *payload,
			       CODER *coder)
{
	struct walk w = { m, ops, b, s, payload, coder, 0, 0, NULL, &s->habits };

	switch (s->tuple.kind) {
#define RECORD(KIND)                                                                               \
	case CT_KIND_##KIND: {                                                                     \
		enum { OF = CT_KIND_##KIND };                                                      \
		w.q = quantum_of(OF, b);
#define FIELD(record, name, size, how)                                                             \
	code_field(&w, OF, CT_RARE_##how, offsetof(struct record, name), size,                     \
		   sizeof(((struct record *)0)->name) / (size));
#define END                                                                                        \
	}                                                                                          \
	break;
#include "trace/rare_fields.def"
#undef RECORD
#undef FIELD
#undef END
	default:
		break;
	}
}

#endif
