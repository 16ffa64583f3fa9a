/* SPDX-License-Identifier: Apache-2.0 */
/* op_hash.h — what all members of a communicator must agree on in a collective, as one number.
 *
 * The one definition of it: the recorder writes sums of these numbers (order_totals.h), and the
 * analysis compares its own with them, so a change is a change of the format. Pure functions; any
 * thread. */
#ifndef CT_TRACE_OP_HASH_H
#define CT_TRACE_OP_HASH_H

#include <stdint.h>

#include "trace/mix.h"
#include "trace/ops.h"

/* What has to be equal, by operation. */
enum ct_op_equal {
	CT_EQUAL_SIZE = 1,
	CT_EQUAL_REDOP = 2,
	CT_EQUAL_ROOT = 4,
	CT_EQUAL_UNKNOWN = 8, /* a graph, whose operations are not listed */
};

/* Of an operation; bits of enum ct_op_equal. A table, since every operation of a run uses it. */
static inline unsigned ct_op_equal(uint8_t op)
{
	static const uint8_t equal[256] = {
		[CT_OP_AllReduce] = CT_EQUAL_SIZE | CT_EQUAL_REDOP,
		[CT_OP_Reduce] = CT_EQUAL_SIZE | CT_EQUAL_REDOP | CT_EQUAL_ROOT,
		[CT_OP_ReduceScatter] = CT_EQUAL_SIZE | CT_EQUAL_REDOP,
		[CT_OP_Broadcast] = CT_EQUAL_SIZE | CT_EQUAL_ROOT,
		[CT_OP_AllGather] = CT_EQUAL_SIZE,
		[CT_OP_Gather] = CT_EQUAL_ROOT,
		[CT_OP_Scatter] = CT_EQUAL_ROOT,
		[CT_OP_GraphLaunch] = CT_EQUAL_UNKNOWN,
	};

	return equal[op];
}

/* A collective as one member called it. */
struct ct_op_called {
	uint64_t bytes; /* count times size of an element; UINT64_MAX unknown */
	int32_t root;	/* -1 none */
	uint8_t op, dtype, redop;
	uint8_t varying; /* counts may differ between members: call_name.h */
};

/* Equal for two members that agree; legitimate differences do not count. */
static inline uint64_t ct_op_hash(const struct ct_op_called *c)
{
	const unsigned equal = ct_op_equal(c->op);
	uint64_t what = (uint64_t)c->op << 56 | (uint64_t)c->dtype << 48 | (uint64_t)c->redop << 40;

	if (equal & CT_EQUAL_ROOT)
		what |= (uint32_t)c->root;
	if (equal & CT_EQUAL_SIZE && !c->varying && c->bytes != UINT64_MAX)
		what ^= c->bytes * 0xd6e8feb86659fd93ull;
	return what;
}

/* What `what` adds, modulo 2^64, to the sum of what a member called, as number `seq`. Sums do not
 * depend on the order of records. */
static inline uint64_t ct_op_hash_at(uint64_t seq, uint64_t what)
{
	return ct_mix(what + seq * CT_GOLDEN);
}

#endif
