/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each communicator. */
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/hang/index.h"
#include "trace/status.h"

struct numbered_member {
	int rank;
	uint32_t index;
};

CT_SORT_BY(by_number, struct numbered_member, CT_UP(rank))

CT_SORT_BY(by_rank, struct ct_hang_member, CT_UP(rank) ?: CT_UP(comm_rank))

/* In a communicator as large as the job, unnamed ranks are members too. */
static void fill_world(struct ct_hang_member *members, uint32_t n, uint32_t n_ranks, uint8_t *in)
{
	uint32_t next = 0;

	if (n != n_ranks)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (members[i].rank != CT_HANG_NONE)
			in[members[i].rank] = 1;
	for (uint32_t i = 0; i < n; i++) {
		if (members[i].rank != CT_HANG_NONE)
			continue;
		while (next < n_ranks && in[next])
			next++;
		if (next == n_ranks)
			break;
		members[i].rank = next++;
	}
	for (uint32_t i = 0; i < n_ranks; i++)
		in[i] = 0;
}

struct ct_hang_member *ct_hang_member(const struct ct_hang_index *ix, uint32_t comm, uint32_t rank)
{
	uint32_t lo, hi;

	if (comm >= ix->c->n_comms || rank == CT_HANG_NONE)
		return NULL;
	lo = ix->member_first[comm];
	hi = ix->member_first[comm + 1];
	lo = CT_BISECT(i, lo, hi, ix->members[i].rank < rank);
	return lo < hi && ix->members[lo].rank == rank ? &ix->members[lo] : NULL;
}

static void note_any(struct ct_hang_member *m, const struct ct_hang_op *op)
{
	if (!m->takes_any) {
		m->takes_from = op->peer < 0 ? -1 : op->peer;
		m->takes_tag = op->tag;
	}
	if (m->takes_from != op->peer)
		m->takes_from = -1;
	if (m->takes_tag != op->tag)
		m->takes_tag = CT_TAG_ANY;
	m->takes_any = 1;
}

static void note_op(struct ct_hang_index *ix, uint32_t at)
{
	const struct ct_hang_op *op = &ix->c->ops[at];
	struct ct_hang_member *m = op->rank < ix->c->n_ranks
					   ? ct_hang_member(ix, op->comm, op->rank)
					   : NULL;

	ix->member_of[at] = m ? (uint32_t)(m - ix->members) : CT_HANG_NONE;
	if (!m)
		return;
	if (op->op == CT_OP_Recv && op->state != CT_STATE_FINISHED &&
	    (op->peer < 0 || op->tag == CT_TAG_ANY))
		note_any(m, op);
	if (ct_hang_is_p2p(op->op) || ct_op_class(op->op) == CT_CLASS_LOCAL)
		return;
	if (!m->has_last || op->seq > m->last)
		m->last = op->seq;
	m->has_last = 1;
}

int ct_hang_index_members(struct ct_hang_index *ix)
{
	const struct ct_hang_case *c = ix->c;
	struct numbered_member *names = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 1,
							sizeof(*names));
	uint8_t *in = ct_arena_calloc(ix->arena, (size_t)c->n_ranks + 1, 1);
	size_t n = 0;

	for (uint32_t i = 0; i < c->n_comms; i++)
		n += c->comms[i].n;
	ix->member_first = ct_arena_calloc(ix->arena, (size_t)c->n_comms + 1,
					   sizeof(*ix->member_first));
	ix->members = ct_arena_calloc(ix->arena, n + 1, sizeof(*ix->members));
	ix->by_comm_rank = ct_arena_calloc(ix->arena, n + 1, sizeof(*ix->by_comm_rank));
	ix->member_of = ct_arena_calloc(ix->arena, (size_t)c->n_ops + 1, sizeof(*ix->member_of));
	if (!names || !in || !ix->member_first || !ix->members || !ix->by_comm_rank ||
	    !ix->member_of || n >= CT_HANG_NONE)
		return CT_NOMEM;
	for (uint32_t r = 0; r < c->n_ranks; r++)
		names[r] = (struct numbered_member){ c->ranks[r].rank, r };
	qsort(names, c->n_ranks, sizeof(*names), by_number);
	for (uint32_t i = 0; i < c->n_comms; i++) {
		struct ct_hang_member *members = &ix->members[ix->member_first[i]];

		ix->member_first[i + 1] = ix->member_first[i] + c->comms[i].n;
		for (uint32_t k = 0; k < c->comms[i].n; k++) {
			struct numbered_member key = { c->comms[i].ranks ? c->comms[i].ranks[k]
									 : -1,
						       0 };
			const struct numbered_member *found = key.rank < 0 ? NULL
									   : bsearch(&key, names,
										     c->n_ranks,
										     sizeof(*names),
										     by_number);

			members[k].rank = found ? found->index : CT_HANG_NONE;
			members[k].comm_rank = k;
		}
		fill_world(members, c->comms[i].n, c->n_ranks, in);
		qsort(members, c->comms[i].n, sizeof(*members), by_rank);
		for (uint32_t k = 0; k < c->comms[i].n; k++)
			ix->by_comm_rank[ix->member_first[i] + members[k].comm_rank] = k;
	}
	for (uint32_t i = 0; i < c->n_ops; i++)
		note_op(ix, i);
	return CT_OK;
}
