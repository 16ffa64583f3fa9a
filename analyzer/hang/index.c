/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/index.h"

#include "analyzer/order/sites.h"
#include "trace/status.h"

/* Calls that have not returned, by rank. */
static int index_calls(struct ct_hang_index *ix)
{
	const struct ct_hang_case *c = ix->c;
	uint32_t *at;

	ix->rank_calls = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 2, sizeof(*at));
	ix->calls = ct_arena_calloc(ix->arena, (size_t)c->n_calls + 1, sizeof(*at));
	if (!ix->rank_calls || !ix->calls)
		return CT_NOMEM;
	at = ix->rank_calls + 1;
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (!c->calls[i].returned && c->calls[i].rank < c->n_ranks)
			at[c->calls[i].rank + 1]++;
	for (uint32_t r = 0; r < c->n_ranks; r++)
		at[r + 1] += at[r];
	/* Filling moves each rank's mark from its begin to its end, which is the next one's begin. */
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (!c->calls[i].returned && c->calls[i].rank < c->n_ranks)
			ix->calls[at[c->calls[i].rank]++] = i;
	return CT_OK;
}

static int note_threads(struct ct_hang_index *ix)
{
	const struct ct_hang_case *c = ix->c;
	uint32_t *thread = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 1, sizeof(*thread));
	uint8_t *seen = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 1, 1);

	ix->one_thread = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 1, 1);
	if (!thread || !seen || !ix->one_thread)
		return CT_NOMEM;
	for (uint32_t r = 0; r < c->n_ranks; r++)
		ix->one_thread[r] = 1;
	for (uint64_t i = 0; i < (uint64_t)c->n_ops + c->n_calls; i++) {
		int is_op = i < c->n_ops;
		uint32_t r = is_op ? c->ops[i].rank : c->calls[i - c->n_ops].rank;
		uint32_t t = is_op ? c->ops[i].thread : c->calls[i - c->n_ops].thread;

		if (r >= c->n_ranks)
			continue;
		if (seen[r] && thread[r] != t)
			ix->one_thread[r] = 0;
		seen[r] = 1;
		thread[r] = t;
	}
	return CT_OK;
}

struct ct_order_call ct_hang_called(const struct ct_hang_op *op)
{
	return (struct ct_order_call){ .count = op->count,
				       .bytes = op->bytes,
				       .root = op->peer,
				       .op = op->graph ? CT_OP_GraphLaunch : op->op,
				       .dtype = op->dtype,
				       .redop = op->redop,
				       .varying = op->varying };
}

static int index_called(struct ct_hang_index *ix)
{
	const struct ct_hang_case *c = ix->c;
	struct ct_sites sites;
	int st = CT_OK;

	ix->called = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1, sizeof(*ix->called));
	if (!ix->called)
		return CT_NOMEM;
	ct_sites_init(&sites, ix->arena);
	for (uint32_t i = 0; i < c->n_ops && st == CT_OK; i++) {
		ix->called[i] = ct_hang_called(&c->ops[i]);
		st = ct_sites_get(&sites, NULL, c->ops[i].site, &ix->called[i].site);
	}
	ct_sites_fini(&sites);
	return st;
}

int ct_hang_index(const struct ct_hang_case *c, struct ct_arena *arena,
		  struct ct_hang_index **index)
{
	struct ct_hang_index *ix = ct_arena_calloc(arena, 1, sizeof(*ix));

	if (!ix)
		return CT_NOMEM;
	ix->c = c;
	ix->arena = arena;
	for (uint32_t r = 0; r < c->n_ranks; r++)
		if (c->ranks[r].last_heartbeat_ns != CT_UNKNOWN &&
		    c->ranks[r].last_heartbeat_ns > ix->latest_ns)
			ix->latest_ns = c->ranks[r].last_heartbeat_ns;
	if (index_calls(ix) != CT_OK || note_threads(ix) != CT_OK || index_called(ix) != CT_OK ||
	    ct_hang_index_members(ix) != CT_OK || ct_hang_index_kernels(ix) != CT_OK ||
	    ct_hang_index_instances(ix) != CT_OK)
		return CT_NOMEM;
	ct_hang_index_requests(ix);
	*index = ix;
	return CT_OK;
}
