/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/match.h"

#include "trace/ops.h"
#include "trace/status.h"

/* Numbers behind the first difference that are compared to see whether one was left out or is too many. */
#define CT_SHIFT_OPS 8u

/* CT_HANG_CODES: no field. */
static enum ct_hang_code code_of(enum ct_mismatch_field field)
{
	static const enum ct_hang_code codes[] = {
		[CT_MISMATCH_NONE] = CT_HANG_CODES,
		[CT_MISMATCH_OP] = CT_HANG_IS_MISMATCH_OP,
		[CT_MISMATCH_BYTES] = CT_HANG_IS_MISMATCH_COUNT,
		[CT_MISMATCH_DTYPE] = CT_HANG_IS_MISMATCH_DTYPE,
		[CT_MISMATCH_REDOP] = CT_HANG_IS_MISMATCH_REDOP,
		[CT_MISMATCH_ROOT] = CT_HANG_IS_MISMATCH_ROOT,
	};

	return codes[field];
}

static const struct ct_hang_op *part(const struct ct_hang_index *ix,
				     const struct ct_hang_instance *i, uint32_t at)
{
	return &ix->c->ops[ix->parts[i->first + at]];
}

/* Parts of one instance. */
struct parts {
	const struct ct_hang_index *ix;
	const struct ct_hang_instance *i;
};

static int agree_on(const void *arg, uint32_t a, uint32_t b)
{
	const struct parts *p = arg;

	return !ct_order_differ(ct_hang_called_by(p->ix, p->i, a),
				ct_hang_called_by(p->ix, p->i, b));
}

static int signature_differs(const struct ct_order_call *a, const struct ct_order_call *b)
{
	return ct_order_differ(a, b) || ct_order_other_site(a, b);
}

/* How many numbers from instance `at` on agree if those of `a` are compared with those of `b`, `ahead` (0 or 1) numbers later; -1 if
 * one does not, 0 if no number is on record for both. */
static int agree_shifted(const struct ct_hang_index *ix, uint32_t at, uint32_t a, uint32_t b,
			 uint32_t ahead)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	uint32_t end = ix->instance_first[i->comm + 1];
	int n = 0;

	for (uint32_t k = at; k + ahead < end && k < at + CT_SHIFT_OPS; k++) {
		const struct ct_hang_instance *here = &ix->instances[k], *next = here + ahead;
		uint32_t x, y;

		if (next->p2p || next->seq != here->seq + ahead)
			break;
		x = ct_hang_part(ix, here, a, 0);
		y = ct_hang_part(ix, next, b, 0);
		if (x == CT_HANG_NONE || y == CT_HANG_NONE)
			continue;
		if (signature_differs(&ix->called[x], &ix->called[y]))
			return -1;
		n++;
	}
	return n;
}

/* The last time that `rank` called what it calls at instance `at`, did it call then what `other` calls here? */
static int is_usual_next(const struct ct_hang_index *ix, uint32_t at, uint32_t rank, uint32_t other)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	const struct ct_order_call *here = &ix->called[ct_hang_part(ix, i, rank, 0)];
	const struct ct_order_call *next = &ix->called[ct_hang_part(ix, i, other, 0)];
	uint32_t first = ix->instance_first[i->comm];

	for (uint32_t k = at; k-- > first + 1;) {
		uint32_t x = ct_hang_part(ix, &ix->instances[k - 1], rank, 0);
		uint32_t y = ct_hang_part(ix, &ix->instances[k], rank, 0);

		if (x != CT_HANG_NONE && y != CT_HANG_NONE &&
		    !signature_differs(&ix->called[x], here))
			return !signature_differs(&ix->called[y], next);
	}
	return 0;
}

/* Was one left out, or called too often? Where calls alternate, both explain the same records, and neither is told alone. */
static void explain(const struct ct_hang_index *ix, uint32_t at, struct ct_hang_mismatch *m)
{
	uint32_t odd = ix->c->ops[m->odd].rank, other = ix->c->ops[m->usual].rank;
	int skipped = agree_shifted(ix, at, odd, other, 1);
	int extra = agree_shifted(ix, at, other, odd, 1);
	int may_skip = skipped > 0 || (!skipped && is_usual_next(ix, at, other, odd));
	int may_extra = extra > 0 || (!extra && is_usual_next(ix, at, odd, other));

	m->both = may_skip && may_extra;
	if (skipped > 0 && !m->both)
		m->code = CT_HANG_IS_SKIPPED_OP;
	else if (extra > 0 && !m->both)
		m->code = CT_HANG_IS_EXTRA_OP;
}

static int describe(const struct ct_hang_index *ix, uint32_t at, struct ct_hang_mismatch **found)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	struct ct_hang_mismatch *m = ct_arena_calloc(ix->arena, 1, sizeof(*m));
	uint32_t agree, usual = ct_order_vote(i->n, agree_on, &(struct parts){ ix, i }, &agree);

	if (!m)
		return CT_NOMEM;
	m->culprits = ct_arena_calloc(ix->arena, i->n, sizeof(*m->culprits));
	if (!m->culprits)
		return CT_NOMEM;
	m->instance = at;
	m->tie = 2 * (uint64_t)agree <= i->n;
	m->usual = ix->parts[i->first + usual];
	m->code = CT_HANG_CODES;
	for (uint32_t k = 0; k < i->n; k++) {
		enum ct_hang_code code = code_of(ct_order_differ(ct_hang_called_by(ix, i, usual),
								 ct_hang_called_by(ix, i, k)));

		if (code != CT_HANG_CODES && m->code == CT_HANG_CODES) {
			m->code = code;
			m->odd = ix->parts[i->first + k];
		}
		if (m->tie || code != CT_HANG_CODES)
			m->culprits[m->n_culprits++] = part(ix, i, k)->rank;
	}
	*found = m;
	if (m->tie || m->code == CT_HANG_CODES)
		return CT_OK;
	/* What goes on alike afterwards was only bent. */
	if (at + 1 >= ix->instance_first[i->comm + 1] ||
	    agree_shifted(ix, at + 1, ix->c->ops[m->odd].rank, ix->c->ops[m->usual].rank, 0) <= 0)
		explain(ix, at, m);
	return CT_OK;
}

/* The highest number up to which all whose ops are on record have finished. */
static uint64_t finished_by_all(const struct ct_hang_index *ix, uint32_t comm, int *any)
{
	uint64_t least = UINT64_MAX;

	*any = 1;
	for (uint32_t m = ix->member_first[comm]; m < ix->member_first[comm + 1]; m++)
		if (ix->members[m].has_last && ix->members[m].last < least)
			least = ix->members[m].last;
	for (uint32_t at = ix->instance_first[comm]; at < ix->instance_first[comm + 1]; at++) {
		const struct ct_hang_instance *i = &ix->instances[at];

		if (i->p2p || i->seq > least)
			break;
		for (uint32_t k = 0; k < i->n; k++) {
			if (part(ix, i, k)->state == CT_STATE_FINISHED)
				continue;
			*any = i->seq > 0;
			return i->seq - 1;
		}
	}
	return least;
}

int ct_hang_match(const struct ct_hang_index *ix, uint32_t comm, struct ct_hang_mismatch **found)
{
	int any;
	uint64_t done = finished_by_all(ix, comm, &any);

	*found = NULL;
	for (uint32_t at = ix->instance_first[comm]; at < ix->instance_first[comm + 1]; at++) {
		const struct ct_hang_instance *i = &ix->instances[at];

		if (i->p2p)
			break;
		if (any && i->seq < done) /* all went past it */
			continue;
		for (uint32_t k = 1; k < i->n; k++)
			if (ct_order_differ(ct_hang_called_by(ix, i, 0),
					    ct_hang_called_by(ix, i, k)))
				return describe(ix, at, found);
	}
	return CT_OK;
}

enum ct_hang_code ct_hang_message_between(unsigned backend, const struct ct_hang_op *send,
					  const struct ct_hang_op *recv)
{
	const struct ct_order_call s = ct_hang_called(send), r = ct_hang_called(recv);

	return code_of(ct_order_message_differ(backend, &s, &r));
}

int ct_hang_match_message(const struct ct_hang_index *ix, uint32_t at,
			  struct ct_hang_mismatch **found)
{
	const struct ct_hang_instance *i = &ix->instances[at];
	const struct ct_hang_op *send = NULL, *recv = NULL;
	struct ct_hang_mismatch *m;
	enum ct_hang_code code;

	*found = NULL;
	for (uint32_t k = 0; k < i->n; k++) {
		if (part(ix, i, k)->op == CT_OP_Send)
			send = part(ix, i, k);
		else
			recv = part(ix, i, k);
	}
	if (!i->p2p || !send || !recv || send->bytes == recv->bytes)
		return CT_OK;
	code = ct_hang_message_between(ix->c->comms[i->comm].backend, send, recv);
	if (code == CT_HANG_CODES)
		return CT_OK;
	m = ct_arena_calloc(ix->arena, 1, sizeof(*m));
	if (!m)
		return CT_NOMEM;
	m->culprits = ct_arena_calloc(ix->arena, 2, sizeof(*m->culprits));
	if (!m->culprits)
		return CT_NOMEM;
	m->instance = at;
	m->tie = 1;
	m->code = code;
	m->usual = (uint32_t)(send - ix->c->ops);
	m->odd = (uint32_t)(recv - ix->c->ops);
	m->culprits[m->n_culprits++] = send->rank < recv->rank ? send->rank : recv->rank;
	if (send->rank != recv->rank)
		m->culprits[m->n_culprits++] = send->rank < recv->rank ? recv->rank : send->rank;
	*found = m;
	return CT_OK;
}
