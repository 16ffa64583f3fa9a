/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/verdict_text.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/base/units.h"

/* size: stretches of ranks that are spelled out. */
#define CT_STRETCHES 4u

const char *ct_hang_ranks_text(struct ct_arena *a, const int *ranks, uint32_t n)
{
	const char *text = "ranks ";
	uint32_t done = 0;

	if (n == 0)
		return "no rank";
	if (n == 1)
		return ct_arena_printf(a, "rank %s", ct_text_rank(ranks[0]).s);
	for (uint32_t stretch = 0; done < n && stretch < CT_STRETCHES; stretch++) {
		uint32_t end = done;
		const char *before = done ? "," : "";

		while (end + 1 < n && ranks[end + 1] == ranks[end] + 1)
			end++;
		if (end == done + 1) /* two ranks are not a range */
			end = done;
		text = end > done ? ct_arena_printf(a, "%s%s%d-%d", text, before, ranks[done],
						    ranks[end])
				  : ct_arena_printf(a, "%s%s%d", text, before, ranks[done]);
		done = end + 1;
	}
	return done < n ? ct_arena_printf(a, "%s and %" PRIu32 " more", text, n - done) : text;
}

const char *ct_hang_rank_indices_text(const struct ct_hang_index *ix, const uint32_t *ranks,
				      uint32_t n)
{
	int *numbers = ct_arena_calloc(ix->arena, (size_t)n + 1, sizeof(*numbers));

	if (!numbers)
		return "";
	for (uint32_t k = 0; k < n; k++)
		numbers[k] = ix->c->ranks[ranks[k]].rank;
	return ct_hang_ranks_text(ix->arena, numbers, n);
}

const char *ct_hang_comm_text(const struct ct_hang_index *ix, uint32_t comm)
{
	const struct ct_hang_comm *c;
	const char *name;

	if (comm >= ix->c->n_comms)
		return "the job";
	c = &ix->c->comms[comm];
	name = c->name ? c->name : ct_arena_printf(ix->arena, "%016" PRIx64, c->hash);
	return c->role ? ct_arena_printf(ix->arena, "%s (%s)", name, c->role) : name;
}

static const char *name_of(const struct ct_hang_op *op)
{
	const char *name = ct_op_name(op->op);

	return name ? name : op->call ? op->call : "an operation";
}

static const char *tag_text(const struct ct_hang_index *ix, const struct ct_hang_op *op)
{
	if (!op->tag || op->tag == CT_TAG_ANY || op->comm >= ix->c->n_comms)
		return "";
	return ct_arena_printf(ix->arena, " with tag %" PRIu32,
			       ct_op_program_tag(ix->c->comms[op->comm].backend, op->tag));
}

/* "from rank 3", "to member 2", "from any rank" */
static const char *peer_text(const struct ct_hang_index *ix, const struct ct_hang_op *op)
{
	const char *way = op->op == CT_OP_Send ? "to" : "from";
	const struct ct_hang_member *peer = NULL;

	if (op->comm < ix->c->n_comms && op->peer >= 0)
		peer = ct_hang_member_at(ix, op->comm, op->peer);
	if (peer && peer->rank != CT_HANG_NONE)
		return ct_arena_printf(ix->arena, "%s rank %s", way,
				       ct_text_rank(ix->c->ranks[peer->rank].rank).s);
	return op->peer >= 0 ? ct_arena_printf(ix->arena, "%s member %d", way, op->peer)
			     : "from any rank";
}

static const char *op_text(const struct ct_hang_index *ix, const struct ct_hang_op *op,
			   enum ct_name_length length)
{
	const char *comm = "", *peer = "", *tag = "";

	if (ct_hang_is_p2p(op->op))
		peer = peer_text(ix, op);
	if (ct_hang_is_p2p(op->op) && length == CT_NAME_FULL)
		tag = tag_text(ix, op);
	if (length == CT_NAME_FULL)
		comm = ct_hang_comm_text(ix, op->comm);
	return ct_arena_printf(ix->arena, "%s #%" PRIu64 "%s%s%s%s%s", name_of(op), op->seq,
			       *peer ? " " : "", peer, tag, *comm ? " on " : "", comm);
}

const char *ct_hang_op_text(const struct ct_hang_index *ix, uint32_t at, enum ct_name_length length)
{
	return op_text(ix, &ix->c->ops[at], length);
}

const char *ct_hang_op_name(const struct ct_hang_index *ix, uint32_t at)
{
	return name_of(&ix->c->ops[at]);
}

/* The message that a receive from any source waits for: without a number, since each sender counts
 * its own. */
static const char *any_send_text(const struct ct_hang_index *ix, const struct ct_hang_op *recv,
				 enum ct_name_length length)
{
	const char *comm = ct_hang_comm_text(ix, recv->comm), *tag = tag_text(ix, recv);
	const char *rank = ct_text_rank(ix->c->ranks[recv->rank].rank).s;

	if (length == CT_NAME_SHORT)
		return ct_arena_printf(ix->arena, "a Send to rank %s", rank);
	return ct_arena_printf(ix->arena, "a Send to rank %s%s on %s", rank, tag, comm);
}

const char *ct_hang_other_end_text(const struct ct_hang_index *ix, uint32_t at,
				   enum ct_name_length length)
{
	struct ct_hang_op op = ix->c->ops[at];

	if (!ct_hang_is_p2p(op.op) || ix->member_of[at] == CT_HANG_NONE)
		return ct_hang_op_text(ix, at, length);
	if (op.peer < 0)
		return op.op == CT_OP_Recv ? any_send_text(ix, &op, length)
					   : ct_hang_op_text(ix, at, length);
	op.op = op.op == CT_OP_Send ? CT_OP_Recv : CT_OP_Send;
	op.peer = (int32_t)ix->members[ix->member_of[at]].comm_rank;
	return op_text(ix, &op, length);
}

const char *ct_hang_called_text(const struct ct_hang_index *ix, uint32_t at)
{
	const struct ct_hang_op *op = &ix->c->ops[at];
	const char *dtype = ct_dtype_name(op->dtype), *redop = ct_redop_name(op->redop);
	const char *root = "";

	if (ct_op_class(op->op) == CT_CLASS_ROOTED && op->peer >= 0)
		root = ct_arena_printf(ix->arena, ", root %d", op->peer);
	return ct_arena_printf(ix->arena, "%s(%s%s%s%s%s%s)%s%s", name_of(op),
			       ct_text_exact(op->count).s, dtype ? " " : "", dtype ? dtype : "",
			       redop ? " " : "", redop ? redop : "", root, op->site ? " at " : "",
			       op->site ? op->site : "");
}

static const char *kind_name(enum ct_host_call kind)
{
	static const char *const names[] = {
		[CT_HOST_INIT] = "communicator creation",
		[CT_HOST_SPLIT] = "communicator split",
		[CT_HOST_FINALIZE] = "communicator shutdown",
		[CT_HOST_GROUP_END] = "group end",
		[CT_HOST_ABORT] = "communicator abort",
		[CT_HOST_SYNC] = "a wait",
		[CT_HOST_GRAPH_LAUNCH] = "a graph launch",
		[CT_HOST_OTHER] = "a call",
	};

	return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "a call";
}

static const char *call_text(const struct ct_hang_index *ix, uint32_t at,
			     enum ct_name_length length)
{
	const struct ct_hang_call *call = &ix->c->calls[at];
	const char *name = call->call ? call->call : kind_name(call->kind);

	if (call->comm >= ix->c->n_comms || length == CT_NAME_SHORT)
		return name;
	return ct_arena_printf(ix->arena, "%s on %s", name, ct_hang_comm_text(ix, call->comm));
}

uint32_t ct_hang_last_op_index(const struct ct_hang_index *ix, uint32_t rank)
{
	const struct ct_hang_kernel *k;

	if (ix->rank_kernels[rank] == ix->rank_kernels[rank + 1])
		return CT_HANG_NONE;
	k = &ix->kernels[ix->rank_kernels[rank + 1] - 1];
	return ix->kernel_ops[k->first + k->n - 1];
}

const char *ct_hang_node_text(const struct ct_waiting *w, uint32_t node, enum ct_name_length length)
{
	const struct ct_hang_index *ix = w->ix;
	uint32_t of = ct_wait_of(w, node);

	switch (ct_wait_kind(w, node)) {
	case CT_NODE_KERNEL:
		return ct_hang_op_text(ix, ix->kernel_ops[ix->kernels[of].first], length);
	case CT_NODE_INSTANCE:
	case CT_NODE_MISMATCHED:
		return ct_hang_op_text(ix, ix->parts[ix->instances[of].first], length);
	case CT_NODE_MISMATCH:
		return ct_hang_op_text(ix,
				       w->mismatches[of]->code == CT_HANG_IS_EXTRA_OP
					       ? w->mismatches[of]->odd
					       : w->mismatches[of]->usual,
				       length);
	case CT_NODE_JOINT_CALL:
		return call_text(ix, w->joint_calls[of].call, length);
	case CT_NODE_HOST:
		return w->nodes[node].about == CT_HANG_NONE
			       ? ""
			       : call_text(ix, w->nodes[node].about, length);
	default:
		return "";
	}
}
