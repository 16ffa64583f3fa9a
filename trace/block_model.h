/* SPDX-License-Identifier: Apache-2.0 */
/* block_model.h — what the coder of a block predicts, shared by both directions so that they cannot differ.
 *
 * Ops repeat: a training step issues the same few calls again and again. A tuple holds all of an op that
 * repeats; an op names its tuple, and its times are coded as the difference from what the tuple's last op did.
 * Metadata then costs next to nothing and the file is timing noise. All arithmetic wraps: damaged input gives
 * wrong numbers, never undefined behaviour. A model serves one block; reset it for the next.
 */
#ifndef CT_TRACE_BLOCK_MODEL_H
#define CT_TRACE_BLOCK_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "trace/block_map.h"
#include "trace/ops.h"
#include "trace/record.h"

/* 32 bytes without padding: compared and hashed as bytes. */
struct ct_op_tuple {
	uint64_t count; /* 0 for point-to-point, whose counts do not repeat */
	uint32_t comm;
	uint32_t site;
	uint32_t tag;
	int32_t peer;
	uint16_t call;
	int16_t result;
	uint8_t op;
	uint8_t dtype;
	uint8_t redop;
	uint8_t flags;
};
_Static_assert(sizeof(struct ct_op_tuple) == 32, "no padding");

struct ct_launch_tuple {
	uint32_t comm;
	uint32_t stream;
	uint32_t device;
	uint32_t n_ops;
	int16_t result;
	uint8_t start_source;
	uint8_t end_source;
	uint8_t has_start;
	uint8_t has_end;
	uint16_t zero;
};
_Static_assert(sizeof(struct ct_launch_tuple) == 24, "no padding");

/* What launches and waits for them usually do, predicted by the tuple of a launch's first op: quanta. */
struct ct_habits {
	int64_t start;	  /* after the earliest moment possible */
	int64_t duration; /* of the launch */
	int64_t wait;	  /* when one is put on a stream, after the stream's last one and the op */
	uint32_t reach; /* what the moment was nearest to in which a stream reached it (rare_code.h) */
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
	struct ct_block_map enter_by_launch; /* launch id -> index of its first op in the block */
};

/* Empty the model and make room for a block of `records`. 0 or CT_NOMEM. */
int ct_block_model_reset(struct ct_block_model *model, uint32_t records);
void ct_block_model_fini(struct ct_block_model *model);

/* The tuple of an op or launch. */
static inline void ct_op_tuple(const struct ct_op *op, struct ct_op_tuple *t)
{
	*t = (struct ct_op_tuple){
		.count = ct_op_class(op->op) == CT_CLASS_P2P ? 0 : op->count,
		.comm = op->comm,
		.site = op->site,
		.tag = op->tag,
		.peer = op->peer,
		.call = op->call,
		.result = op->result,
		.op = op->op,
		.dtype = op->dtype,
		.redop = op->redop,
		.flags = (uint8_t)(op->flags & ~CT_OP_UNRETURNED) |
			 (op->return_ns ? 0 : CT_OP_UNRETURNED),
	};
}

static inline void ct_launch_tuple(const struct ct_launch *l, struct ct_launch_tuple *t)
{
	*t = (struct ct_launch_tuple){
		.comm = l->comm,
		.stream = l->stream,
		.device = l->device,
		.n_ops = l->n_ops,
		.result = l->result,
		.start_source = l->start_source,
		.end_source = l->end_source,
		.has_start = l->start_ns != 0,
		.has_end = l->end_ns != 0,
	};
}

/* Index of the tuple, added (at the end) if it is new; the caller's last one was `before`. Calls come in the same order again
 * and again: what came after it the last time is looked at first. Encoder. */
uint32_t ct_block_model_find_op(struct ct_block_model *model, const struct ct_op_tuple *tuple,
				uint32_t before);
uint32_t ct_block_model_find_launch(struct ct_block_model *model,
				    const struct ct_launch_tuple *tuple, uint32_t before);

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

/* Moves a prediction towards what was: a quarter of the way, so that it follows drift, but by no more than a quarter of itself
 * and 8, so that one outlier does not spoil it. Quarters are rounded down. */
static inline void ct_learn(int64_t *predicted, int64_t value)
{
	int64_t p = *predicted;
	int64_t step = (int64_t)((uint64_t)value - (uint64_t)p) >> 2;
	int64_t most = ((p < 0 ? ~p : p) >> 2) + 8;

	step = step > most ? most : step;
	step = step < -most ? -most : step;
	*predicted = p ? (int64_t)((uint64_t)p + (uint64_t)step) : value;
}

/* What is usual of launches like the one whose first op has this place in the block. */
static inline struct ct_habits *ct_block_model_habits(struct ct_block_model *model, int64_t op)
{
	return &model->ops[model->tuple_of[op]].habits;
}

/* Remember the first op of each launch: `index` is the op's place in the block. */
static inline void ct_block_model_note_launch(struct ct_block_model *m, uint32_t launch,
					      uint32_t index)
{
	ct_block_map_note(&m->enter_by_launch, launch, index);
}

/* Place in the block of the launch's first op, or -1. */
static inline int64_t ct_block_model_first_op(const struct ct_block_model *m, uint32_t launch)
{
	return ct_block_map_find(&m->enter_by_launch, launch);
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
