/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join.h"

#include <stdlib.h>

#include "analyzer/table.h"
#include "trace/status.h"

/* A launch, or the ops of one that wait for it. In a list by age. */
struct waiting {
	struct waiting *older, *newer;
	uint32_t id;
	uint32_t n_ops;	  /* ops held here */
	uint32_t ops_due; /* of a launch: ops that have not come yet */
	uint32_t cap_ops;
	struct ct_op *ops;
	struct ct_launch launch; /* id 0: not here yet */
};

struct side {
	struct ct_table by_id;
	struct waiting *oldest, *newest;
	uint32_t n; /* ops, or launches */
};

struct ct_join {
	struct side ops;
	struct side launches;
	ct_join_fn joined;
	void *arg;
};

struct ct_join *ct_join_new(ct_join_fn joined, void *arg)
{
	struct ct_join *join = calloc(1, sizeof(*join));

	if (join) {
		join->joined = joined;
		join->arg = arg;
	}
	return join;
}

static struct waiting *enter(struct side *side, uint32_t id)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (!w || ct_table_put(&side->by_id, id, w) != CT_OK) {
		free(w);
		return NULL;
	}
	w->id = id;
	w->older = side->newest;
	if (side->newest)
		side->newest->newer = w;
	else
		side->oldest = w;
	side->newest = w;
	return w;
}

static void leave(struct side *side, struct waiting *w)
{
	ct_table_remove(&side->by_id, w->id);
	*(w->older ? &w->older->newer : &side->oldest) = w->newer;
	*(w->newer ? &w->newer->older : &side->newest) = w->older;
	free(w->ops);
	free(w);
}

void ct_join_free(struct ct_join *join)
{
	if (!join)
		return;
	while (join->ops.oldest)
		leave(&join->ops, join->ops.oldest);
	while (join->launches.oldest)
		leave(&join->launches, join->launches.oldest);
	ct_table_fini(&join->ops.by_id);
	ct_table_fini(&join->launches.by_id);
	free(join);
}

/* Give out all ops of `w` and forget it. */
static int release(struct ct_join *join, struct waiting *w, const struct ct_launch *launch)
{
	int st = CT_OK;

	for (uint32_t i = 0; i < w->n_ops && st == CT_OK; i++)
		st = join->joined(join->arg, &w->ops[i], launch);
	join->ops.n -= w->n_ops;
	leave(&join->ops, w);
	return st;
}

int ct_join_op(struct ct_join *join, const struct ct_op *op)
{
	struct waiting *w = ct_table_get(&join->launches.by_id, op->launch);
	int st = CT_OK;

	if (w) {
		struct ct_launch launch = w->launch;

		if (--w->ops_due == 0) {
			leave(&join->launches, w);
			join->launches.n--;
		}
		return join->joined(join->arg, op, &launch);
	}
	w = ct_table_get(&join->ops.by_id, op->launch);
	if (!w)
		w = enter(&join->ops, op->launch);
	if (!w)
		return CT_NOMEM;
	if (w->n_ops == w->cap_ops) {
		uint32_t cap = w->cap_ops ? 2 * w->cap_ops : 1;
		struct ct_op *ops = realloc(w->ops, cap * sizeof(*ops));

		if (!ops)
			return CT_NOMEM;
		w->ops = ops;
		w->cap_ops = cap;
	}
	w->ops[w->n_ops++] = *op;
	if (++join->ops.n > CT_JOIN_MAX)
		st = release(join, join->ops.oldest, NULL);
	return st;
}

int ct_join_launch(struct ct_join *join, const struct ct_launch *launch)
{
	struct waiting *w = ct_table_get(&join->ops.by_id, launch->id);
	uint32_t given = w ? w->n_ops : 0;
	int st = w ? release(join, w, launch) : CT_OK;

	/* Ops of a group may still come, from the chunk of another thread. */
	if (st != CT_OK || given >= launch->n_ops ||
	    ct_table_get(&join->launches.by_id, launch->id))
		return st;
	w = enter(&join->launches, launch->id);
	if (!w)
		return CT_NOMEM;
	w->launch = *launch;
	w->ops_due = launch->n_ops - given;
	if (++join->launches.n > CT_JOIN_MAX) {
		leave(&join->launches, join->launches.oldest);
		join->launches.n--;
	}
	return CT_OK;
}

int ct_join_finish(struct ct_join *join)
{
	int st = CT_OK;

	while (join->ops.oldest && st == CT_OK)
		st = release(join, join->ops.oldest, NULL);
	return st;
}
