/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/match/groups.h"

#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/base/table.h"
#include "trace/ops.h"

/* May the collectives from `lead` on be taken for one operation? */
static int are_one(const struct ct_op *ops, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int same = ops[i].op == ops[0].op && ops[i].peer == ops[0].peer;
		int sync = ct_op_class(ops[i].op) == CT_CLASS_SYNC &&
			   ct_op_class(ops[0].op) == CT_CLASS_SYNC;

		if (!sync && (!same || ct_op_class(ops[i].op) != CT_CLASS_ROOTED))
			return 0;
	}
	return 1;
}

static uint64_t mark(unsigned op, uint32_t peer)
{
	return ct_mix((uint64_t)op << 32 | peer);
}

/* Does the rank send each other rank as much as it receives from it, the same to all, once? With or
 * without itself. Each end occurs once if the sum of their marks is right. */
static int is_exchange(const struct ct_op *ops, uint32_t n, uint32_t nranks, int32_t me)
{
	uint64_t marks = 0;

	if (nranks < 2 || (n != 2 * (nranks - 1) && n != 2 * nranks) || !ops[0].count)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (ops[i].count != ops[0].count || ops[i].dtype != ops[0].dtype)
			return 0;
		marks += mark(ops[i].op, (uint32_t)ops[i].peer);
	}
	for (uint32_t peer = 0; peer < nranks; peer++) {
		if ((int32_t)peer != me || n == 2 * nranks)
			marks -= mark(CT_OP_Send, peer) + mark(CT_OP_Recv, peer);
	}
	return marks == 0;
}

static uint64_t bytes_of(const struct ct_op *op, uint32_t nranks)
{
	return ct_op_total_bytes(op->op, ct_op_count(op), op->dtype, nranks);
}

static void shape_messages(const struct ct_op *ops, uint32_t n, uint32_t nranks, int32_t me,
			   struct ct_group_shape *shape)
{
	uint64_t out = 0, in = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t *sum = ops[i].op == CT_OP_Send ? &out : &in;

		*sum = ct_plus(*sum, bytes_of(&ops[i], nranks));
	}
	shape->kind = CT_GROUP_MESSAGES;
	shape->bytes = out > in ? out : in;
	if (is_exchange(ops, n, nranks, me)) {
		shape->kind = CT_GROUP_EXCHANGE;
		shape->op = CT_OP_AllToAll;
		shape->bytes = ct_op_total_bytes(CT_OP_AllToAll, ops[0].count, ops[0].dtype,
						 nranks);
	}
}

void ct_group_shape(const struct ct_op *ops, uint32_t n, uint32_t n_ops, uint32_t nranks,
		    int32_t me, struct ct_group_shape *shape)
{
	uint32_t messages = 0;

	*shape = (struct ct_group_shape){ .op = ops[0].op, .dtype = ops[0].dtype, .lead = n };
	for (uint32_t i = 0; i < n; i++) {
		int is_message = ct_op_class(ops[i].op) == CT_CLASS_P2P;

		messages += is_message;
		if (!is_message && shape->lead == n)
			shape->lead = i;
		if (ops[i].op != ops[0].op)
			shape->op = 0;
		if (ops[i].dtype != ops[0].dtype)
			shape->dtype = 0;
	}
	shape->only_messages = messages == n;
	if (messages == n) {
		shape_messages(ops, n, nranks, me, shape);
	} else {
		for (uint32_t i = 0; i < n; i++)
			shape->bytes = ct_plus(shape->bytes, bytes_of(&ops[i], nranks));
		if (!messages && are_one(ops, n))
			shape->kind = CT_GROUP_COLLECTIVES;
	}
	if (n < n_ops)
		shape->kind = CT_GROUP_UNCLEAR;
}

struct ct_group *ct_group_new(struct ct_groups *groups, const struct ct_group_shape *shape,
			      uint32_t holders)
{
	struct ct_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->shape = *shape;
	group->holders = holders;
	group->id = ++groups->made;
	group->agrees = group->complete = group->waits_known = 1;
	group->shortest_ns = UINT64_MAX;
	group->older = groups->newest;
	if (groups->newest)
		groups->newest->newer = group;
	groups->newest = group;
	groups->n++;
	return group;
}

void ct_group_drop(struct ct_groups *groups, struct ct_group *group)
{
	if (--group->holders)
		return;
	if (group->older)
		group->older->newer = group->newer;
	*(group->newer ? &group->newer->older : &groups->newest) = group->older;
	groups->n--;
	free(group);
}

void ct_groups_fini(struct ct_groups *groups)
{
	while (groups->newest) {
		groups->newest->holders = 1;
		ct_group_drop(groups, groups->newest);
	}
}

const struct ct_group_shape *ct_group_shared(const struct ct_instance *i)
{
	const struct ct_group *first = i->members[0].group;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_group *group = i->members[m].group;

		if (!group || !first || !i->members[m].leads || group->n_ops != first->n_ops ||
		    group->shape.kind != first->shape.kind || group->shape.op != first->shape.op ||
		    group->shape.dtype != first->shape.dtype ||
		    (group->shape.bytes != first->shape.bytes && group->shape.bytes != UINT64_MAX &&
		     first->shape.bytes != UINT64_MAX))
			return NULL;
		if (first->shape.bytes == UINT64_MAX)
			first = group;
	}
	return first ? &first->shape : NULL;
}

int ct_group_is_swap(const struct ct_instance *i)
{
	const struct ct_group *group = i->members[0].group;

	return i->src == CT_SRC_EXCHANGE && i->comm->nranks == 2 && group && group->n_ops == 2;
}
