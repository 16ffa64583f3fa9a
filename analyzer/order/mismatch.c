/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/mismatch.h"

#include "trace/ops.h"
#include "trace/status.h"

void ct_mismatches_init(struct ct_mismatches *all, struct ct_arena *memory)
{
	*all = (struct ct_mismatches){ .memory = memory };
	all->end = &all->first;
}

void ct_mismatches_fini(struct ct_mismatches *all)
{
	ct_table_fini(&all->by_comm);
}

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

/* Sizes of the others may differ by right. */
int ct_mismatch_sizes_agree(const struct ct_member *m)
{
	switch (m->op) {
	case CT_OP_AllReduce:
	case CT_OP_Broadcast:
	case CT_OP_Reduce:
	case CT_OP_AllGather:
	case CT_OP_ReduceScatter:
		return !m->varying;
	default:
		return 0;
	}
}

static int says_size(const struct ct_member *m)
{
	return m->dtype || m->bytes;
}

enum ct_mismatch_field ct_mismatch_between(const struct ct_member *a, const struct ct_member *b)
{
	/* A rank may carry out by a graph what another one calls by itself, or by a graph that holds more. */
	if (a->op == CT_OP_GraphLaunch || b->op == CT_OP_GraphLaunch)
		return CT_MISMATCH_NONE;
	if (a->op != b->op)
		return CT_MISMATCH_OP;
	/* A rank that has no part in an operation (of an intercommunicator, in the root's group) does not say these. */
	if (ct_op_class(a->op) == CT_CLASS_ROOTED && a->root >= 0 && b->root >= 0 &&
	    a->root != b->root)
		return CT_MISMATCH_ROOT;
	if (ct_mismatch_sizes_agree(a) && ct_mismatch_sizes_agree(b) && says_size(a) &&
	    says_size(b) && a->bytes != b->bytes)
		return a->count == b->count && ct_dtypes_differ(a->dtype, b->dtype)
			       ? CT_MISMATCH_DTYPE
			       : CT_MISMATCH_BYTES;
	if (ct_dtypes_differ(a->dtype, b->dtype))
		return CT_MISMATCH_DTYPE;
	if (a->redop && b->redop && a->redop != b->redop)
		return CT_MISMATCH_REDOP;
	return CT_MISMATCH_NONE;
}

/* The member that more than half agree with, if there is one (Boyer and Moore's vote). */
static const struct ct_member *vote(const struct ct_instance *i, uint32_t *agree)
{
	const struct ct_member *candidate = &i->members[0];
	uint32_t votes = 0;

	for (uint32_t m = 0; m < i->n; m++) {
		if (votes == 0)
			candidate = &i->members[m];
		if (ct_mismatch_between(candidate, &i->members[m]))
			votes--;
		else
			votes++;
	}
	*agree = 0;
	for (uint32_t m = 0; m < i->n; m++)
		*agree += !ct_mismatch_between(candidate, &i->members[m]);
	return 2 * (uint64_t)*agree > i->n ? candidate : NULL;
}

static void describe(struct ct_mismatch *mismatch, const struct ct_instance *i,
		     const struct ct_member *usual, uint32_t agree)
{
	int has_odd = 0;

	mismatch->majority = usual != NULL;
	mismatch->usual = usual ? *usual : i->members[0];
	mismatch->n_members = i->n;
	mismatch->n_odd = i->n - agree;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		enum ct_mismatch_field field = ct_mismatch_between(&mismatch->usual, member);

		if (field && !has_odd) {
			mismatch->odd = *member;
			mismatch->field = field;
			has_odd = 1;
		}
		if ((field || !usual) && mismatch->n_seats < CT_MISMATCH_RANKS)
			mismatch->seats[mismatch->n_seats++] = member->seat;
	}
}

int ct_mismatch_check(struct ct_mismatches *all, const struct ct_instance *i,
		      const struct ct_member **usual)
{
	struct ct_mismatch *mismatch;
	const struct ct_member *most;
	uint32_t agree, same = 1;

	*usual = &i->members[0];
	while (same < i->n && !ct_mismatch_between(&i->members[0], &i->members[same]))
		same++;
	if (same >= i->n || i->src >= 0)
		return 0;
	most = vote(i, &agree);
	if (most)
		*usual = most;
	mismatch = ct_table_get(&all->by_comm, i->comm->index);
	if (mismatch) {
		mismatch->instances++;
		if (i->seq >= mismatch->seq)
			return 1;
		/* An earlier one that came in later: that is where it began. */
		mismatch->n_seats = 0;
	} else {
		mismatch = ct_arena_calloc(all->memory, 1, sizeof(*mismatch));
		if (!mismatch || ct_table_put(&all->by_comm, i->comm->index, mismatch) != CT_OK)
			return CT_NOMEM;
		mismatch->comm = i->comm;
		mismatch->instances = 1;
		*all->end = mismatch;
		all->end = &mismatch->next;
	}
	mismatch->seq = i->seq;
	describe(mismatch, i, most, agree);
	if (i->seq < i->comm->first_difference)
		i->comm->first_difference = i->seq;
	return 1;
}
