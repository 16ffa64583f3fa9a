/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/order_hash.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "trace/status.h"

/* Blocks are small at first, so that a short run is told about in detail. */
#define FIRST_SHIFT 4u

static int begin(struct ct_order_hash *h, uint32_t nranks, uint64_t seq)
{
	/* Only members that are on record get blocks, not all that a file claims. */
	h->rows = calloc(nranks, sizeof(*h->rows));
	if (!h->rows)
		return CT_NOMEM;
	h->nranks = nranks;
	h->shift = FIRST_SHIFT;
	h->lowest = seq >> h->shift;
	h->first = seq;
	h->after = seq;
	return CT_OK;
}

void ct_order_hash_fini(struct ct_order_hash *h)
{
	for (uint32_t m = 0; h->rows && m < h->nranks; m++)
		free(h->rows[m]);
	free(h->rows);
	*h = (struct ct_order_hash){ 0 };
}

/* From now on the first block has number `lowest`, and blocks are 1 << shift wide. */
static void regroup(struct ct_order_hash *h, uint64_t lowest, unsigned shift)
{
	unsigned coarser = shift - h->shift, vague = 0;

	for (uint32_t m = 0; m < h->nranks; m++) {
		struct ct_order_block merged[CT_ORDER_BLOCKS] = { { 0 } };
		struct ct_order_block *blocks = h->rows[m];

		for (unsigned b = 0; blocks && b < CT_ORDER_BLOCKS; b++) {
			uint64_t to = ((h->lowest + b) >> coarser) - lowest;

			if (!blocks[b].n)
				continue;
			merged[to].sum += blocks[b].sum;
			merged[to].n += blocks[b].n;
		}
		if (blocks)
			memcpy(blocks, merged, sizeof(merged));
	}
	for (unsigned b = 0; b < CT_ORDER_BLOCKS; b++) {
		if (h->vague >> b & 1)
			vague |= 1u << (((h->lowest + b) >> coarser) - lowest);
	}
	h->vague = vague;
	h->lowest = lowest;
	h->shift = shift;
}

/* Make the blocks as wide as it takes for [first, last] to lie in them. */
static void reach(struct ct_order_hash *h, uint64_t first, uint64_t last)
{
	unsigned shift = h->shift;

	while ((last >> shift) - (first >> shift) >= CT_ORDER_BLOCKS)
		shift++;
	if (shift != h->shift || first >> shift < h->lowest)
		regroup(h, first >> shift, shift);
}

int ct_order_hash_add(struct ct_order_hash *h, uint32_t nranks, uint32_t member, uint64_t seq,
		      uint64_t what, int vague)
{
	struct ct_order_block *block;
	uint64_t at;

	if (!h->rows && begin(h, nranks, seq) != CT_OK)
		return CT_NOMEM;
	if (!h->rows[member])
		h->rows[member] = calloc(CT_ORDER_BLOCKS, sizeof(*block));
	if (!h->rows[member])
		return CT_NOMEM;
	at = (seq >> h->shift) - h->lowest;
	if (at >= CT_ORDER_BLOCKS) {
		uint64_t last = h->after > h->first ? h->after - 1 : h->first;

		reach(h, seq < h->first ? seq : h->first, seq > last ? seq : last);
		at = (seq >> h->shift) - h->lowest;
	}
	if (seq < h->first)
		h->first = seq;
	if (seq >= h->after)
		h->after = seq < UINT64_MAX ? seq + 1 : seq;
	block = &h->rows[member][at];
	block->sum += ct_mix(what + seq * 0x9e3779b97f4a7c15ull);
	block->n++;
	h->vague |= (unsigned)(vague != 0) << at;
	return CT_OK;
}

/* ---- comparing ---- */

enum alike { ALIKE, DIFFERENT, UNKNOWN };

/* A member that called fewer in it left no trace, lost records, or has not come to it yet: nothing is known then. */
static enum alike compare(const struct ct_order_hash *h, unsigned b)
{
	const struct ct_order_block *first = NULL;
	int same = 1;

	for (uint32_t m = 0; m < h->nranks; m++) {
		const struct ct_order_block *block = h->rows[m] ? &h->rows[m][b] : NULL;

		first = m ? first : block;
		if (!block || block->n != first->n)
			return UNKNOWN;
		same &= block->sum == first->sum;
	}
	if (same)
		return ALIKE;
	return h->vague >> b & 1 ? UNKNOWN : DIFFERENT;
}

void ct_order_hash_compare(const struct ct_order_hash *h, struct ct_order_sums *sums)
{
	int whole = 1;

	*sums = (struct ct_order_sums){ 0 };
	for (unsigned b = 0; h->rows && b < CT_ORDER_BLOCKS; b++) {
		uint64_t begin = (h->lowest + b) << h->shift, end = (h->lowest + b + 1) << h->shift;
		enum alike alike = compare(h, b);

		if (end > h->after || end < begin)
			end = h->after;
		if (begin >= h->after)
			break;
		whole &= alike == ALIKE;
		if (alike == DIFFERENT) {
			sums->differ_from = begin > h->first ? begin : h->first;
			sums->differ_to = end;
			break;
		}
		if (alike == ALIKE)
			sums->equal_after = end;
		if (h->rows[0])
			sums->digest += h->rows[0][b].sum;
	}
	sums->is_whole = h->rows && whole;
}
