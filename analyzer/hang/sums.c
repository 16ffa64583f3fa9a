/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/sums.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "trace/status.h"

static int reach(struct ct_hang_sums *sums, uint32_t n)
{
	uint32_t cap = sums->cap ? sums->cap : 16;
	struct ct_hang_sum *grown;

	while (cap < n)
		cap *= 2;
	if (cap > sums->cap) {
		grown = reallocarray(sums->blocks, cap, sizeof(*grown));
		if (!grown)
			return CT_NOMEM;
		sums->blocks = grown;
		sums->cap = cap;
	}
	for (; sums->n < n; sums->n++)
		sums->blocks[sums->n] = (struct ct_hang_sum){ 0 };
	return CT_OK;
}

static void add(struct ct_hang_sum *to, const struct ct_hang_sum *from)
{
	to->what += from->what;
	to->site += from->site;
	to->n += from->n;
}

static void widen(struct ct_hang_sums *sums)
{
	for (uint32_t i = 0; i < sums->n; i++) {
		struct ct_hang_sum one = sums->blocks[i];

		sums->blocks[i] = (struct ct_hang_sum){ 0 };
		add(&sums->blocks[i / 2], &one);
	}
	sums->n = (sums->n + 1) / 2;
	sums->shift++;
}

int ct_hang_sums_add(struct ct_hang_sums *sums, uint64_t seq, uint64_t what, uint64_t site)
{
	struct ct_hang_sum one = { .n = 1 };

	if (!sums->shift) {
		sums->shift = CT_HANG_SUM_SHIFT;
		sums->first = UINT64_MAX;
	}
	while (seq >> sums->shift >= (sums->most ? sums->most : CT_HANG_SUM_BLOCKS))
		widen(sums);
	if (reach(sums, (uint32_t)(seq >> sums->shift) + 1) != CT_OK)
		return CT_NOMEM;
	one.what = ct_mix(what ^ ct_mix(seq));
	one.site = ct_mix(site ^ ct_mix(seq));
	add(&sums->blocks[seq >> sums->shift], &one);
	if (seq < sums->first)
		sums->first = seq;
	if (seq >= sums->after)
		sums->after = seq + 1;
	return CT_OK;
}

void ct_hang_sums_fini(struct ct_hang_sums *sums)
{
	free(sums->blocks);
	*sums = (struct ct_hang_sums){ 0 };
}

void ct_hang_order_init(struct ct_hang_order *order)
{
	*order = (struct ct_hang_order){ .issued = UINT64_MAX,
					 .apart = UINT64_MAX,
					 .site_apart = UINT64_MAX,
					 .tail = UINT64_MAX };
}

/* The first of two places, each from..to. */
static void note(uint64_t *from, uint64_t *to, uint64_t at, uint64_t width)
{
	if (at < *from) {
		*from = at;
		*to = at + width;
	}
}

static void compare(struct ct_hang_order *order, const struct ct_hang_sums *sums)
{
	struct ct_hang_sums *all = &order->all;
	uint64_t width = 1ull << all->shift;

	for (uint32_t b = 0; b < all->n && b < sums->n; b++) {
		struct ct_hang_sum *usual = &all->blocks[b];
		const struct ct_hang_sum *mine = &sums->blocks[b];
		uint64_t at = (uint64_t)b << all->shift;

		/* before the first record of one of them nothing can be said */
		if (!usual->n || !mine->n || at < order->since) {
			if (!usual->n)
				*usual = *mine;
			continue;
		}
		if (usual->n != mine->n) {
			order->tail = at < order->tail ? at : order->tail;
			if (mine->n > usual->n)
				*usual = *mine;
			continue;
		}
		if (usual->what != mine->what)
			note(&order->apart, &order->apart_to, at, width);
		if (usual->site != mine->site)
			note(&order->site_apart, &order->site_apart_to, at, width);
	}
}

int ct_hang_order_take(struct ct_hang_order *order, struct ct_hang_sums *sums)
{
	struct ct_hang_sums *all = &order->all;
	int st = CT_OK;

	order->members++;
	if (sums->after < order->issued)
		order->issued = sums->after;
	if (!sums->n) {
		ct_hang_sums_fini(sums);
		return CT_OK;
	}
	if (sums->first > order->since)
		order->since = sums->first;
	if (!all->n) {
		*all = *sums;
		*sums = (struct ct_hang_sums){ 0 };
		return CT_OK;
	}
	while (sums->shift < all->shift)
		widen(sums);
	while (all->shift < sums->shift)
		widen(all);
	compare(order, sums);
	if (sums->n > all->n) {
		uint32_t n = all->n;

		st = reach(all, sums->n);
		if (st == CT_OK)
			memcpy(all->blocks + n, sums->blocks + n,
			       (sums->n - n) * sizeof(*sums->blocks));
	}
	if (sums->after > all->after)
		all->after = sums->after;
	ct_hang_sums_fini(sums);
	return st;
}
