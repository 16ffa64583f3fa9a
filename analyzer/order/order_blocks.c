/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/order_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

static void add(struct ct_order_block *to, const struct ct_order_block *from)
{
	to->what += from->what;
	to->aside += from->aside;
	to->n += from->n;
}

void ct_order_blocks_widen(struct ct_order_blocks *all)
{
	uint64_t lowest = all->lowest >> 1;

	for (uint32_t i = 0; i < all->n; i++) {
		struct ct_order_block one = all->blocks[i];

		all->blocks[i] = (struct ct_order_block){ 0 };
		add(&all->blocks[((all->lowest + i) >> 1) - lowest], &one);
	}
	if (all->n)
		all->n = (uint32_t)(((all->lowest + all->n - 1) >> 1) - lowest) + 1;
	all->lowest = lowest;
	all->shift++;
}

static int make_room(struct ct_order_blocks *all, uint32_t n)
{
	uint32_t cap = all->cap ? all->cap : 16;
	struct ct_order_block *grown;

	while (cap < n)
		cap *= 2;
	if (cap == all->cap)
		return CT_OK;
	grown = reallocarray(all->blocks, cap, sizeof(*grown));
	if (!grown)
		return CT_NOMEM;
	all->blocks = grown;
	all->cap = cap;
	return CT_OK;
}

/* Have blocks from number `low` to `high`, which all lie within `most`. */
static int reach(struct ct_order_blocks *all, uint64_t low, uint64_t high)
{
	uint32_t before, n;

	if (!all->n)
		all->lowest = low;
	low = low < all->lowest ? low : all->lowest;
	before = (uint32_t)(all->lowest - low);
	n = (uint32_t)(high - low) + 1;
	n = n > before + all->n ? n : before + all->n;
	if (make_room(all, n) != CT_OK)
		return CT_NOMEM;
	memmove(all->blocks + before, all->blocks, all->n * sizeof(*all->blocks));
	memset(all->blocks, 0, before * sizeof(*all->blocks));
	memset(all->blocks + before + all->n, 0, (n - before - all->n) * sizeof(*all->blocks));
	all->lowest = low;
	all->n = n;
	return CT_OK;
}

/* Would there be too many blocks if those from `low` to `high` were among them? */
static int is_too_far(const struct ct_order_blocks *all, uint64_t low, uint64_t high)
{
	if (all->n && all->lowest < low)
		low = all->lowest;
	if (all->n && all->lowest + all->n - 1 > high)
		high = all->lowest + all->n - 1;
	return high - low >= all->most;
}

int ct_order_blocks_add(struct ct_order_blocks *all, uint64_t seq, uint64_t what, uint64_t aside)
{
	const struct ct_order_block one = { .what = ct_op_hash_at(seq, what),
					    .aside = aside,
					    .n = 1 };
	uint64_t at = (seq >> all->shift) - all->lowest;

	if (at >= all->n) {
		while (is_too_far(all, seq >> all->shift, seq >> all->shift))
			ct_order_blocks_widen(all);
		if (!all->n)
			all->first = seq;
		if (reach(all, seq >> all->shift, seq >> all->shift) != CT_OK)
			return CT_NOMEM;
		at = (seq >> all->shift) - all->lowest;
	}
	add(&all->blocks[at], &one);
	if (seq < all->first)
		all->first = seq;
	if (seq >= all->after)
		all->after = seq < UINT64_MAX ? seq + 1 : seq;
	return CT_OK;
}

void ct_order_blocks_fini(struct ct_order_blocks *all)
{
	free(all->blocks);
	*all = (struct ct_order_blocks){ 0 };
}

int ct_order_blocks_align(struct ct_order_blocks *all, struct ct_order_blocks *with)
{
	while (with->shift < all->shift)
		ct_order_blocks_widen(with);
	while (all->shift < with->shift)
		ct_order_blocks_widen(all);
	while (is_too_far(all, with->lowest, with->lowest + with->n - 1)) {
		ct_order_blocks_widen(with);
		ct_order_blocks_widen(all);
	}
	return reach(all, with->lowest, with->lowest + with->n - 1);
}

struct ct_order_block ct_order_blocks_at(const struct ct_order_blocks *all, uint64_t number)
{
	return number - all->lowest < all->n ? all->blocks[number - all->lowest]
					     : (struct ct_order_block){ 0 };
}
