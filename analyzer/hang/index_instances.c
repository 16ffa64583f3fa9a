/* SPDX-License-Identifier: Apache-2.0 */
/* The same op over its ranks. */
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/hang/index.h"
#include "trace/status.h"

struct instance_part {
	struct ct_hang_instance key;
	uint32_t op, rank;
	uint8_t sends;
};

static int same_ends(const struct ct_hang_instance *a, const struct ct_hang_instance *b)
{
	return a->comm == b->comm && a->p2p == b->p2p && a->src == b->src && a->dst == b->dst &&
	       a->tag == b->tag && a->any == b->any;
}

static int order(const struct instance_part *x, const struct instance_part *y)
{
	const struct ct_hang_instance *a = &x->key, *b = &y->key;

	return CT_CMP(a->comm, b->comm) ?: CT_CMP(a->p2p, b->p2p) ?: CT_CMP(a->any, b->any) ?:
	       CT_CMP(a->src, b->src) ?: CT_CMP(a->dst, b->dst) ?: CT_CMP(a->tag, b->tag) ?:
	       CT_CMP(a->seq, b->seq) ?:
	       (a->any ? CT_UP(op) : 0); /* each of those is its own */
}

CT_SORT_BY(by_instance, struct instance_part, order(x, y) ?: CT_UP(rank) ?: CT_UP(op))

/* 0: the op's members are unknown. */
static int fill_part(const struct ct_hang_index *ix, uint32_t at, struct instance_part *part)
{
	const struct ct_hang_op *op = &ix->c->ops[at];
	int32_t comm_rank;

	if (ix->member_of[at] == CT_HANG_NONE || ct_op_class(op->op) == CT_CLASS_LOCAL)
		return 0;
	*part = (struct instance_part){ .op = at, .rank = op->rank, .sends = op->op == CT_OP_Send };
	part->key.comm = op->comm;
	part->key.seq = op->seq;
	part->key.src = part->key.dst = -1;
	if (!ct_hang_is_p2p(op->op))
		return 1;
	comm_rank = (int32_t)ix->members[ix->member_of[at]].comm_rank;
	part->key.p2p = 1;
	part->key.tag = op->tag;
	part->key.src = part->sends ? comm_rank : op->peer;
	part->key.dst = part->sends ? op->peer : comm_rank;
	part->key.any = !part->sends && (op->peer < 0 || op->tag == CT_TAG_ANY);
	return !part->sends || op->peer >= 0;
}

static int has_entered(const struct ct_hang_instance *i, uint64_t ns)
{
	return ns != CT_UNKNOWN && (i->begin_ns == CT_UNKNOWN || ns < i->begin_ns);
}

static void add_part(struct ct_hang_index *ix, struct ct_hang_instance *i,
		     const struct instance_part *part)
{
	const struct ct_hang_op *op = &ix->c->ops[part->op];

	ix->parts[i->first + i->n++] = part->op;
	ix->instance_of[part->op] = (uint32_t)(i - ix->instances);
	if (has_entered(i, op->enter_ns))
		i->begin_ns = op->enter_ns;
	i->sent |= part->sends;
	i->taken |= !part->sends;
}

static int may_take(const struct ct_hang_member *m, const struct ct_hang_instance *i)
{
	return m->takes_any && (m->takes_from < 0 || m->takes_from == i->src) &&
	       (m->takes_tag == CT_TAG_ANY || m->takes_tag == i->tag);
}

/* A message with a later number was issued later, so the earlier ones were issued too; and a
 * receive from any source may be the missing one. */
static void complete_messages(struct ct_hang_index *ix)
{
	for (uint32_t at = ix->n_instances; at-- > 0;) {
		struct ct_hang_instance *i = &ix->instances[at];
		const struct ct_hang_instance *next = at + 1 < ix->n_instances
							      ? &ix->instances[at + 1]
							      : NULL;

		if (!i->p2p || i->any)
			continue;
		if (next && same_ends(i, next)) {
			i->sent |= next->sent;
			i->taken |= next->taken;
		}
	}
	/* After the loop: an unfinished message proves nothing about those before it. */
	for (uint32_t at = 0; at < ix->n_instances; at++) {
		struct ct_hang_instance *i = &ix->instances[at];
		const struct ct_hang_member *taker = i->p2p ? ct_hang_member_at(ix, i->comm, i->dst)
							    : NULL;

		if (taker && !i->taken)
			i->taken = i->taken_by_any = may_take(taker, i);
	}
}

int ct_hang_index_instances(struct ct_hang_index *ix)
{
	const struct ct_hang_case *c = ix->c;
	struct instance_part *all = malloc(((size_t)c->n_ops + 1) * sizeof(*all));
	uint32_t n = 0, comm = 0;

	ix->instances = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1, sizeof(*ix->instances));
	ix->parts = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1, sizeof(*ix->parts));
	ix->instance_of = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1,
					  sizeof(*ix->instance_of));
	ix->instance_first = ct_arena_calloc(ix->arena, (size_t)c->n_comms + 1,
					     sizeof(*ix->instance_first));
	if (!all || !ix->instances || !ix->parts || !ix->instance_of || !ix->instance_first) {
		free(all);
		return CT_NOMEM;
	}
	for (uint32_t i = 0; i < c->n_ops; i++) {
		ix->instance_of[i] = CT_HANG_NONE;
		n += fill_part(ix, i, &all[n]);
	}
	qsort(all, n, sizeof(*all), by_instance);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || order(&all[i - 1], &all[i])) {
			struct ct_hang_instance *fresh = &ix->instances[ix->n_instances];

			while (comm < all[i].key.comm)
				ix->instance_first[++comm] = ix->n_instances;
			*fresh = all[i].key;
			fresh->first = i;
			fresh->begin_ns = CT_UNKNOWN;
			ix->n_instances++;
		}
		add_part(ix, &ix->instances[ix->n_instances - 1], &all[i]);
	}
	while (comm < c->n_comms)
		ix->instance_first[++comm] = ix->n_instances;
	free(all);
	complete_messages(ix);
	return CT_OK;
}

uint32_t ct_hang_part(const struct ct_hang_index *ix, const struct ct_hang_instance *i,
		      uint32_t rank, unsigned op)
{
	uint32_t lo = CT_BISECT(k, i->first, i->first + i->n, ix->c->ops[ix->parts[k]].rank < rank);

	for (; lo < i->first + i->n && ix->c->ops[ix->parts[lo]].rank == rank; lo++)
		if (!op || ix->c->ops[ix->parts[lo]].op == op)
			return ix->parts[lo];
	return CT_HANG_NONE;
}
