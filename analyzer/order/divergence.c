/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/divergence.h"

#include "analyzer/base/limits.h"
#include "trace/ops.h"

/* The calls of the two sets, by sequence number; NULL: unknown, or the members of the set disagree.
 */
struct sides {
	uint64_t begin; /* sequence number of the first */
	const struct ct_order_call *usual[CT_ORDER_ROWS], *odd[CT_ORDER_ROWS];
	struct ct_order_call of_usual[CT_ORDER_ROWS], of_odd[CT_ORDER_ROWS];
};

/* Without a site if the members of the set called from several. */
static const struct ct_order_call *call_of_set(const struct ct_order *order, uint64_t seq,
					       const uint8_t *set, uint8_t which,
					       struct ct_order_call *copy)
{
	const struct ct_order_row *row = &order->rows[seq % CT_ORDER_ROWS];
	const struct ct_order_call *found = NULL;
	int one_site = 1;

	if (!row->n || row->seq != seq)
		return NULL;
	if (!row->is_mixed)
		return &row->call;
	for (uint32_t m = 0; m < order->comm->nranks; m++) {
		const struct ct_order_call *call;

		if (set[m] != which || !row->more->who[m])
			continue;
		call = ct_order_at(order, seq, m);
		if (!call || (found && call != found && ct_order_differ(call, found)))
			return NULL;
		one_site &= !found || call->site == found->site;
		found = found ? found : call;
	}
	if (!found || one_site)
		return found;
	*copy = *found;
	copy->site = NULL;
	return copy;
}

static void lay_out(const struct ct_order *order, uint64_t seq, const uint8_t *set,
		    struct sides *sides)
{
	sides->begin = seq > CT_ORDER_BEFORE ? seq - CT_ORDER_BEFORE : 0;
	for (uint32_t i = 0; i < CT_ORDER_ROWS; i++) {
		sides->usual[i] = call_of_set(order, sides->begin + i, set, CT_DIVERGENCE_USUAL,
					      &sides->of_usual[i]);
		sides->odd[i] = call_of_set(order, sides->begin + i, set, CT_DIVERGENCE_ODD,
					    &sides->of_odd[i]);
	}
}

/* ---- in which set ---- */

/* Calls at one number, those together that do not contradict each other. */
struct classes {
	uint32_t of[CT_ORDER_CALLS], members[CT_ORDER_CALLS], lowest[CT_ORDER_CALLS];
	uint32_t n_calls;
};

static void classify(const struct ct_order_more *more, uint32_t nranks, struct classes *c)
{
	*c = (struct classes){ .n_calls = more->n_calls };
	for (uint32_t i = 0; i < more->n_calls; i++) {
		uint32_t first = 0;

		while (ct_order_differ(&more->calls[first], &more->calls[i]))
			first++;
		c->of[i] = first;
	}
	for (uint32_t m = nranks; m-- > 0;) {
		if (more->who[m] && more->who[m] <= more->n_calls) {
			c->members[c->of[more->who[m] - 1]]++;
			c->lowest[c->of[more->who[m] - 1]] = m;
		}
	}
}

static uint32_t largest_of(const struct classes *c)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < c->n_calls; i++) {
		if (c->members[i] > c->members[best] ||
		    (c->members[i] == c->members[best] && c->lowest[i] < c->lowest[best]))
			best = i;
	}
	return best;
}

/* Members without a record may belong to either set. Where they could change the majority, more
 * than half of the members must be on record, and the usual ones must be twice as many. */
static void set_minority(struct ct_divergence *a)
{
	uint64_t seen = (uint64_t)a->n_usual + a->n_odd;

	a->is_sure = a->n_usual > (uint64_t)a->n_odd + a->n_unseen;
	a->has_minority = a->is_sure ||
			  (seen > a->n_unseen && a->n_usual >= 2 * (uint64_t)a->n_odd);
}

/* The usual ones are the largest class, of several that of the lowest rank. */
static int split(const struct ct_order *order, uint64_t seq, uint8_t *set,
		 struct ct_divergence *out)
{
	const struct ct_order_row *row = &order->rows[seq % CT_ORDER_ROWS];
	uint32_t nranks = order->comm->nranks, largest;
	struct classes classes;

	if (!row->n || row->seq != seq || !row->is_mixed)
		return 0;
	classify(row->more, nranks, &classes);
	largest = largest_of(&classes);
	for (uint32_t m = 0; m < nranks; m++) {
		unsigned who = row->more->who[m];

		/* more distinct calls than can be stored: which of them is usual is unknown */
		if (who > classes.n_calls)
			return 0;
		if (!who)
			set[m] = CT_DIVERGENCE_UNSEEN;
		else if (classes.of[who - 1] == largest)
			set[m] = CT_DIVERGENCE_USUAL;
		else
			set[m] = CT_DIVERGENCE_ODD;
		out->n_unseen += set[m] == CT_DIVERGENCE_UNSEEN;
		out->n_usual += set[m] == CT_DIVERGENCE_USUAL;
		out->n_odd += set[m] == CT_DIVERGENCE_ODD;
	}
	set_minority(out);
	return out->n_usual && out->n_odd;
}

/* ---- which hypothesis ---- */

/* Numbers at which both sides are known: where the shifted calls agree, where their sites are
 * equal, where they would disagree without the shift; and how many contradictions at equal numbers
 * the shift explains by calls of the odd ones, or by calls of the usual ones. */
struct fit {
	uint32_t fits, sites, sites_differ, odd_differs, usual_differs;
	int contradicted;
};

static int clash(const struct sides *s, uint32_t at)
{
	return s->odd[at] && s->usual[at] && ct_order_differ(s->odd[at], s->usual[at]);
}

/* o(s + odd_by) against u(s + usual_by), from number `from` on. */
static struct fit try(const struct sides *s, uint32_t from, uint32_t odd_by, uint32_t usual_by)
{
	uint32_t by = odd_by > usual_by ? odd_by : usual_by;
	struct fit fit = { 0 };

	for (uint32_t i = from; i + by < CT_ORDER_ROWS; i++) {
		const struct ct_order_call *odd = s->odd[i + odd_by];
		const struct ct_order_call *usual = s->usual[i + usual_by];

		if (!odd || !usual)
			continue;
		if (odd->op == CT_OP_GraphLaunch || usual->op == CT_OP_GraphLaunch ||
		    ct_order_differ(odd, usual)) {
			fit.contradicted = 1;
			return fit;
		}
		fit.fits++;
		fit.odd_differs += (uint32_t)clash(s, i + odd_by);
		fit.usual_differs += (uint32_t)clash(s, i + usual_by);
		fit.sites += ct_order_same_site(odd, usual);
		fit.sites_differ += ct_order_other_site(odd, s->usual[i + odd_by]);
	}
	return fit;
}

static int holds(const struct fit *fit)
{
	if (fit->contradicted)
		return 0;
	return fit->odd_differs >= CT_LEAST_FITS || fit->usual_differs >= CT_LEAST_FITS ||
	       (fit->sites_differ && fit->sites == fit->fits);
}

/* The number after the last that is known of a side. */
static uint32_t length(const struct ct_order_call *const *side)
{
	uint32_t n = CT_ORDER_ROWS;

	while (n > 0 && !side[n - 1])
		n--;
	return n;
}

/* Both shifts would explain it, as in a loop over two operations: then the progress of the sets
 * decides, if it can. */
static int decide(const struct sides *s, uint32_t k)
{
	uint32_t odd = length(s->odd), usual = length(s->usual);

	if (odd == CT_ORDER_ROWS || usual == CT_ORDER_ROWS)
		return 0;
	if (odd + k == usual)
		return -1;
	return usual + k == odd;
}

/* Do the calls after the shift's own numbers also agree without a shift? Then the difference may be
 * a few other or exchanged calls among equal operations. The progress of the sets decides, or
 * contradictions after the kept part: `instances` is the number of all. */
static int may_be_in_step(const struct sides *s, uint32_t at, uint32_t k, int which,
			  uint64_t instances)
{
	struct fit behind = try(s, at + k + 1, 0, 0);
	uint64_t clashes = 0;

	if (behind.contradicted || !behind.fits)
		return 0;
	for (uint32_t i = 0; i < CT_ORDER_ROWS; i++)
		clashes += (uint64_t)clash(s, i);
	if (length(s->odd) < CT_ORDER_ROWS && length(s->usual) < CT_ORDER_ROWS)
		return decide(s, k) != which;
	return instances < clashes + CT_LEAST_FITS;
}

/* Pairs of numbers a period apart that must be equal, including the pair at D. With two alternating
 * operations one less: there a missing one looks like an extra one, and neither is reported. */
#define LEAST_REPEATS(period) ((period) == 2 ? 3u : 4u)

static int alike(const struct ct_order_call *a, const struct ct_order_call *b)
{
	return a && b && a->op != CT_OP_GraphLaunch && !ct_order_differ(a, b) &&
	       !ct_order_other_site(a, b);
}

/* Are the calls of the usual ones up to `at` periodic? The shortest period; 0: none is visible. */
static uint32_t period(const struct sides *s, uint32_t at)
{
	uint32_t from = at;

	while (from > 0 && s->usual[from - 1])
		from--;
	for (uint32_t p = 2; p + LEAST_REPEATS(p) <= at + 1 - from; p++) {
		uint32_t i = from + p;

		while (i <= at && alike(s->usual[i - p], s->usual[i]))
			i++;
		if (i > at)
			return p;
	}
	return 0;
}

/* Do the latest two calls of the usual ones alternate, whatever preceded them? */
static int alternates(const struct sides *s, uint32_t at)
{
	for (uint32_t i = at; i + LEAST_REPEATS(2) > at; i--)
		if (i < 2 || !alike(s->usual[i - 2], s->usual[i]))
			return 0;
	return 1;
}

/* What the usual ones called, or would have called next. */
static const struct ct_order_call *expected(const struct sides *s, uint32_t at, uint32_t p)
{
	return s->usual[at] ? s->usual[at] : s->usual[at - p];
}

/* The odd ones are still in this operation, or hardly past it: is their call the one that usually
 * follows it, or the one before it again? If both are the same, it is undecidable. */
static void explain_by_habit(const struct sides *s, uint32_t at, struct ct_divergence *out)
{
	struct fit skipped = try(s, at, 0, 1), extra = try(s, at, 1, 0);
	uint32_t whole = period(s, at), p = whole ? whole : alternates(s, at) ? 2 : 0;
	int is_next, is_again;

	/* the calls of a rank show which made more progress */
	if (!p || s->odd[at + 2])
		return;
	is_next = alike(s->odd[at], expected(s, at + 1, p)) && !skipped.contradicted &&
		  (!s->odd[at + 1] || alike(s->odd[at + 1], expected(s, at + 2, p)));
	is_again = alike(s->odd[at], s->usual[at - 1]) && !extra.contradicted;
	out->is_either |= is_next && is_again;
	if (is_next == is_again || !whole)
		return;
	out->is_either = 0;
	out->by = 1;
	out->how = is_next ? CT_DIVERGENCE_SKIPPED : CT_DIVERGENCE_EXTRA;
	out->fits = 1;
	out->by_habit = 1;
}

/* Is it a shift by k? 1; 0: no evidence; -1: either of the two. */
static int is_shift(const struct sides *s, uint32_t at, uint32_t k, uint64_t instances,
		    struct ct_divergence *out)
{
	struct fit skipped = try(s, at, 0, k), extra = try(s, at, k, 0);
	int is_skipped = holds(&skipped), is_extra = holds(&extra);
	int which = is_skipped && is_extra ? decide(s, k) : is_extra - is_skipped;

	if (is_skipped && is_extra && !which)
		return -1;
	if (!which || may_be_in_step(s, at, k, which, instances))
		return 0;
	out->by = k;
	out->how = which < 0 ? CT_DIVERGENCE_SKIPPED : CT_DIVERGENCE_EXTRA;
	out->fits = which < 0 ? skipped.fits : extra.fits;
	return 1;
}

/* A single operation first, which habit shows for ranks that hardly progressed; in a loop these fit
 * a shift by most of it as well. */
static void explain(const struct sides *s, uint32_t at, uint64_t instances,
		    struct ct_divergence *out)
{
	struct fit again = try(s, at + 1, 0, 0);
	int found;

	if (!again.contradicted && again.fits)
		return;
	found = is_shift(s, at, 1, instances, out);
	out->is_either = found < 0;
	if (found <= 0)
		explain_by_habit(s, at, out);
	for (uint32_t k = 2; k <= CT_DIVERGENCE_MOST && !out->by && !out->is_either && found >= 0;
	     k++)
		found = is_shift(s, at, k, instances, out);
}

/* ---- what sites show ---- */

/* Going back from `at`: the first of consecutive numbers at which the sets' sites differ, after one
 * at which they agree. `at` if there is none: sites that always differ prove nothing. */
static uint32_t first_other_site(const struct sides *s, uint32_t at)
{
	uint32_t i = at;

	while (i > 0 && ct_order_other_site(s->usual[i - 1], s->odd[i - 1]))
		i--;
	return i > 0 && ct_order_same_site(s->usual[i - 1], s->odd[i - 1]) ? i : at;
}

/* Does o(s) = u(s + k), or the reverse, site and all, hold for all numbers in [from, at)? */
static int shifted_by_site(const struct sides *s, uint32_t from, uint32_t at,
			   enum ct_divergence_how how, uint32_t k)
{
	for (uint32_t i = from; i < at; i++) {
		const struct ct_order_call *odd, *usual;

		if (i + k >= CT_ORDER_ROWS)
			return 0;
		odd = s->odd[how == CT_DIVERGENCE_EXTRA ? i + k : i];
		usual = s->usual[how == CT_DIVERGENCE_EXTRA ? i : i + k];
		if (!odd || !usual || ct_order_differ(odd, usual) ||
		    !ct_order_same_site(odd, usual))
			return 0;
	}
	return 1;
}

static void note_sites(const struct sides *s, uint32_t at, struct ct_divergence *out)
{
	out->has_sites = 1;
	out->site_seq = s->begin + at;
	out->usual_site = s->usual[at]->site;
	out->odd_site = s->odd[at]->site;
}

/* The divergence may begin before the calls contradict each other. Returns where. */
static uint32_t trace_back(const struct sides *s, uint32_t at, struct ct_divergence *out)
{
	uint32_t first = first_other_site(s, at), began = first;

	if (first < at || (ct_order_other_site(s->usual[at], s->odd[at]) &&
			   (at == 0 || ct_order_same_site(s->usual[at - 1], s->odd[at - 1]))))
		note_sites(s, first, out);
	while (began < at && !(out->by && shifted_by_site(s, began, at, out->how, out->by)))
		began++;
	return began;
}

/* ---- the two doors ---- */

/* If the preceding operation equals the last missing or extra one, it may be the first of them
 * instead, and so on: in a row of equal operations any may be, unless sites differ. */
static int may_be_earlier(const struct sides *s, uint32_t began, const struct ct_divergence *a)
{
	const struct ct_order_call *const *side = a->how == CT_DIVERGENCE_EXTRA ? s->odd : s->usual;
	const struct ct_order_call *last, *before;

	if (!a->by || a->has_sites || !began || began + a->by > CT_ORDER_ROWS)
		return 0;
	last = side[began + a->by - 1];
	before = side[began - 1];
	return last && before && !ct_order_differ(before, last) &&
	       !ct_order_other_site(before, last);
}

static void fill(const struct sides *s, uint32_t began, struct ct_divergence *out)
{
	out->seq = s->begin + began;
	out->may_be_earlier = may_be_earlier(s, began, out);
	if (s->usual[began])
		out->usual = *s->usual[began];
	if (s->odd[began])
		out->odd = *s->odd[began];
}

int ct_divergence_by_call(const struct ct_order *order, uint64_t seq, uint64_t instances,
			  uint8_t *set, struct ct_divergence *out)
{
	struct sides sides;
	uint32_t at;

	*out = (struct ct_divergence){ .clash = seq };
	if (!split(order, seq, set, out))
		return 0;
	lay_out(order, seq, set, &sides);
	at = (uint32_t)(seq - sides.begin);
	if (!sides.usual[at])
		return 0;
	if (!sides.odd[at]) {
		/* the odd ones disagree among themselves: nothing can be said about the set */
		for (uint32_t m = 0; m < order->comm->nranks && !sides.odd[at]; m++)
			sides.odd[at] = set[m] == CT_DIVERGENCE_ODD ? ct_order_at(order, seq, m)
								    : NULL;
		if (!sides.odd[at])
			return 0;
		out->field = ct_order_differ(sides.odd[at], sides.usual[at]);
		fill(&sides, at, out);
		return 1;
	}
	out->field = ct_order_differ(sides.odd[at], sides.usual[at]);
	explain(&sides, at, instances, out);
	fill(&sides, trace_back(&sides, at, out), out);
	return 1;
}

int ct_divergence_by_site(const struct ct_order *order, uint64_t seq, const uint8_t *set,
			  int64_t more, struct ct_divergence *out)
{
	uint32_t k = (uint32_t)(more < 0 ? -more : more), at, first;
	struct sides sides;

	*out = (struct ct_divergence){ .clash = UINT64_MAX,
				       .how = more < 0 ? CT_DIVERGENCE_SKIPPED
						       : CT_DIVERGENCE_EXTRA,
				       .by = k };
	if (!k || k > CT_DIVERGENCE_MOST)
		return 0;
	for (uint32_t m = 0; m < order->comm->nranks; m++) {
		out->n_unseen += set[m] == CT_DIVERGENCE_UNSEEN;
		out->n_usual += set[m] == CT_DIVERGENCE_USUAL;
		out->n_odd += set[m] == CT_DIVERGENCE_ODD;
	}
	set_minority(out);
	lay_out(order, seq, set, &sides);
	at = (uint32_t)(seq - sides.begin);
	first = first_other_site(&sides, at);
	/* shifted_by_site() looks at what the longer ones called from `seq` on, too */
	if (first == at || !shifted_by_site(&sides, first, at, out->how, k))
		return 0;
	out->fits = at - first;
	note_sites(&sides, first, out);
	fill(&sides, first, out);
	return 1;
}

enum ct_confidence ct_divergence_confidence(const struct ct_divergence *a)
{
	int is_clear = !a->by || !a->has_minority ||
		       (!a->by_habit && (a->fits >= CT_LEAST_OFTEN || a->has_sites));

	return a->is_sure && is_clear ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM;
}
