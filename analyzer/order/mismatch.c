/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/mismatch.h"

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

enum ct_mismatch_field ct_mismatch_between(const struct ct_member *a, const struct ct_member *b)
{
	const struct ct_order_call x = ct_order_call_of(a), y = ct_order_call_of(b);

	return ct_order_differ(&x, &y);
}

static int agree_on(const void *instance, uint32_t a, uint32_t b)
{
	const struct ct_instance *i = instance;

	return !ct_mismatch_between(&i->members[a], &i->members[b]);
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
		if ((field || !usual) && mismatch->n_slots < CT_MISMATCH_RANKS)
			mismatch->slots[mismatch->n_slots++] = member->slot;
	}
}

int ct_mismatch_check(struct ct_mismatches *all, const struct ct_instance *i,
		      const struct ct_member **usual)
{
	struct ct_mismatch *mismatch;
	const struct ct_member *most = NULL;
	uint32_t voted, agree, same = 1;

	*usual = &i->members[0];
	while (same < i->n && !ct_mismatch_between(&i->members[0], &i->members[same]))
		same++;
	if (same >= i->n || i->src >= 0)
		return 0;
	voted = ct_order_vote(i->n, agree_on, i, &agree);
	if (2 * (uint64_t)agree > i->n)
		*usual = most = &i->members[voted];
	mismatch = ct_table_get(&all->by_comm, i->comm->index);
	if (mismatch) {
		mismatch->instances++;
		if (i->seq >= mismatch->seq)
			return 1;
		/* An earlier one that was read later: it is where the mismatch began. */
		mismatch->n_slots = 0;
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
