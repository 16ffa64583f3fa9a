/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/order_call.h"

#include "analyzer/match/match.h"
#include "trace/format.h"
#include "trace/ops.h"

const char *ct_mismatch_field_name(enum ct_mismatch_field field)
{
	switch (field) {
	case CT_MISMATCH_OP:
		return "op";
	case CT_MISMATCH_BYTES:
		return "count";
	case CT_MISMATCH_DTYPE:
		return "dtype";
	case CT_MISMATCH_REDOP:
		return "redop";
	case CT_MISMATCH_ROOT:
		return "root";
	case CT_MISMATCH_NONE:
		break;
	}
	return "none";
}

struct ct_order_call ct_order_call_of(const struct ct_member *m)
{
	return (struct ct_order_call){ .site = m->site,
				       .count = m->count,
				       .bytes = m->bytes,
				       .root = m->root,
				       .op = m->op,
				       .dtype = m->dtype,
				       .redop = m->redop,
				       .varying = m->varying };
}

int ct_order_sizes_agree(const struct ct_order_call *call)
{
	switch (call->op) {
	case CT_OP_AllReduce:
	case CT_OP_Broadcast:
	case CT_OP_Reduce:
	case CT_OP_AllGather:
	case CT_OP_ReduceScatter:
		return !call->varying;
	default:
		return 0;
	}
}

static int states_size(const struct ct_order_call *call)
{
	return ct_order_sizes_agree(call) && call->bytes != UINT64_MAX &&
	       (call->dtype || call->bytes);
}

/* Equal counts and different sizes: the type differs. */
static enum ct_mismatch_field in_size(const struct ct_order_call *a, const struct ct_order_call *b)
{
	return a->count == b->count && ct_dtypes_differ(a->dtype, b->dtype) ? CT_MISMATCH_DTYPE
									    : CT_MISMATCH_BYTES;
}

enum ct_mismatch_field ct_order_differ(const struct ct_order_call *a, const struct ct_order_call *b)
{
	/* A rank may carry out by a graph what another one calls by itself, or by a graph that
	 * holds more. */
	if (!a->op || !b->op || a->op == CT_OP_GraphLaunch || b->op == CT_OP_GraphLaunch)
		return CT_MISMATCH_NONE;
	if (a->op != b->op)
		return CT_MISMATCH_OP;
	/* A rank that has no part in an operation (of an intercommunicator, in the root's group)
	 * does not state the root. */
	if (ct_op_class(a->op) == CT_CLASS_ROOTED && a->root >= 0 && b->root >= 0 &&
	    a->root != b->root)
		return CT_MISMATCH_ROOT;
	if (states_size(a) && states_size(b) && a->bytes != b->bytes)
		return in_size(a, b);
	if (ct_dtypes_differ(a->dtype, b->dtype))
		return CT_MISMATCH_DTYPE;
	if (a->redop && b->redop && a->redop != b->redop)
		return CT_MISMATCH_REDOP;
	return CT_MISMATCH_NONE;
}

enum ct_mismatch_field ct_order_message_differ(unsigned backend, const struct ct_order_call *send,
					       const struct ct_order_call *recv)
{
	if (!send->bytes || !recv->bytes || send->bytes == UINT64_MAX || recv->bytes == UINT64_MAX)
		return CT_MISMATCH_NONE;
	if (send->bytes == recv->bytes)
		return backend == CT_BACKEND_NCCL && ct_dtypes_differ(send->dtype, recv->dtype)
			       ? CT_MISMATCH_DTYPE
			       : CT_MISMATCH_NONE;
	/* An MPI receive states the space in its buffer. */
	if (backend == CT_BACKEND_MPI && send->bytes < recv->bytes)
		return CT_MISMATCH_NONE;
	return in_size(send, recv);
}

int ct_order_same_site(const struct ct_order_call *a, const struct ct_order_call *b)
{
	return a && b && a->site && a->site == b->site;
}

int ct_order_other_site(const struct ct_order_call *a, const struct ct_order_call *b)
{
	return a && b && a->site && b->site && a->site != b->site;
}

uint32_t ct_order_vote(uint32_t n, ct_order_agree_fn agree_fn, const void *arg, uint32_t *agree)
{
	uint32_t candidate = 0, votes = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (votes == 0)
			candidate = i;
		if (agree_fn(arg, candidate, i))
			votes++;
		else
			votes--;
	}
	*agree = 0;
	for (uint32_t i = 0; i < n; i++)
		*agree += agree_fn(arg, candidate, i) != 0;
	return candidate;
}
