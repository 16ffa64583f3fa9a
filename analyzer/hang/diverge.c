/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that fit by chance: the ranks called the same thing, from different places of the program. */
#include <string.h>

#include "analyzer/hang/match.h"
#include "trace/status.h"

static const struct ct_hang_op *part(const struct ct_hang_index *ix,
				     const struct ct_hang_instance *i, uint32_t at)
{
	return &ix->c->ops[ix->parts[i->first + at]];
}

/* 1: the same place, 0: another, -1: not known of both. */
static int same_site(const struct ct_hang_op *a, const struct ct_hang_op *b)
{
	return a->site && b->site ? !strcmp(a->site, b->site) : -1;
}

static int all_from_one_place(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	for (uint32_t k = 1; k < i->n; k++)
		if (same_site(part(ix, i, 0), part(ix, i, k)) != 1)
			return 0;
	return i->n > 1;
}

static int places_differ(const struct ct_hang_index *ix, const struct ct_hang_instance *i)
{
	int differ = 0;

	for (uint32_t k = 1; k < i->n; k++) {
		int same = same_site(part(ix, i, 0), part(ix, i, k));

		if (same < 0)
			return 0;
		differ |= !same;
	}
	return differ;
}

/* Does `a`, one number after instance `at`, call from where `b` called that? */
static int is_one_behind(const struct ct_hang_index *ix, uint32_t at, const struct ct_hang_op *a,
			 const struct ct_hang_op *b)
{
	const struct ct_hang_instance *i = &ix->instances[at], *next = i + 1;
	uint32_t later;

	if (at + 1 >= ix->instance_first[i->comm + 1] || next->p2p || next->seq != i->seq + 1)
		return 0;
	later = ct_hang_part(ix, next, a->rank, 0);
	return later != CT_HANG_NONE && ix->c->ops[later].op == b->op &&
	       same_site(&ix->c->ops[later], b) == 1;
}

/* The place that most called from; without a majority, that of the first which did not go on. */
static const struct ct_hang_op *usual_of(const struct ct_hang_index *ix, uint32_t at)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	const struct ct_hang_op *candidate = part(ix, i, 0);
	uint32_t votes = 0, agree = 0;

	for (uint32_t k = 0; k < i->n; k++) {
		if (votes == 0)
			candidate = part(ix, i, k);
		votes += same_site(candidate, part(ix, i, k)) == 1 ? 1u : (uint32_t)-1;
	}
	for (uint32_t k = 0; k < i->n; k++)
		agree += same_site(candidate, part(ix, i, k)) == 1;
	if (2 * (uint64_t)agree > i->n)
		return candidate;
	for (uint32_t k = 0; k < i->n; k++) {
		const struct ct_hang_member
			*m = &ix->members[ix->member_of[ix->parts[i->first + k]]];

		if (m->last == i->seq)
			return part(ix, i, k);
	}
	return candidate;
}

static int describe(const struct ct_hang_index *ix, uint32_t at,
		    const struct ct_hang_divergence **found)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	const struct ct_hang_op *usual = usual_of(ix, at), *odd = NULL;
	struct ct_hang_divergence *d = ct_arena_calloc(ix->arena, 1, sizeof(*d));

	if (!d)
		return CT_NOMEM;
	d->ranks = ct_arena_calloc(ix->arena, i->n, sizeof(*d->ranks));
	if (!d->ranks)
		return CT_NOMEM;
	for (uint32_t k = 0; k < i->n; k++) {
		if (same_site(usual, part(ix, i, k)) != 0)
			continue;
		if (!odd)
			odd = part(ix, i, k);
		d->ranks[d->n_ranks++] = ix->c->ranks[part(ix, i, k)->rank].rank;
	}
	d->seq = i->seq;
	d->site = odd->site;
	d->usual_site = usual->site;
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
