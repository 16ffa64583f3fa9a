/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/sums.h"

#include "trace/status.h"

int ct_hang_sums_add(struct ct_order_blocks *sums, uint64_t seq, uint64_t what)
{
	sums->shift = sums->shift ?: CT_HANG_SUM_SHIFT;
	sums->most = CT_HANG_SUM_BLOCKS;
	return ct_order_blocks_add(sums, seq, what, 0);
}

void ct_hang_before_add(struct ct_hang_before *before, uint64_t seq, uint64_t what)
{
	before->n++;
	before->hash += ct_op_hash_at(seq, what);
}

void ct_hang_order_before(struct ct_hang_order *order, const struct ct_hang_before *before)
{
	if (!before->cut)
		return;
	if (!order->before.cut)
		order->before = *before;
	order->before_differs |= order->before.n != before->n || order->before.hash != before->hash;
}

void ct_hang_order_init(struct ct_hang_order *order)
{
	*order = (struct ct_hang_order){ .issued = UINT64_MAX, .differs = UINT64_MAX };
}

/* Compares the blocks of one member with those of all, which are as wide and reach at least as far.
 */
static void compare(struct ct_hang_order *order, const struct ct_order_blocks *sums)
{
	struct ct_order_blocks *all = &order->all;

	for (uint32_t b = 0; b < sums->n; b++) {
		struct ct_order_block *usual = &all->blocks[sums->lowest + b - all->lowest];
		const struct ct_order_block *mine = &sums->blocks[b];
		uint64_t at = (sums->lowest + b) << all->shift;

		/* before the first record of a member nothing is known */
		if (!usual->n || !mine->n || at < order->since) {
			if (!usual->n)
				*usual = *mine;
			continue;
		}
		if (usual->n != mine->n) {
			if (mine->n > usual->n)
				*usual = *mine;
			continue;
		}
		if (usual->what != mine->what && at < order->differs) {
			order->differs = at;
			order->differs_to = at + (1ull << all->shift);
		}
	}
}

int ct_hang_order_take(struct ct_hang_order *order, struct ct_order_blocks *sums)
{
	struct ct_order_blocks *all = &order->all;
	int st;

	order->members++;
	if (sums->after < order->issued)
		order->issued = sums->after;
	if (sums->after > all->after)
		all->after = sums->after;
	if (!sums->n) {
		ct_order_blocks_fini(sums);
		return CT_OK;
	}
	if (sums->first > order->since)
		order->since = sums->first;
	if (!all->n) {
		*all = *sums;
		*sums = (struct ct_order_blocks){ 0 };
		return CT_OK;
	}
	st = ct_order_blocks_align(all, sums);
	if (st == CT_OK)
		compare(order, sums);
	if (sums->after > all->after)
		all->after = sums->after;
	ct_order_blocks_fini(sums);
	return st;
}
