/* SPDX-License-Identifier: Apache-2.0 */
/* rare_code.h — the columns of frequent records other than operations and launches
 * (rare_fields.def): one walk over a record's fields for both directions, so that they cannot
 * differ. A model serves one block, one thread. All arithmetic wraps.
 *
 * A record is its tuple, which holds what repeats, and for each other field the difference from
 * what the tuple, the thread or the launch make probable. Records of one kind that follow each
 * other are a run in column RARES, which keeps the order among all kinds. */
#ifndef CT_TRACE_RARE_CODE_H
#define CT_TRACE_RARE_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/block.h"
#include "trace/block_model.h"

#define CT_RARE_BYTES 56u /* fact: of a record that is a ring slot, behind its tag */

enum ct_rare_coding {
	CT_RARE_SAME,
	CT_RARE_TIME,
	CT_RARE_LATER,
	CT_RARE_REACH,
	CT_RARE_NEXT,
	CT_RARE_LIKE,
	CT_RARE_AFTER,
	CT_RARE_ERROR,
	CT_RARE_ZERO
};

/* n elements of so many bytes, from this offset on */
struct ct_rare_field {
	uint8_t coding, at, bytes, n;
};

#define CT_RARE_KINDS 16u  /* size: ids of records that are one slot are below it (kinds.def) */
#define CT_RARE_FIELDS 14u /* size: the longest list has 13, and one without bytes ends it */

/* What repeats: the record with its other fields 0, and its times 1 where there is one. */
struct ct_rare_tuple {
	uint64_t kind;
	uint8_t bytes[CT_RARE_BYTES];
};

struct ct_rare_state {
	struct ct_rare_tuple tuple;
	/* By a field's offset: its last value; of a time, what is usual after the one before it,
	 * quanta. */
	uint64_t last[CT_RARE_BYTES / 4];
	uint64_t issued, reached; /* of the last wait, quanta */
	struct ct_habits habits;  /* of waits for a launch whose op is in another block */
	uint32_t after;		  /* the tuple that came after it the last time: encoder only */
};

struct ct_rare_model {
	struct ct_rare_state *states;
	uint64_t *clocks; /* of a thread's last record of a kind, quanta */
	uint32_t n, n_clocks, cap;
	struct ct_block_map by_tuple; /* encoder only */
	struct ct_block_map clock_by_thread;
};

/* Empty the model, for a block of `records` such records. 0 or CT_NOMEM. */
int ct_rare_model_reset(struct ct_rare_model *model, uint32_t records);
void ct_rare_model_fini(struct ct_rare_model *model);

/* Finds the tuple of a record and adds it at the end if it is new: *t is its index, and was that of
 * the caller's last one, after which it came. 0: the record is to be stored whole. Encoder. */
int ct_rare_search(struct ct_rare_model *model, unsigned kind, const uint8_t *payload, size_t len,
		   uint32_t *t);

/* The next one, empty, of this kind. Decoder; the caller keeps the number below `cap`. */
struct ct_rare_state *ct_rare_add(struct ct_rare_model *model, unsigned kind);

/* The kind has columns. */
int ct_rare_has_columns(unsigned kind);

/* Errors as classes of eight steps an octave, rounded up: they are upper bounds, and their low bits
 * noise. What is below 16 is its own class; the class of anything else is the one after that of the
 * error less 1, rounded down. */
static inline uint8_t ct_err_class(uint32_t err)
{
	unsigned shift;

	if (err < 16)
		return (uint8_t)err;
	shift = (31u ^ (unsigned)__builtin_clz(err - 1)) - 3;
	return (uint8_t)(8 * shift + ((err - 1) >> shift) + 1);
}

static inline uint32_t ct_err_of_class(uint8_t c)
{
	uint64_t err = c < 16 ? c : (8ull + c % 8) << (c / 8 - 1);

	return err < UINT32_MAX ? (uint32_t)err : UINT32_MAX;
}

/* Where the thread's last record of the kind was, quanta. */
uint64_t *ct_rare_clock(struct ct_rare_model *model, unsigned kind, uint32_t tid);

/* The fields of the kind, ended by one of 0 bytes. */
const struct ct_rare_field *ct_rare_fields(unsigned kind);

static inline int ct_rare_is_time(const struct ct_rare_field *f)
{
	return f->coding == CT_RARE_TIME || f->coding == CT_RARE_LATER ||
	       f->coding == CT_RARE_REACH;
}

static inline uint64_t ct_rare_load(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	if (bytes == 8)
		memcpy(&v, p, 8);
	else if (bytes == 4)
		memcpy(&v, p, 4);
	else
		v = *p;
	return v;
}

static inline void ct_rare_store(uint8_t *p, unsigned bytes, uint64_t v)
{
	if (bytes == 8)
		memcpy(p, &v, 8);
	else if (bytes == 4)
		memcpy(p, &v, 4);
	else
		*p = (uint8_t)v;
}

/* What a field adds to the doubt that a record has this tuple, whose byte for it is *of_tuple: 0
 * nothing. */
__attribute__((always_inline)) static inline uint64_t ct_rare_differ(enum ct_rare_coding coding,
								     const uint8_t *p,
								     const uint8_t *of_tuple,
								     unsigned bytes, unsigned n)
{
	uint64_t differ = 0;

	if (coding == CT_RARE_TIME || coding == CT_RARE_LATER || coding == CT_RARE_REACH)
		return (uint64_t)(ct_rare_load(p, 8) != 0) ^ *of_tuple;
	if (coding == CT_RARE_SAME || coding == CT_RARE_ZERO)
		for (unsigned i = 0; i < n * bytes; i += bytes)
			differ |= ct_rare_load(p + i, bytes) ^ ct_rare_load(of_tuple + i, bytes);
	return differ;
}

/* The record has this tuple, which has 0 in its ZERO fields. Inlined for each kind. */
static inline int ct_rare_is(const struct ct_rare_tuple *t, unsigned kind, const uint8_t *payload)
{
	uint64_t differ = t->kind ^ kind;

	switch (kind) {
#define RECORD(KIND) case CT_KIND_##KIND:
#define FIELD(record, name, size, how)                                                             \
	differ |= ct_rare_differ(CT_RARE_##how, payload + offsetof(struct record, name),           \
				 t->bytes + offsetof(struct record, name), size,                   \
				 sizeof(((struct record *)0)->name) / (size));
#define END break;
#include "trace/rare_fields.def"
#undef RECORD
#undef FIELD
#undef END
	default:
		return 0;
	}
	return !differ;
}

/* As ct_rare_search(). Records come in the same order again and again: what came after the last one
 * the last time is looked at first. */
static inline int ct_rare_find(struct ct_rare_model *m, unsigned kind, const uint8_t *payload,
			       size_t len, uint32_t *t)
{
	if (*t >= m->n || len != CT_RARE_BYTES ||
	    !ct_rare_is(&m->states[m->states[*t].after].tuple, kind, payload))
		return ct_rare_search(m, kind, payload, len, t);
	*t = m->states[*t].after;
	return 1;
}

#endif
