/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/join.h"

#include <stdlib.h>

#include "analyzer/base/chains.h"
#include "trace/status.h"

/* What is there of one launch. In a list by age. */
struct ct_join_entry {
	struct ct_link by_id;
	struct ct_join_entry *older, *newer;
	uint32_t n_ops, cap_ops;
	uint32_t has_launch;
	struct ct_launch launch;
	struct ct_op *ops; /* `first` as long as that is enough */
	struct ct_op first;
};

struct ct_join {
	struct ct_chains by_id;
	struct ct_join_entry *oldest, *newest;
	uint32_t n; /* ops that wait, and launches without any */
	struct ct_pool *entries;
	ct_join_fn joined;
	void *arg;
};

struct ct_join *ct_join_new(ct_join_fn joined, void *arg, struct ct_pool *entries)
{
	struct ct_join *join = calloc(1, sizeof(*join));

	if (join) {
		join->joined = joined;
		join->arg = arg;
		join->entries = entries;
	}
	return join;
}

void ct_join_lend(struct ct_join *join, struct ct_pool *entries)
{
	join->entries = entries;
}

static struct ct_join_entry *enter(struct ct_join *join, uint32_t id)
{
	struct ct_join_entry *w = ct_pool_take(join->entries, sizeof(*w));

	if (!w || ct_chains_put(&join->by_id, id, &w->by_id) != CT_OK) {
		ct_pool_give(join->entries, w);
		return NULL;
	}
	w->ops = &w->first;
	w->cap_ops = 1;
	w->older = join->newest;
	*(join->newest ? &join->newest->newer : &join->oldest) = w;
	join->newest = w;
	return w;
}

static uint32_t weight(const struct ct_join_entry *w)
{
	return w->n_ops ? w->n_ops : w->has_launch;
}

static void leave(struct ct_join *join, struct ct_join_entry *w)
{
	join->n -= weight(w);
	ct_chains_take(&join->by_id, &w->by_id);
	*(w->older ? &w->older->newer : &join->oldest) = w->newer;
	*(w->newer ? &w->newer->older : &join->newest) = w->older;
	if (w->ops != &w->first)
		free(w->ops);
	ct_pool_give(join->entries, w);
}

void ct_join_free(struct ct_join *join)
{
	if (!join)
		return;
	while (join->oldest)
		leave(join, join->oldest);
	ct_chains_fini(&join->by_id);
	free(join);
}

/* Give out what is there and forget it. */
static int release(struct ct_join *join, struct ct_join_entry *w)
{
	int st = CT_OK;

	if (w->n_ops)
		st = join->joined(join->arg, w->ops, w->n_ops, w->has_launch ? &w->launch : NULL);
	leave(join, w);
	return st;
}

static int is_complete(const struct ct_join_entry *w)
{
	return w->has_launch && w->n_ops > 0 && w->n_ops >= w->launch.n_ops;
}

static int append(struct ct_join_entry *w, const struct ct_op *op)
{
	if (w->n_ops == w->cap_ops) {
		uint32_t cap = 2 * w->cap_ops;
		struct ct_op *old = w->ops == &w->first ? NULL : w->ops;
		struct ct_op *ops = realloc(old, cap * sizeof(*ops));

		if (!ops)
			return CT_NOMEM;
		if (!old)
			ops[0] = w->first;
		w->ops = ops;
		w->cap_ops = cap;
	}
	w->ops[w->n_ops++] = *op;
	return CT_OK;
}

/* Something came to `w`: out with it if it is whole, and with the oldest if there is too much. */
static int settle(struct ct_join *join, struct ct_join_entry *w)
{
	if (is_complete(w))
		return release(join, w);
	return join->n > CT_JOIN_MAX ? release(join, join->oldest) : CT_OK;
}

int ct_join_op(struct ct_join *join, const struct ct_op *op)
{
	struct ct_join_entry *w = ct_chains_get(&join->by_id, op->launch);
	int st;

	/* The only op of a launch that has ended: hand it out without a copy. */
	if (w && !w->n_ops && w->has_launch && w->launch.n_ops <= 1) {
		st = join->joined(join->arg, op, 1, &w->launch);
		leave(join, w);
		return st;
	}
	if (!w)
		w = enter(join, op->launch);
	if (!w)
		return CT_NOMEM;
	join->n -= weight(w);
	if (append(w, op) != CT_OK)
		return CT_NOMEM;
	join->n += weight(w);
	return settle(join, w);
}

int ct_join_launch(struct ct_join *join, const struct ct_launch *launch)
{
	struct ct_join_entry *w = ct_chains_get(&join->by_id, launch->id);

	if (w && w->has_launch)
		return CT_OK;
	if (!w)
		w = enter(join, launch->id);
	if (!w)
		return CT_NOMEM;
	join->n -= weight(w);
	w->launch = *launch;
	w->has_launch = 1;
	join->n += weight(w);
	return settle(join, w);
}

int ct_join_finish(struct ct_join *join)
{
	int st = CT_OK;

	while (join->oldest && st == CT_OK)
		st = release(join, join->oldest);
	return st;
}
