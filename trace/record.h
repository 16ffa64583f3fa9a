/* SPDX-License-Identifier: Apache-2.0 */
/* record.h — records as both sides hold them in memory, and their packing into ring slots.
 *
 * Plain values without owner. ct_op_pack/ct_op_unpack and the launch pair are the only functions
 * that know which bits of which slot word hold what (format_ring.h names the words).
 */
#ifndef CT_TRACE_RECORD_H
#define CT_TRACE_RECORD_H

#include <stdint.h>

#include "trace/format.h"

/* One data-moving call on one rank, its host half. Members are in the order in which they share
 * words of the slot, and those that repeat from call to call come last (block_model.h): they are
 * copied and compared as words. */
struct ct_op {
	uint64_t enter_ns;
	uint64_t return_ns; /* 0 = had not returned */
	uint64_t count;	    /* elements as passed to the call */
	uint64_t seq;	    /* within its comm; point-to-point: within (comm, src, dst, tag) */
	uint32_t launch;    /* launch id, 0 = the call itself is the span */
	uint32_t tid;	    /* thread that called */
	uint8_t flags;	    /* enum ct_op_flag */
	uint8_t redop;	    /* redops.def, 0 unknown or none */
	uint8_t dtype;	    /* dtypes.def, 0 unknown or none */
	uint8_t op;	    /* ops.def */
	uint32_t comm;	    /* process-local id of struct ct_comm_rec */
	int32_t peer;	    /* peer (Send, Recv) or root in the comm, -1 none */
	uint32_t tag;	    /* point-to-point only */
	uint32_t site;	    /* string id of the call site, 0 unknown */
	int16_t result;	    /* the library's, or CT_RESULT_EXCEPTION; meaningless until returned */
	uint16_t call;	    /* string id of the function's name */
};

/* Elements of the call; UINT64_MAX: unknown, and ct_op_total_bytes() is UINT64_MAX as well. */
static inline uint64_t ct_op_count(const struct ct_op *op)
{
	return op->flags & CT_OP_UNSIZED ? UINT64_MAX : op->count;
}

/* The span of what one outermost group end put on one stream of one comm, or of one call that
 * returns before its work is done. */
struct ct_launch {
	uint64_t start_ns; /* 0 = not measured */
	uint64_t end_ns;   /* 0 = not measured */
	uint32_t id;	   /* per process, from 1 */
	uint32_t comm;
	uint32_t end_err_ns;
	uint32_t start_err_ns;
	uint32_t device;
	uint32_t stream;
	uint8_t end_source; /* enum ct_source */
	uint8_t start_source;
	int16_t result;
	uint32_t n_ops;
};

/* fact: the longest duration of an op slot: 48 bits of ns, 78 hours; longer calls are cut to it. */
#define CT_OP_MAX_DURATION_NS ((1ull << 48) - 2)

static inline uint64_t ct_op_end_word(uint64_t enter_ns, uint64_t return_ns, int result)
{
	uint64_t duration = return_ns - enter_ns;

	if (__builtin_expect(duration > CT_OP_MAX_DURATION_NS, 0))
		duration = return_ns > enter_ns ? CT_OP_MAX_DURATION_NS : 0;
	return (duration + 1) << 16 | (uint16_t)result;
}

/* The words of an op that has just been entered; w[0] (the tag) and w[7] (the end) are left to the
 * caller. */
static inline void ct_op_pack(const struct ct_op *op, uint64_t w[8])
{
	w[CT_OP_W_ENTER] = op->enter_ns;
	w[CT_OP_W_COUNT] = op->count;
	w[CT_OP_W_WHAT] = (uint64_t)op->comm << 32 | (uint64_t)op->op << 24 |
			  (uint64_t)op->dtype << 16 | (uint64_t)op->redop << 8 | op->flags;
	w[CT_OP_W_SEQ] = op->seq;
	w[CT_OP_W_PEER] = (uint64_t)op->tag << 32 | (uint32_t)op->peer;
	w[CT_OP_W_LINK] = (uint64_t)op->site << 32 | op->launch;
}

static inline void ct_op_unpack(const uint64_t w[8], struct ct_op *op)
{
	op->enter_ns = w[CT_OP_W_ENTER];
	op->return_ns = w[CT_OP_W_END] ? op->enter_ns + (w[CT_OP_W_END] >> 16) - 1 : 0;
	op->count = w[CT_OP_W_COUNT];
	op->seq = w[CT_OP_W_SEQ];
	op->launch = (uint32_t)w[CT_OP_W_LINK];
	op->tid = 0;
	op->flags = (uint8_t)w[CT_OP_W_WHAT];
	op->redop = (uint8_t)(w[CT_OP_W_WHAT] >> 8);
	op->dtype = (uint8_t)(w[CT_OP_W_WHAT] >> 16);
	op->op = (uint8_t)(w[CT_OP_W_WHAT] >> 24);
	op->comm = (uint32_t)(w[CT_OP_W_WHAT] >> 32);
	op->peer = (int32_t)(uint32_t)w[CT_OP_W_PEER];
	op->tag = (uint32_t)(w[CT_OP_W_PEER] >> 32);
	op->site = (uint32_t)(w[CT_OP_W_LINK] >> 32);
	op->result = (int16_t)(uint16_t)w[CT_OP_W_END];
	op->call = CT_TAG_CALL(w[0]);
}

static inline void ct_launch_pack(const struct ct_launch *l, uint64_t w[8])
{
	w[CT_LAUNCH_W_START] = l->start_ns;
	w[CT_LAUNCH_W_END] = l->end_ns;
	w[CT_LAUNCH_W_ID] = (uint64_t)l->comm << 32 | l->id;
	w[CT_LAUNCH_W_WHERE] = (uint64_t)l->stream << 32 | l->device;
	w[CT_LAUNCH_W_ERR] = (uint64_t)l->start_err_ns << 32 | l->end_err_ns;
	w[CT_LAUNCH_W_HOW] = (uint64_t)l->n_ops << 32 | (uint64_t)(uint16_t)l->result << 16 |
			     (uint64_t)l->start_source << 8 | l->end_source;
	w[CT_LAUNCH_W_SPARE] = 0;
}

static inline void ct_launch_unpack(const uint64_t w[8], struct ct_launch *l)
{
	l->start_ns = w[CT_LAUNCH_W_START];
	l->end_ns = w[CT_LAUNCH_W_END];
	l->id = (uint32_t)w[CT_LAUNCH_W_ID];
	l->comm = (uint32_t)(w[CT_LAUNCH_W_ID] >> 32);
	l->end_err_ns = (uint32_t)w[CT_LAUNCH_W_ERR];
	l->start_err_ns = (uint32_t)(w[CT_LAUNCH_W_ERR] >> 32);
	l->device = (uint32_t)w[CT_LAUNCH_W_WHERE];
	l->stream = (uint32_t)(w[CT_LAUNCH_W_WHERE] >> 32);
	l->end_source = (uint8_t)w[CT_LAUNCH_W_HOW];
	l->start_source = (uint8_t)(w[CT_LAUNCH_W_HOW] >> 8);
	l->result = (int16_t)(uint16_t)(w[CT_LAUNCH_W_HOW] >> 16);
	l->n_ops = (uint32_t)(w[CT_LAUNCH_W_HOW] >> 32);
}

#endif
