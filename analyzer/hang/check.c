/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/check.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/hang/index.h"
#include "analyzer/order/order_call.h"
#include "trace/ops.h"

struct checking {
	const struct ct_gather *g;
	const struct ct_hang_case *c;
	uint32_t *order; /* collectives of the case by communicator and number */
	uint32_t n;
};

static const struct ct_hang_op *ops_of_sort; /* qsort() passes no argument; one thread */

static int by_number(const void *a, const void *b)
{
	const struct ct_hang_op *x = &ops_of_sort[*(const uint32_t *)a];
	const struct ct_hang_op *y = &ops_of_sort[*(const uint32_t *)b];

	return CT_UP(comm) ?: CT_UP(seq) ?: CT_UP(rank);
}

static enum ct_mismatch_field between(const struct ct_hang_op *a, const struct ct_hang_op *b)
{
	const struct ct_order_call x = ct_hang_called(a), y = ct_hang_called(b);

	return ct_order_differ(&x, &y);
}

static int sites_differ(const struct ct_hang_op *a, const struct ct_hang_op *b)
{
	return a->site && b->site && strcmp(a->site, b->site) != 0;
}

/* How many members called this number. */
static uint32_t count_issued(const struct ct_gather *g, uint32_t comm, uint64_t seq)
{
	uint32_t n = 0;

	for (const struct ct_rank_history *k = g->histories; k; k = k->next)
		n += ct_gather_number(g, k->comm) == comm && k->issued > seq;
	return n;
}

/* Collectives of one number, from `at` on. */
struct number {
	const struct checking *k;
	uint32_t at;
};

static int agree_on(const void *arg, uint32_t a, uint32_t b)
{
	const struct number *n = arg;
	const struct ct_hang_op *x = &n->k->c->ops[n->k->order[n->at + a]];
	const struct ct_hang_op *y = &n->k->c->ops[n->k->order[n->at + b]];

	return !between(x, y) && !sites_differ(x, y);
}

/* Compares the operations from `at` to `end`, which have the same number: which ranks differ from
 * the majority? */
static void compare(const struct checking *k, uint32_t at, uint32_t end, struct ct_hang_equal *e)
{
	const struct ct_hang_op *ops = k->c->ops;
	uint32_t agree, usual;

	usual = k->order[at + ct_order_vote(end - at, agree_on, &(struct number){ k, at }, &agree)];
	for (uint32_t i = at; i < end; i++) {
		const struct ct_hang_op *op = &ops[k->order[i]];
		enum ct_mismatch_field field = between(&ops[usual], op);

		if (field && e->differs == CT_UNKNOWN) {
			e->differs = op->seq;
			e->field = ct_mismatch_field_name(field);
			e->odd = k->order[i];
			e->usual = usual;
		}
		if (!field && sites_differ(&ops[usual], op) && e->site_differs == CT_UNKNOWN) {
			e->site_differs = op->seq;
			e->site_odd = k->order[i];
			e->site_usual = usual;
		}
	}
}

/* Compares one by one the operations that the sums do not prove equal. `at` is the first of the
 * communicator. */
static void check_comm(const struct checking *k, uint32_t at, struct ct_hang_equal *e)
{
	const struct ct_hang_order *o = &k->g->orders[e->comm];
	uint64_t next = ct_hang_order_equal_to(o);
	uint64_t from = next < o->site_differs ? next : o->site_differs;

	e->members = o->members;
	e->since = o->since;
	e->issued = o->issued;
	e->issued_most = o->all.after;
	e->differs = e->site_differs = CT_UNKNOWN;
	while (at < k->n && k->c->ops[k->order[at]].comm == e->comm && e->differs == CT_UNKNOWN) {
		uint64_t seq = k->c->ops[k->order[at]].seq;
		uint32_t end = at + 1;

		while (end < k->n && k->c->ops[k->order[end]].comm == e->comm &&
		       k->c->ops[k->order[end]].seq == seq)
			end++;
		if (seq >= from)
			compare(k, at, end, e);
		if (seq == next && seq < o->unknown && e->differs == CT_UNKNOWN &&
		    end - at >= count_issued(k->g, e->comm, seq))
			next++;
		at = end;
	}
	e->equal_to = next < o->issued ? next : o->issued;
	if (e->equal_to < e->since)
		e->equal_to = e->since;
}

int ct_hang_check(const struct ct_gather *g, struct ct_hang_run *run)
{
	struct checking k = { .g = g, .c = &run->hang_case };
	uint32_t at = 0;

	run->equals = ct_arena_calloc(g->memory, g->n_orders, sizeof(*run->equals));
	k.order = calloc((size_t)k.c->n_ops + 1, sizeof(*k.order));
	if (!run->equals || !k.order) {
		free(k.order);
		return CT_NOMEM;
	}
	for (uint32_t i = 0; i < k.c->n_ops; i++) {
		if (ct_op_class(k.c->ops[i].op) != CT_CLASS_P2P)
			k.order[k.n++] = i;
	}
	ops_of_sort = k.c->ops;
	qsort(k.order, k.n, sizeof(*k.order), by_number);
	for (uint32_t comm = 0; comm < g->n_orders; comm++) {
		while (at < k.n && k.c->ops[k.order[at]].comm < comm)
			at++;
		if (g->orders[comm].members < 2 || !g->orders[comm].all.after)
			continue;
		run->equals[run->n_equals].comm = comm;
		check_comm(&k, at, &run->equals[run->n_equals++]);
	}
	free(k.order);
	return CT_OK;
}
