/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/traffic/flow.h"

#include "trace/ops.h"

uint64_t ct_flow_plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

uint64_t ct_flow_times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) || product > INT64_MAX ? INT64_MAX : product;
}

/* ---- one call ---- */

static enum ct_flow_taken add(struct ct_flow *flow, enum ct_flow_shape shape,
			      const struct ct_flow_op *op, uint64_t of_each)
{
	struct ct_flow_sum *sum = &flow->sums[shape];
	uint64_t bytes = ct_flow_times(ct_flow_times(op->bytes, of_each), op->times);

	sum->bytes = ct_flow_plus(sum->bytes, bytes);
	sum->n = ct_flow_plus(sum->n, op->times);
	return CT_FLOW_TAKEN;
}

/* Down the chain that begins with the root and ends before it. */
static enum ct_flow_taken broadcast(struct ct_flow *flow, uint32_t n, uint32_t me,
				    const struct ct_flow_op *op)
{
	return (uint32_t)op->root == (me + 1) % n ? CT_FLOW_TAKEN : add(flow, CT_FLOW_NEXT, op, 1);
}

static enum ct_flow_taken rooted(struct ct_flow *flow, uint32_t n, uint32_t me,
				 const struct ct_flow_op *op, struct ct_flow_pair *pair)
{
	uint32_t root = (uint32_t)op->root;

	if (op->root < 0 || root >= n)
		return CT_FLOW_UNKNOWN;
	if (op->op == CT_OP_Broadcast)
		return broadcast(flow, n, me, op);
	if (root == me)
		return CT_FLOW_TAKEN;
	if (op->op == CT_OP_Reduce)
		return add(flow, CT_FLOW_NEXT, op, 1);
	*pair = op->op == CT_OP_Scatter ? (struct ct_flow_pair){ root, me }
					: (struct ct_flow_pair){ me, root };
	return CT_FLOW_IS_PAIR;
}

static enum ct_flow_taken one_to_one(uint32_t n, uint32_t me, const struct ct_flow_op *op,
				     struct ct_flow_pair *pair)
{
	uint32_t peer = (uint32_t)op->root;

	if (op->root < 0 || peer >= n)
		return CT_FLOW_UNKNOWN;
	if (peer == me)
		return CT_FLOW_TAKEN;
	*pair = op->op == CT_OP_Get ? (struct ct_flow_pair){ peer, me }
				    : (struct ct_flow_pair){ me, peer };
	return CT_FLOW_IS_PAIR;
}

enum ct_flow_taken ct_flow_take(struct ct_flow *flow, uint32_t n, uint32_t me,
				const struct ct_flow_op *op, struct ct_flow_pair *pair)
{
	/* an empty message is sent, anything else that is empty moves nothing */
	if (!op->bytes && op->op != CT_OP_Send)
		return CT_FLOW_TAKEN;
	switch (op->op) {
	case CT_OP_AllReduce:
		return add(flow, CT_FLOW_ALL_REDUCED, op, 1);
	case CT_OP_AllGather:
		return op->varying ? add(flow, CT_FLOW_GATHERED, op, 1)
				   : add(flow, CT_FLOW_NEXT, op, n - 1);
	case CT_OP_ReduceScatter:
		return op->varying ? add(flow, CT_FLOW_SCATTERED, op, 1)
				   : add(flow, CT_FLOW_NEXT, op, n - 1);
	case CT_OP_AllToAll:
		return add(flow,
			   op->varying		? CT_FLOW_EVENLY
			   : op->splits_unknown ? CT_FLOW_EACH
						: CT_FLOW_EACH_EXACT,
			   op, 1);
	case CT_OP_Scan:
	case CT_OP_Exscan:
		return me + 1 < n ? add(flow, CT_FLOW_NEXT, op, 1) : CT_FLOW_TAKEN;
	case CT_OP_Broadcast:
	case CT_OP_Reduce:
	case CT_OP_Gather:
	case CT_OP_Scatter:
		return rooted(flow, n, me, op, pair);
	case CT_OP_Send:
	case CT_OP_Put:
	case CT_OP_Get:
	case CT_OP_Accumulate:
		return one_to_one(n, me, op, pair);
	case CT_OP_Recv:
	case CT_OP_Barrier:
	case CT_OP_Fence:
	case CT_OP_Signal:
	case CT_OP_WaitSignal:
		return CT_FLOW_TAKEN;
	default:
		return CT_FLOW_UNKNOWN;
	}
}

/* ---- all pairs ---- */

struct lay {
	const struct ct_flow *const *flows;
	uint32_t n;
	ct_flow_fn each;
	void *arg;
	uint64_t gathered, scattered; /* all shares together */
};

static const struct ct_flow_sum *sum_of(const struct lay *l, uint32_t m, enum ct_flow_shape shape)
{
	static const struct ct_flow_sum none;

	return l->flows[m] ? &l->flows[m]->sums[shape] : &none;
}

/* a x b / c, rounded down; a x b may be any number. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
	unsigned __int128 part = (unsigned __int128)a * b / c;

	return part > INT64_MAX ? INT64_MAX : (uint64_t)part;
}

static int add_part(const struct lay *l, uint32_t from, uint32_t to, uint64_t bytes, uint64_t n,
		    int exact)
{
	const struct ct_flow_sum sum = { bytes, n };

	return bytes || n ? l->each(l->arg, from, to, sum, exact) : 0;
}

static int to_each(const struct lay *l, uint32_t m, const struct ct_flow_sum *sum, int exact)
{
	int st = 0;

	for (uint32_t d = 1; d < l->n && sum->n && !st; d++)
		st = add_part(l, m, (m + d) % l->n, sum->bytes, sum->n, exact);
	return st;
}

/* `bytes` to all others together: the same to each, to the byte that a division leaves, and
 * together just as many. */
static int spread(const struct lay *l, uint32_t m, uint64_t bytes, uint64_t n)
{
	uint64_t assigned = 0;
	int st = 0;

	for (uint32_t d = 1; d < l->n && n && !st; d++) {
		uint64_t so_far = share(bytes, d, l->n - 1);

		st = add_part(l, m, (m + d) % l->n, so_far - assigned, n, 0);
		assigned = so_far;
	}
	return st;
}

static int lay_all_reduced(const struct lay *l, uint32_t m)
{
	const struct ct_flow_sum *sum = sum_of(l, m, CT_FLOW_ALL_REDUCED);
	uint64_t bytes = share(sum->bytes, 2 * ((uint64_t)l->n - 1), l->n);

	return add_part(l, m, (m + 1) % l->n, bytes, sum->n, 0);
}

/* The data of all members goes around the ring, except back to its origin: the part of the next
 * member. */
static int lay_gathered(const struct lay *l, uint32_t m)
{
	const struct ct_flow_sum *sum = sum_of(l, m, CT_FLOW_GATHERED);
	uint32_t next = (m + 1) % l->n;

	return !sum->n ? 0
		       : add_part(l, m, next,
				  l->gathered - sum_of(l, next, CT_FLOW_GATHERED)->bytes, sum->n,
				  0);
}

/* Round the ring goes what all get, but not beyond whose it is: its own share. */
static int lay_scattered(const struct lay *l, uint32_t m)
{
	const struct ct_flow_sum *sum = sum_of(l, m, CT_FLOW_SCATTERED);

	return !sum->n ? 0 : add_part(l, m, (m + 1) % l->n, l->scattered - sum->bytes, sum->n, 0);
}

static int lay_member(const struct lay *l, uint32_t m)
{
	const struct ct_flow_sum *next = sum_of(l, m, CT_FLOW_NEXT);
	const struct ct_flow_sum *evenly = sum_of(l, m, CT_FLOW_EVENLY);
	int st = add_part(l, m, (m + 1) % l->n, next->bytes, next->n, 0);

	st = st ?: to_each(l, m, sum_of(l, m, CT_FLOW_EACH), 0);
	st = st ?: to_each(l, m, sum_of(l, m, CT_FLOW_EACH_EXACT), 1);
	st = st ?: spread(l, m, share(evenly->bytes, l->n - 1, l->n), evenly->n);
	st = st ?: lay_all_reduced(l, m);
	st = st ?: lay_gathered(l, m);
	return st ? st : lay_scattered(l, m);
}

int ct_flows_lay(const struct ct_flow *const *flows, uint32_t n, ct_flow_fn each, void *arg)
{
	struct lay l = { .flows = flows, .n = n, .each = each, .arg = arg };
	int st = 0;

	for (uint32_t m = 0; m < n; m++) {
		l.gathered = ct_flow_plus(l.gathered, sum_of(&l, m, CT_FLOW_GATHERED)->bytes);
		l.scattered = ct_flow_plus(l.scattered, sum_of(&l, m, CT_FLOW_SCATTERED)->bytes);
	}
	for (uint32_t m = 0; m < n && n > 1 && !st; m++)
		st = lay_member(&l, m);
	return st;
}
