/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators made from others. All ranks of the parent call (of a shrink: all that stay), and NCCL writes the handle
 * when all is done: at the end of the call, of its group, or later. */
#include "interpose/nccl_group.h"
#include "interpose/nccl_key.h"
#include "interpose/nccl_later.h"
#include "interpose/unwind.h"

static int source_of(const struct ct_comm *comm)
{
	uint64_t bits = atomic_load_explicit(&comm->entry->bits, memory_order_relaxed);

	return (int)(bits >> 8 & 0xff);
}

/* Refused for its arguments, before NCCL had counted it. */
static int is_refused(ncclResult_t result)
{
	return result == ncclInvalidArgument || result == ncclInvalidUsage;
}

static ncclResult_t end_child(struct ct_host_frame *f, const struct ct_nccl_child *child,
			      ncclResult_t result)
{
	if (child->key && (result == ncclSuccess || result == ncclInProgress))
		ct_nccl_group_child(child, result);
	ct_host_end(f, result);
	return result;
}

static ncclResult_t end_split(struct ct_host_frame *f, struct ct_comm *parent, int color,
			      struct ct_nccl_child *child, ncclResult_t result)
{
	uint32_t nth;

	if (parent->id && !is_refused(result)) {
		nth = atomic_fetch_add_explicit(&parent->splits, 1, memory_order_relaxed) + 1;
		if (color >= 0)
			child->key = ct_nccl_key_of_split(parent->key, (int32_t)nth, color);
	}
	return end_child(f, child, result);
}

static CT_UNWIND_WHOLE ncclResult_t split(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
					  ncclConfig_t *config, ct_ncclCommSplit_fn *real)
{
	const void *library = (const void *)(uintptr_t)real;
	struct ct_comm *parent = ct_nccl_comm(comm, library);
	struct ct_host_frame f = { .rec = ct_nccl_host_rec(CT_NCCL_ncclCommSplit, parent) };
	struct ct_nccl_child child = {
		.at = newcomm,
		.made_from = comm,
		.library = library,
		.parent = parent->key,
		.device = parent->device,
		.source = source_of(parent),
	};

	CT_UNWIND_HERE();
	child.name = ct_nccl_comm_name(config);
	ct_host_begin(&f);
	return end_split(&f, parent, color, &child, real(comm, color, key, newcomm, config));
}

ncclResult_t ct_ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
			      ncclConfig_t *config)
{
	ct_ncclCommSplit_fn *next = CT_NCCL_NEXT(ncclCommSplit);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE))
		return next(comm, color, key, newcomm, config);
	return split(comm, color, key, newcomm, config, next);
}

/* The ranks that stay keep their order. */
static int32_t rank_after(int32_t rank, const int *excluded, int n)
{
	int32_t below = 0;

	for (int i = 0; i < n; i++)
		below += excluded[i] < rank;
	return rank - below;
}

static CT_UNWIND_WHOLE ncclResult_t shrink(ncclComm_t comm, int *excluded, int n,
					   ncclComm_t *newcomm, ncclConfig_t *config, int flags,
					   ct_ncclCommShrink_fn *real)
{
	const void *library = (const void *)(uintptr_t)real;
	struct ct_comm *parent = ct_nccl_comm(comm, library);
	struct ct_host_frame f = { .rec = ct_nccl_host_rec(CT_NCCL_ncclCommShrink, parent) };
	struct ct_nccl_child child = {
		.at = newcomm,
		.made_from = comm,
		.library = library,
		.parent = parent->key,
		.device = parent->device,
		.source = source_of(parent),
	};
	uint64_t who = excluded && n > 0 ? ct_nccl_hash_of_ranks(excluded, n) : 0;
	ncclResult_t result;

	CT_UNWIND_HERE();
	child.name = ct_nccl_comm_name(config);
	if (who && parent->nranks > (uint32_t)n) {
		child.nranks = parent->nranks - (uint32_t)n;
		child.rank = rank_after(parent->rank, excluded, n);
	}
	ct_host_begin(&f);
	if (flags & NCCL_SHRINK_ABORT)
		ct_nccl_later_gone(comm, CT_RESULT_ABORTED);
	result = real(comm, excluded, n, newcomm, config, flags);
	/* a counter of its own for each parent and set, among those of the channels: no peer has this number */
	if (parent->id && !is_refused(result))
		child.key = ct_nccl_key_of_shrink(
			parent->key, who, ct_channels_next(parent->id, CT_SEND, INT32_MIN, who));
	return end_child(&f, &child, result);
}

ncclResult_t ct_ncclCommShrink(ncclComm_t comm, int *excluded, int n_excluded, ncclComm_t *newcomm,
			       ncclConfig_t *config, int flags)
{
	ct_ncclCommShrink_fn *next = CT_NCCL_NEXT(ncclCommShrink);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE))
		return next(comm, excluded, n_excluded, newcomm, config, flags);
	return shrink(comm, excluded, n_excluded, newcomm, config, flags, next);
}
