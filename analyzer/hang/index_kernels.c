/* SPDX-License-Identifier: Apache-2.0 */
/* Groups the ops of each rank into kernels, with their progress and their predecessor on the
 * stream. */
#include "analyzer/base/table.h"
#include "analyzer/hang/index.h"
#include "trace/ops.h"
#include "trace/status.h"

/* Keys of ranks with a launch or a stream; both have 32 bits. */
static uint64_t key_of(uint32_t rank, uint32_t number)
{
	return ct_mix((uint64_t)rank << 32 | number);
}

/* A thread is inside one call at a time: of two messages that it has entered, that call does both
 * (MPI_Sendrecv). */
static int is_of_call(const struct ct_hang_op *op)
{
	return !op->launch && op->by_host && op->state == CT_STATE_ENTERED &&
	       ct_op_class(op->op) == CT_CLASS_P2P;
}

/* Numbers the kernels by rank and order of issue, in kernel_of. */
static int number(struct ct_hang_index *ix, const uint32_t *ops, uint32_t n, struct ct_table *seen)
{
	const struct ct_hang_case *c = ix->c;

	for (uint32_t i = 0; i < n; i++) {
		const struct ct_hang_op *op = &c->ops[ops[i]];
		int one_call = is_of_call(op), fused = op->launch || one_call;
		uint64_t key = one_call ? ct_mix(key_of(op->rank, op->thread))
					: key_of(op->rank, op->launch);
		uintptr_t known = fused ? (uintptr_t)ct_table_get(seen, key) : 0;

		if (!known) {
			known = ++ix->n_kernels;
			if (fused && ct_table_put(seen, key, (void *)known) != CT_OK)
				return CT_NOMEM;
		}
		ix->kernel_of[ops[i]] = (uint32_t)known - 1;
	}
	return CT_OK;
}

/* Ops by rank, in the order of their issue. */
static uint32_t sort_by_rank(struct ct_hang_index *ix, uint32_t *ops)
{
	const struct ct_hang_case *c = ix->c;
	uint32_t *at = ix->rank_kernels + 1, n;

	for (uint32_t i = 0; i < c->n_ops; i++)
		if (c->ops[i].rank < c->n_ranks)
			at[c->ops[i].rank + 1]++;
	for (uint32_t r = 0; r < c->n_ranks; r++)
		at[r + 1] += at[r];
	n = at[c->n_ranks];
	for (uint32_t i = 0; i < c->n_ops; i++)
		if (c->ops[i].rank < c->n_ranks)
			ops[at[c->ops[i].rank]++] = i;
	return n;
}

/* Put the ops of each kernel side by side. */
static int gather(struct ct_hang_index *ix, const uint32_t *ops, uint32_t n)
{
	uint32_t at = 0;

	ix->kernels = ct_arena_calloc(ix->arena, (size_t)ix->n_kernels + 1, sizeof(*ix->kernels));
	ix->kernel_ops = ct_arena_calloc(ix->arena, (size_t)n + 1, sizeof(*ix->kernel_ops));
	if (!ix->kernels || !ix->kernel_ops)
		return CT_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		ix->kernels[ix->kernel_of[ops[i]]].n++;
	for (uint32_t k = 0; k < ix->n_kernels; k++) {
		ix->kernels[k].first = at;
		at += ix->kernels[k].n;
		ix->kernels[k].n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct ct_hang_kernel *k = &ix->kernels[ix->kernel_of[ops[i]]];

		k->rank = ix->c->ops[ops[i]].rank;
		ix->kernel_ops[k->first + k->n++] = ops[i];
	}
	return CT_OK;
}

static int gave_up(const struct ct_hang_op *op)
{
	return op->state == CT_STATE_ERROR || op->state == CT_STATE_ABORTED;
}

static void judge_kernel(const struct ct_hang_index *ix, struct ct_hang_kernel *k)
{
	int entered = 0, started = 0, open = 0, given = 0, unseen;

	unseen = !ix->c->ranks[k->rank].starts_known;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct ct_hang_op *op = &ix->c->ops[ix->kernel_ops[k->first + i]];

		k->by_host |= op->by_host;
		k->graph |= op->graph;
		unseen |= op->start_unseen;
		if (op->stalled && op->state != CT_STATE_FINISHED &&
		    (!k->stalled || op->stalled < k->stalled))
			k->stalled = op->stalled;
		given |= gave_up(op);
		open |= op->state != CT_STATE_FINISHED && !gave_up(op);
		entered |= op->state == CT_STATE_ENTERED;
		started |= op->state == CT_STATE_STARTED;
	}
	if (!open)
		k->progress = given ? CT_HANG_GAVE_UP : CT_HANG_OVER;
	else if (k->by_host || started)
		k->progress = CT_HANG_RUNS;
	else if (entered)
		k->progress = CT_HANG_INSIDE;
	else
		k->progress = unseen ? CT_HANG_MAY_RUN : CT_HANG_QUEUED;
}

/* Which kernels of a rank that is inside the end of a group belong to that group: those without a
 * start and without a predecessor. Where starts are not recorded: only the one issued last, whose
 * start may have been marked before the library began to launch. */
static void judge_group(const struct ct_hang_index *ix, uint32_t rank)
{
	uint32_t last = CT_HANG_NONE, marked = CT_HANG_NONE, thread = 0;
	uint64_t enter_ns = 0;

	for (uint32_t i = ix->rank_calls[rank]; i < ix->rank_calls[rank + 1]; i++) {
		const struct ct_hang_call *call = &ix->c->calls[ix->calls[i]];

		if (call->kind == CT_HOST_GROUP_END && call->enter_ns >= enter_ns) {
			enter_ns = call->enter_ns;
			thread = call->thread;
		}
	}
	if (!enter_ns)
		return;
	for (uint32_t k = ix->rank_kernels[rank]; k < ix->rank_kernels[rank + 1]; k++) {
		struct ct_hang_kernel *kernel = &ix->kernels[k];
		const struct ct_hang_op *op = &ix->c->ops[ix->kernel_ops[kernel->first]];

		if (op->enter_ns > enter_ns)
			continue;
		if (!kernel->by_host && op->thread == thread)
			marked = kernel->progress == CT_HANG_RUNS && kernel->before == CT_HANG_NONE
					 ? k
					 : CT_HANG_NONE;
		if (kernel->progress == CT_HANG_MAY_RUN)
			last = k;
		if (kernel->progress != CT_HANG_QUEUED || kernel->before != CT_HANG_NONE)
			continue;
		kernel->progress = CT_HANG_INSIDE;
		kernel->grouped = 1;
	}
	if (last == CT_HANG_NONE)
		last = marked;
	if (last == CT_HANG_NONE)
		return;
	ix->kernels[last].progress = CT_HANG_INSIDE;
	ix->kernels[last].grouped = 1;
}

static int order_streams(struct ct_hang_index *ix, struct ct_table *last)
{
	for (uint32_t k = 0; k < ix->n_kernels; k++) {
		struct ct_hang_kernel *kernel = &ix->kernels[k];
		const struct ct_hang_op *op = &ix->c->ops[ix->kernel_ops[kernel->first]];
		uint64_t key = key_of(kernel->rank, op->stream);

		kernel->before = CT_HANG_NONE;
		kernel->order = k - ix->rank_kernels[kernel->rank];
		if (kernel->by_host || !op->stream || kernel->progress == CT_HANG_OVER ||
		    kernel->progress == CT_HANG_GAVE_UP)
			continue;
		kernel->before = (uint32_t)((uintptr_t)ct_table_get(last, key) - 1);
		if (ct_table_put(last, key, (void *)((uintptr_t)k + 1)) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

int ct_hang_index_kernels(struct ct_hang_index *ix)
{
	const struct ct_hang_case *c = ix->c;
	uint32_t *ops = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1, sizeof(*ops)), n, at = 0;
	struct ct_table launches = { 0 }, streams = { 0 };
	int rc = CT_NOMEM;

	ix->rank_kernels = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 2,
					   sizeof(*ix->rank_kernels));
	ix->kernel_of = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1, sizeof(*ix->kernel_of));
	if (!ops || !ix->rank_kernels || !ix->kernel_of)
		return CT_NOMEM;
	for (uint32_t i = 0; i < c->n_ops; i++)
		ix->kernel_of[i] = CT_HANG_NONE;
	n = sort_by_rank(ix, ops);
	if (number(ix, ops, n, &launches) != CT_OK || gather(ix, ops, n) != CT_OK)
		goto out;
	for (uint32_t r = 0; r < c->n_ranks; r++) {
		ix->rank_kernels[r] = at;
		while (at < ix->n_kernels && ix->kernels[at].rank == r)
			at++;
	}
	ix->rank_kernels[c->n_ranks] = at;
	for (uint32_t k = 0; k < ix->n_kernels; k++)
		judge_kernel(ix, &ix->kernels[k]);
	rc = order_streams(ix, &streams);
	for (uint32_t r = 0; r < c->n_ranks && rc == CT_OK; r++)
		judge_group(ix, r);
out:
	ct_table_fini(&launches);
	ct_table_fini(&streams);
	return rc;
}
