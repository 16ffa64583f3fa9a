/* SPDX-License-Identifier: Apache-2.0 */
/* block_model.h — what the coder of a block predicts, shared by both directions so that they cannot
 * differ.
 *
 * Ops repeat: a training step issues the same few calls again and again. A tuple holds all of an op
 * that repeats; an op names its tuple, and its times are coded as the difference from what the
 * tuple's last op did. Metadata then costs next to nothing and the file is timing noise. All
 * arithmetic wraps: damaged input gives wrong numbers, never undefined behaviour. A model serves
 * one block; reset it for the next.
 */
#ifndef CT_TRACE_BLOCK_MODEL_H
#define CT_TRACE_BLOCK_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "trace/block.h"
#include "trace/block_map.h"
#include "trace/ops.h"
#include "trace/record.h"

/* What repeats of an op: the end of struct ct_op, behind the count. No padding: compared and hashed
 * as bytes. */
struct ct_op_tuple {
	uint64_t count; /* 0 for point-to-point, whose counts do not repeat */
	uint8_t flags;
	uint8_t redop;
	uint8_t dtype;
	uint8_t op;
	uint32_t comm;
	int32_t peer;
	uint32_t tag;
	uint32_t site;
	int16_t result;
	uint16_t call;
};
#define CT_OP_REPEATS (sizeof(struct ct_op_tuple) - offsetof(struct ct_op_tuple, flags))
_Static_assert(sizeof(struct ct_op) - offsetof(struct ct_op, flags) == CT_OP_REPEATS,
	       "as in the op");
_Static_assert(offsetof(struct ct_op, call) - offsetof(struct ct_op, flags) ==
		       offsetof(struct ct_op_tuple, call) - offsetof(struct ct_op_tuple, flags),
	       "as in the op");

/* Likewise of a launch: its end, and what else repeats. */
struct ct_launch_tuple {
	uint32_t device;
	uint32_t stream;
	uint8_t end_source;
	uint8_t start_source;
	int16_t result;
	uint32_t n_ops;
	uint32_t comm;
	uint32_t has; /* bits: 1 a start, 2 an end */
};
#define CT_LAUNCH_REPEATS offsetof(struct ct_launch_tuple, comm)
_Static_assert(sizeof(struct ct_launch) - offsetof(struct ct_launch, device) == CT_LAUNCH_REPEATS,
	       "as in the launch");
_Static_assert(offsetof(struct ct_launch, n_ops) - offsetof(struct ct_launch, device) ==
		       offsetof(struct ct_launch_tuple, n_ops),
	       "as in the launch");
enum { CT_LAUNCH_HAS_START = 1, CT_LAUNCH_HAS_END = 2 };

/* What launches and waits for them usually do, predicted by the tuple of a launch's first op:
 * quanta. */
struct ct_habits {
	int64_t start;	  /* after the earliest moment possible */
	int64_t duration; /* of the launch */
	int64_t wait;	  /* when one is put on a stream, after the stream's last one and the op */
	uint32_t reach; /* what the moment was nearest to in which a stream reached it (rare_code.h)
			 */
};

/* What the block has of a launch id: indices + 1, 0 nothing. */
struct ct_launch_index {
	uint32_t op;	 /* the first that belongs to it */
	uint32_t launch; /* its record, the first if there are several */
};

struct ct_block_model {
	struct ct_op_state {
		struct ct_op_tuple tuple;
		int64_t gap;	   /* predicted time since the thread's last op, quanta */
		int64_t duration;  /* predicted, quanta */
		uint32_t sequence; /* index into next_seq */
		uint32_t after;	   /* the tuple that came after it the last time: encoder only */
		struct ct_habits habits;
	} * ops;
	struct ct_launch_state {
		struct ct_launch_tuple tuple;
		struct ct_habits habits; /* of those whose op is in another block */
		uint32_t stream;	 /* index into stream_end */
		uint32_t after;		 /* as above */
	} * launches;
	uint32_t *tuple_of;    /* by op: its tuple */
	uint64_t *next_seq;    /* per comm; point-to-point: per tuple */
	uint64_t *thread_last; /* enter of the thread's last op, quanta */
	uint64_t *stream_end;  /* end of the stream's last launch, quanta */
	uint32_t n_ops, n_launches, n_seqs, n_threads, n_streams;
	uint32_t cap;			 /* of each of the arrays above: records in the block + 1 */
	struct ct_block_map op_by_tuple; /* by hash: encoder only */
	struct ct_block_map launch_by_tuple;
	struct ct_block_map seq_by_comm;
	struct ct_block_map thread_by_tid;
	struct ct_block_map stream_by_id;
	struct ct_block_map index_by_launch; /* launch id -> index into launch_index */
	struct ct_launch_index *launch_index;
	uint32_t n_launch_index;
};

/* Empty the model and make space for a block of `records`. 0 or CT_NOMEM. */
int ct_block_model_reset(struct ct_block_model *model, uint32_t records);
void ct_block_model_fini(struct ct_block_model *model);

static inline uint32_t ct_launch_has(const struct ct_launch *l)
{
	return (l->start_ns ? CT_LAUNCH_HAS_START : 0) | (l->end_ns ? CT_LAUNCH_HAS_END : 0);
}

/* It has this tuple. */
static inline int ct_op_is(const struct ct_op *op, const struct ct_op_tuple *t)
{
	return ct_block_map_are_equal(&op->flags, &t->flags, CT_OP_REPEATS) &&
	       (op->count == t->count || ct_op_class(op->op) == CT_CLASS_P2P);
}

static inline int ct_launch_is(const struct ct_launch *l, const struct ct_launch_tuple *t)
{
	return ct_block_map_are_equal(&l->device, t, CT_LAUNCH_REPEATS) && l->comm == t->comm &&
	       ct_launch_has(l) == t->has;
}

/* Index of the tuple, added (at the end) if it is new; the caller's last one was `before`, whose
 * `after` it becomes. Encoder. */
uint32_t ct_block_model_search_op(struct ct_block_model *model, const struct ct_op *op,
				  uint32_t before);
uint32_t ct_block_model_search_launch(struct ct_block_model *model, const struct ct_launch *launch,
				      uint32_t before);

/* The same. Calls come in the same order again and again: what came after it the last time is
 * looked at first. */
static inline uint32_t ct_block_model_find_op(struct ct_block_model *m, const struct ct_op *op,
					      uint32_t before)
{
	if (before < m->n_ops && ct_op_is(op, &m->ops[m->ops[before].after].tuple))
		return m->ops[before].after;
	return ct_block_model_search_op(m, op, before);
}

static inline uint32_t ct_block_model_find_launch(struct ct_block_model *m,
						  const struct ct_launch *launch, uint32_t before)
{
	if (before < m->n_launches &&
	    ct_launch_is(launch, &m->launches[m->launches[before].after].tuple))
		return m->launches[before].after;
	return ct_block_model_search_launch(m, launch, before);
}

/* Add a tuple at the end. Decoder; the caller keeps the number below `cap`. */
void ct_block_model_add_op(struct ct_block_model *model, const struct ct_op_tuple *tuple);
void ct_block_model_add_launch(struct ct_block_model *model, const struct ct_launch_tuple *tuple);

/* Where the thread's last op entered. */
uint64_t *ct_block_model_thread(struct ct_block_model *model, uint32_t tid);

/* Sequence number that the next op of this tuple should have. */
static inline uint64_t *ct_block_model_seq(struct ct_block_model *m, uint32_t op_tuple)
{
	return &m->next_seq[m->ops[op_tuple].sequence];
}

/* Moves a prediction towards what was: a quarter of the way, so that it follows drift, but by no
 * more than a quarter of itself and 8, so that one outlier does not spoil it. Quarters are rounded
 * down. */
static inline void ct_learn(int64_t *predicted, int64_t value)
{
	int64_t p = *predicted;
	int64_t step = (int64_t)((uint64_t)value - (uint64_t)p) >> 2;
	int64_t most = ((p < 0 ? ~p : p) >> 2) + 8;

	step = step > most ? most : step;
	step = step < -most ? -most : step;
	*predicted = p ? (int64_t)((uint64_t)p + (uint64_t)step) : value;
}

/* Of a launch id, made if it is new. */
static inline struct ct_launch_index *ct_block_model_index(struct ct_block_model *m,
							   uint32_t launch)
{
	uint32_t before = m->n_launch_index;
	uint32_t n = ct_block_map_number(&m->index_by_launch, launch, &m->n_launch_index);

	if (m->n_launch_index != before)
		m->launch_index[n] = (struct ct_launch_index){ 0, 0 };
	return &m->launch_index[n];
}

/* The same; one without anything if it is new. */
static inline const struct ct_launch_index *ct_block_model_look(const struct ct_block_model *m,
								uint32_t launch)
{
	static const struct ct_launch_index none;
	const int64_t n = ct_block_map_find(&m->index_by_launch, launch);

	return n < 0 ? &none : &m->launch_index[n];
}

/* What is usual of launches like that one whose first op is at this index. */
static inline struct ct_habits *ct_block_model_habits(const struct ct_block_model *model,
						      const struct ct_launch_index *index)
{
	return &model->ops[model->tuple_of[index->op - 1]].habits;
}

/* A time in quanta. Nearly all blocks have the usual one, and dividing by what is not known takes
 * long. */
static inline uint64_t ct_quanta(uint64_t ns, uint32_t q)
{
	return q == CT_BLOCK_QUANTUM_NS ? ns / CT_BLOCK_QUANTUM_NS : ns / q;
}

static inline int64_t ct_wrap_sub(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

static inline uint64_t ct_wrap_add(uint64_t a, int64_t b)
{
	return a + (uint64_t)b;
}

static inline uint64_t ct_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t ct_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

#endif
