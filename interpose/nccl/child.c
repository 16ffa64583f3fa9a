/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators made from others. All ranks of the parent call (of a shrink: all that stay), and
 * NCCL writes the handle when all is done: at the end of the call, of its group, or later. */
#include "interpose/channels.h"
#include "interpose/gpu/freeze.h"
#include "interpose/nccl/async_ops.h"
#include "interpose/nccl/failed.h"
#include "interpose/nccl/group.h"
#include "interpose/nccl/key.h"
#include "interpose/unwind.h"

struct birth {
	struct ct_host_frame host; /* first */
	struct ct_nccl_parent parent;
	struct ct_nccl_child child;
};

static int source_of(const struct ct_traced_comm *comm)
{
	uint64_t bits = atomic_load_explicit(&comm->entry->bits, memory_order_relaxed);

	return (int)(bits >> 8 & 0xff);
}

/* All but the key. */
static void conceive(struct birth *b, enum ct_nccl_call call, ncclComm_t comm, ncclComm_t *at,
		     const ncclConfig_t *config, const void *library)
{
	struct ct_traced_comm *parent = ct_nccl_comm(comm, library);

	*b = (struct birth){
		.host.rec = ct_nccl_host_rec(call, parent),
		.parent = { .comm = parent, .id = parent->id },
		.child = {
			.at = at,
			.made_from = comm,
			.library = library,
			.parent = parent->key,
			.device = parent->device,
			.source = source_of(parent),
			.name = ct_nccl_comm_name(config),
		},
	};
}

static ncclResult_t deliver(struct birth *b, ncclResult_t result)
{
	if (b->child.key && (result == ncclSuccess || result == ncclInProgress))
		ct_nccl_group_child(&b->child, result);
	ct_nccl_host_end(&b->host, result, b->child.made_from, b->child.library);
	return result;
}

static void begin_split(struct birth *b, int color)
{
	const struct ct_traced_comm *parent = b->parent.comm;
	int32_t nth;

	ct_nccl_parent_counts(&b->parent);
	nth = (int32_t)b->parent.nth;
	if (nth && color >= 0) {
		int version = ct_nccl_version(b->child.library);

		b->child.key = ct_nccl_key_of_split(parent->key, nth, color, version);
		b->child.hash = ct_nccl_hash_of_split(parent->nccl_hash, nth, color, version);
		b->child.magic = b->child.hash;
	}
	ct_host_begin(&b->host);
}

static ncclResult_t end_split(struct birth *b, ncclResult_t result)
{
	if (ct_nccl_is_refused(result))
		ct_nccl_parent_refuses(&b->parent);
	return deliver(b, result);
}

static CT_UNWIND_WHOLE ncclResult_t split(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
					  ncclConfig_t *config, ct_ncclCommSplit_fn *real)
{
	struct birth b;

	CT_UNWIND_HERE();
	conceive(&b, CT_NCCL_ncclCommSplit, comm, newcomm, config, (const void *)(uintptr_t)real);
	begin_split(&b, color);
	return end_split(&b, real(comm, color, key, newcomm, config));
}

ncclResult_t ct_ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
			      ncclConfig_t *config)
{
	ct_ncclCommSplit_fn *next = CT_NCCL_NEXT(ncclCommSplit);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
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

/* Its key waits for the end, since a shrink that is refused must not count. */
static uint64_t begin_shrink(struct birth *b, const int *excluded, int n)
{
	const struct ct_traced_comm *parent = b->parent.comm;
	uint64_t who = excluded && n > 0 ? ct_nccl_hash_of_ranks(excluded, n) : 0;

	if (who && parent->nranks > (uint32_t)n) {
		b->child.nranks = parent->nranks - (uint32_t)n;
		b->child.rank = rank_after(parent->rank, excluded, n);
	}
	b->child.hash = ct_nccl_hash_of_shrunk(parent->nccl_hash);
	b->child.magic = b->child.hash;
	ct_host_begin(&b->host);
	return who;
}

/* A counter of its own for each parent and set, among those of the channels: no peer has this
 * number. */
static ncclResult_t end_shrink(struct birth *b, uint64_t who, ncclResult_t result)
{
	if (b->parent.id && !ct_nccl_is_refused(result))
		b->child.key = ct_nccl_key_of_shrink(b->child.parent, who,
						     ct_channels_next(b->parent.id, CT_SEND,
								      INT32_MIN, who));
	return deliver(b, result);
}

static CT_UNWIND_WHOLE ncclResult_t shrink(ncclComm_t comm, int *excluded, int n,
					   ncclComm_t *newcomm, ncclConfig_t *config, int flags,
					   ct_ncclCommShrink_fn *real)
{
	struct birth b;
	uint64_t who, was = 0;
	ncclResult_t result;

	CT_UNWIND_HERE();
	conceive(&b, CT_NCCL_ncclCommShrink, comm, newcomm, config, (const void *)(uintptr_t)real);
	who = begin_shrink(&b, excluded, n);
	if (flags & NCCL_SHRINK_ABORT) {
		was = ct_freeze(b.parent.id);
		ct_nccl_async_gone(comm, CT_RESULT_ABORTED);
	}
	result = real(comm, excluded, n, newcomm, config, flags);
	if (flags & NCCL_SHRINK_ABORT && ct_nccl_is_refused(result))
		ct_freeze_undo(b.parent.id, was);
	return end_shrink(&b, who, result);
}

ncclResult_t ct_ncclCommShrink(ncclComm_t comm, int *excluded, int n_excluded, ncclComm_t *newcomm,
			       ncclConfig_t *config, int flags)
{
	ct_ncclCommShrink_fn *next = CT_NCCL_NEXT(ncclCommShrink);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_CREATE, __builtin_return_address(0)))
		return next(comm, excluded, n_excluded, newcomm, config, flags);
	return shrink(comm, excluded, n_excluded, newcomm, config, flags, next);
}
