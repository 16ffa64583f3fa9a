/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/order_hash.h"

#include <stdlib.h>

#include "trace/status.h"

/* size: blocks are small at first, so that a short run is compared in detail. */
#define FIRST_SHIFT 4u

void ct_order_hash_fini(struct ct_order_hash *h)
{
	for (uint32_t m = 0; h->rows && m < h->nranks; m++) {
		if (h->rows[m])
			ct_order_blocks_fini(h->rows[m]);
		free(h->rows[m]);
	}
	free(h->rows);
	*h = (struct ct_order_hash){ 0 };
}

/* Only recorded members get blocks, not all that a file claims. */
static struct ct_order_blocks *row_of(struct ct_order_hash *h, uint32_t nranks, uint32_t member)
{
	if (!h->rows) {
		h->rows = calloc(nranks, sizeof(*h->rows));
		h->nranks = nranks;
	}
	if (h->rows && !h->rows[member]) {
		h->rows[member] = malloc(sizeof(**h->rows));
		if (h->rows[member])
			*h->rows[member] = (struct ct_order_blocks){ .most = CT_ORDER_BLOCKS,
								     .shift = FIRST_SHIFT };
	}
	return h->rows ? h->rows[member] : NULL;
}

int ct_order_hash_add(struct ct_order_hash *h, uint32_t nranks, uint32_t member, uint64_t seq,
		      uint64_t what, int vague)
{
	struct ct_order_blocks *row = row_of(h, nranks, member);

	return row ? ct_order_blocks_add(row, seq, what, vague != 0) : CT_NOMEM;
}

/* ---- comparing ---- */

enum alike { ALIKE, DIFFERENT, UNKNOWN };

/* A member with fewer calls in it left no trace, lost records, or has not entered them yet: then
 * nothing is known. */
static enum alike compare(const struct ct_order_hash *h, uint64_t number)
{
	struct ct_order_block first = { 0 };
	int same = 1, vague = 0;

	for (uint32_t m = 0; m < h->nranks; m++) {
		struct ct_order_block block;

		if (!h->rows[m])
			return UNKNOWN;
		block = ct_order_blocks_at(h->rows[m], number);
		if (!m)
			first = block;
		if (block.n != first.n)
			return UNKNOWN;
		same &= block.what == first.what;
		vague |= block.aside != 0;
	}
	if (same)
		return ALIKE;
	return vague ? UNKNOWN : DIFFERENT;
}

/* The numbers that members called, and all of them in blocks of one width. */
static struct ct_order_blocks align(const struct ct_order_hash *h)
{
	struct ct_order_blocks all = { .most = CT_ORDER_BLOCKS, .first = UINT64_MAX };

	for (uint32_t m = 0; h->rows && m < h->nranks; m++) {
		const struct ct_order_blocks *row = h->rows[m];

		if (!row)
			continue;
		all.shift = row->shift > all.shift ? row->shift : all.shift;
		all.first = row->first < all.first ? row->first : all.first;
		all.after = row->after > all.after ? row->after : all.after;
	}
	if (all.after <= all.first)
		return all;
	while (((all.after - 1) >> all.shift) - (all.first >> all.shift) >= CT_ORDER_BLOCKS)
		all.shift++;
	all.lowest = all.first >> all.shift;
	all.n = (uint32_t)(((all.after - 1) >> all.shift) - all.lowest) + 1;
	for (uint32_t m = 0; m < h->nranks; m++)
		while (h->rows[m] && h->rows[m]->shift < all.shift)
			ct_order_blocks_widen(h->rows[m]);
	return all;
}

void ct_order_hash_compare(const struct ct_order_hash *h, struct ct_order_sums *sums)
{
	const struct ct_order_blocks all = align(h);
	int whole = 1;

	*sums = (struct ct_order_sums){ 0 };
	for (uint32_t b = 0; b < all.n; b++) {
		uint64_t begin = (all.lowest + b) << all.shift;
		uint64_t end = (all.lowest + b + 1) << all.shift;
		enum alike alike = compare(h, all.lowest + b);

		if (end > all.after || end < begin)
			end = all.after;
		whole &= alike == ALIKE;
		if (alike == DIFFERENT) {
			sums->differ_from = begin > all.first ? begin : all.first;
			sums->differ_to = end;
			break;
		}
		if (alike == ALIKE)
			sums->equal_after = end;
		if (h->rows[0])
			sums->digest += ct_order_blocks_at(h->rows[0], all.lowest + b).what;
	}
	sums->is_equal_throughout = h->rows && whole;
}
