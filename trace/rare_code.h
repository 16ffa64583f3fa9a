/* SPDX-License-Identifier: Apache-2.0 */
/* rare_code.h — the columns of frequent records other than operations and launches (rare_fields.def): one walk over
 * a record's fields for both directions, so that they cannot differ. A model serves one block, one thread. All arithmetic
 * wraps.
 *
 * A record is its tuple, which holds what repeats, and for each other field the difference from what the tuple, the thread or
 * the launch make probable. Records of one kind that follow each other are a run in column RARES, which keeps the order
 * among all kinds. */
#ifndef CT_TRACE_RARE_CODE_H
#define CT_TRACE_RARE_CODE_H

#include <stdint.h>
#include <string.h>

#include "trace/block.h"
#include "trace/block_model.h"

#define CT_RARE_BYTES 56u /* of a record that is a ring slot */

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

/* n elements of so many bytes, from this place on */
struct ct_rare_field {
	uint8_t coding, at, bytes, n;
};

enum { CT_RARE_KINDS = 16, CT_RARE_FIELDS = 14 };

/* The same by what is done with them: the bytes that belong to the tuple, and those that have to be 0. Each model has its
 * own. */
struct ct_rare_plan {
	uint64_t same[CT_RARE_BYTES / 8], zero[CT_RARE_BYTES / 8];
	uint8_t times[4], n_times; /* their places */
	uint8_t tid_at;
};

/* What repeats: the record with its other fields 0, and its times 1 where there is one. */
struct ct_rare_tuple {
	uint64_t kind;
	uint8_t bytes[CT_RARE_BYTES];
};

struct ct_rare_state {
	struct ct_rare_tuple tuple;
	/* By a field's place: its last value; of a time, what is usual after the one before it, quanta. */
	uint64_t last[CT_RARE_BYTES / 4];
	uint64_t issued, reached; /* of the last wait, quanta */
	struct ct_habits habits;  /* of waits for a launch whose op is in another block */
	uint32_t after;		  /* the tuple that came after it the last time: encoder only */
};

struct ct_rare_model {
	struct ct_rare_plan *plans; /* by kind */
	struct ct_rare_state *states;
	uint64_t *clocks; /* of a thread's last record of a kind, quanta */
	uint32_t n, n_clocks, cap;
	struct ct_block_map by_tuple; /* encoder only */
	struct ct_block_map clock_by_thread;
	struct ct_block_map launch_by_id; /* -> place of the launch in the block */
};

/* Empty the model, for a block of `records` such records and these launches. 0 or CT_NOMEM. */
int ct_rare_model_reset(struct ct_rare_model *model, uint32_t records, uint32_t launches);
void ct_rare_model_fini(struct ct_rare_model *model);

/* The launches of the block, which a WAIT names; not called, it names none that is known. */
void ct_rare_model_launches(struct ct_rare_model *model, const struct ct_block *block);

/* The tuple of a record that has columns: 1; 0: it is to be stored whole. */
int ct_rare_tuple(const struct ct_rare_model *model, unsigned kind, const uint8_t *payload,
		  size_t len, struct ct_rare_tuple *tuple);

/* Index of the tuple, added at the end if it is new; the caller's last one was `before`. Encoder. */
uint32_t ct_rare_find(struct ct_rare_model *model, const struct ct_rare_tuple *tuple,
		      uint32_t before);

/* The next one, empty, of this kind. Decoder; the caller keeps the number below `cap`. */
struct ct_rare_state *ct_rare_add(struct ct_rare_model *model, unsigned kind);

/* The kind has columns. */
int ct_rare_has_columns(unsigned kind);

/* Errors as classes of eight steps an octave, rounded up: they are upper bounds, and their low bits noise. */
static inline uint8_t ct_err_class(uint32_t err)
{
	unsigned top = err ? 31u - (unsigned)__builtin_clz(err) : 0;

	if (top < 4)
		return (uint8_t)err;
	return (uint8_t)(16 + (top - 4) * 8 + (err >> (top - 3) & 7) +
			 ((err & ((1u << (top - 3)) - 1)) != 0));
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

#endif
