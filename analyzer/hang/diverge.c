/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that fit by chance: the ranks called the same thing, from different places of the program. */
#include "analyzer/hang/match.h"
#include "trace/status.h"

static int all_from_one_place(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	for (uint32_t k = 1; k < i->n; k++)
		if (!ct_order_same_site(ct_hang_called_by(ix, i, 0), ct_hang_called_by(ix, i, k)))
			return 0;
	return i->n > 1;
}

static int places_differ(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	int differ = 0;

	for (uint32_t k = 1; k < i->n; k++) {
		if (!ct_hang_called_by(ix, i, 0)->site || !ct_hang_called_by(ix, i, k)->site)
			return 0;
		differ |= ct_order_other_site(ct_hang_called_by(ix, i, 0),
					      ct_hang_called_by(ix, i, k));
	}
	return differ;
}

/* Does the rank of op `a`, one number after instance `at`, call from where `b` called that? */
static int is_one_behind(const struct ct_hang_index *ix, uint32_t at, uint32_t a, uint32_t b)
{
	const struct ct_hang_instance *i = &ix->instances[at], *next = i + 1;
	uint32_t later;

	if (at + 1 >= ix->instance_first[i->comm + 1] || next->p2p || next->seq != i->seq + 1)
		return 0;
	later = ct_hang_part(ix, next, ix->c->ops[a].rank, 0);
	return later != CT_HANG_NONE && ix->called[later].op == ix->called[b].op &&
	       ct_order_same_site(&ix->called[later], &ix->called[b]);
}

/* Parts of one instance. */
struct parts {
	const struct ct_hang_index *ix;
	const struct ct_hang_instance *i;
};

static int agree_on_site(const void *arg, uint32_t a, uint32_t b)
{
	const struct parts *p = arg;

	return ct_order_same_site(ct_hang_called_by(p->ix, p->i, a),
				  ct_hang_called_by(p->ix, p->i, b));
}

/* The place that most called from; without a majority, that of the first which did not go on. */
static uint32_t usual_of(const struct ct_hang_index *ix, uint32_t at)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	uint32_t agree,
		usual = ct_order_vote(i->n, agree_on_site, &(struct parts){ ix, i }, &agree);

	for (uint32_t k = 0; k < i->n && 2 * (uint64_t)agree <= i->n; k++) {
		uint32_t op = ix->parts[i->first + k];

		if (ix->members[ix->member_of[op]].last == i->seq)
			return op;
	}
	return ix->parts[i->first + usual];
}

static int describe(const struct ct_hang_index *ix, uint32_t at,
		    const struct ct_hang_divergence **found)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	uint32_t usual = usual_of(ix, at), odd = CT_HANG_NONE;
	struct ct_hang_divergence *d = ct_arena_calloc(ix->arena, 1, sizeof(*d));

	if (!d)
		return CT_NOMEM;
	d->ranks = ct_arena_calloc(ix->arena, i->n, sizeof(*d->ranks));
	if (!d->ranks)
		return CT_NOMEM;
	for (uint32_t k = 0; k < i->n; k++) {
		uint32_t op = ix->parts[i->first + k];

		if (!ct_order_other_site(&ix->called[usual], &ix->called[op]))
			continue;
		if (odd == CT_HANG_NONE)
			odd = op;
		d->ranks[d->n_ranks++] = ix->c->ranks[ix->c->ops[op].rank].rank;
	}
	d->seq = i->seq;
	d->site = ix->c->ops[odd].site;
	d->usual_site = ix->c->ops[usual].site;
	/* Where calls alternate, both fit. */
	d->more = is_one_behind(ix, at, odd, usual) - is_one_behind(ix, at, usual, odd);
	d->both = !d->more && is_one_behind(ix, at, odd, usual);
	*found = d;
	return CT_OK;
}

int ct_hang_diverge(const struct ct_hang_index *ix, uint32_t upto,
		    const struct ct_hang_divergence **found)
{
	const struct ct_hang_instance *end = &ix->instances[upto];
	uint32_t first = ix->instance_first[end->comm], at = CT_HANG_NONE;
	int alike = 0;

	*found = NULL;
	if (end->p2p)
		return CT_OK;
	for (uint32_t k = first; k <= upto; k++) {
		const struct ct_hang_instance *i = &ix->instances[k];

		if (k < upto && all_from_one_place(ix, i)) {
			/* Places differ by right, in a branch per rank, where they agree again afterwards. */
			alike = 1;
			at = CT_HANG_NONE;
		} else if (alike && at == CT_HANG_NONE && places_differ(ix, i)) {
			at = k;
		}
	}
	return at == CT_HANG_NONE ? CT_OK : describe(ix, at, found);
}
