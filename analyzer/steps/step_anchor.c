/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_anchor.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

/* size: of a period over several occurrences. */
#define MOST_EVERY 1024u
#define SAMPLE                                                                                     \
	1024u /* size: distances from the middle that are looked at for each number of occurrences \
	       */
#define MOST_TRIED 64u

/* The occurrences of all symbols, symbol by symbol. */
struct symbol_ops {
	const struct ct_anchor_op *ops;
	uint32_t n; /* that are listed */
	const struct ct_anchor_symbol *symbols;
	uint32_t n_symbols;
	uint32_t *at;	 /* indexes into ops */
	uint32_t *first; /* by symbol, and one more */
	uint32_t *scratch;
	uint64_t n_ops, bytes; /* in all */
};

static int sort_occurrences(struct symbol_ops *p)
{
	const uint32_t n = p->n, n_symbols = p->n_symbols;
	uint32_t *next;

	p->at = calloc((size_t)n + 1, sizeof(*p->at));
	p->scratch = calloc((size_t)n + 1, sizeof(*p->scratch));
	p->first = calloc((size_t)n_symbols + 2, sizeof(*p->first));
	if (!p->at || !p->scratch || !p->first)
		return CT_NOMEM;
	/* Counted two entries ahead, so that filling moves each symbol's first to where the next
	 * one's belongs. */
	next = p->first + 1;
	for (uint32_t i = 0; i < n; i++)
		next[p->ops[i].symbol + 1]++;
	for (uint32_t s = 1; s <= n_symbols; s++)
		next[s] += next[s - 1];
	for (uint32_t i = 0; i < n; i++)
		p->at[next[p->ops[i].symbol]++] = i;
	return CT_OK;
}

static uint32_t index_of(const struct symbol_ops *p, uint32_t symbol, uint32_t k)
{
	return p->ops[p->at[p->first[symbol] + k]].index;
}

static uint32_t count_of(const struct symbol_ops *p, uint32_t symbol)
{
	return p->first[symbol + 1] - p->first[symbol];
}

/* The commonest of n values, which are sorted here; the smallest of those that are equally common. */
static uint32_t mode(uint32_t *values, uint32_t n)
{
	uint32_t best = 0, best_n = 0;

	ct_sort(values, n, sizeof(*values), ct_by_u32);
	for (uint32_t i = 0; i < n;) {
		uint32_t k = i;

		while (k < n && values[k] == values[i])
			k++;
		if (k - i > best_n) {
			best = values[i];
			best_n = k - i;
		}
		i = k;
	}
	return best;
}

static uint32_t tolerance(uint32_t m)
{
	return m / 10 > 2 ? m / 10 : 2;
}

static double share_near(const uint32_t *values, uint32_t n, uint32_t m)
{
	uint32_t near = 0, within = tolerance(m);

	for (uint32_t i = 0; i < n; i++)
		near += values[i] + within >= m && values[i] <= m + within;
	return n ? (double)near / n : 0;
}

/* How regularly every `every`th occurrence comes. */
static struct ct_anchor measure(const struct symbol_ops *p, uint32_t symbol, uint32_t every)
{
	uint32_t occurrences = count_of(p, symbol), n = occurrences - every;
	struct ct_anchor a = { .symbol = symbol, .every = every };

	for (uint32_t k = 0; k < n; k++)
		p->scratch[k] = index_of(p, symbol, k + every) - index_of(p, symbol, k);
	a.ops = mode(p->scratch, n);
	a.regularity = share_near(p->scratch, n, a.ops);
	a.coverage = (double)occurrences / every * a.ops / (double)p->n_ops;
	return a;
}

static double mean_idle(const struct symbol_ops *p, uint32_t symbol)
{
	double sum = 0;
	uint32_t n = count_of(p, symbol);

	for (uint32_t k = 0; k < n; k++)
		sum += (double)p->ops[p->at[p->first[symbol] + k]].idle_ns;
	return n ? sum / n : 0;
}

/* Both within a tenth of the largest: which one? */
static int is_better(const struct symbol_ops *p, const struct ct_anchor *a,
		     const struct ct_anchor *b)
{
	if (a->regularity != b->regularity)
		return a->regularity > b->regularity;
	return mean_idle(p, a->symbol) > mean_idle(p, b->symbol);
}

static int is_weighty(const struct symbol_ops *p, uint32_t symbol, double share)
{
	const struct ct_anchor_symbol *s = &p->symbols[symbol];

	return !s->partial && s->n >= CT_LEAST_OFTEN &&
	       (double)s->bytes >= share * (double)p->bytes;
}

/* ---- an operation that comes once a step ---- */

static int find_single(const struct symbol_ops *p, struct ct_anchor *best)
{
	struct ct_anchor *kept = calloc((size_t)p->n_symbols + 1, sizeof(*kept));
	uint32_t n_kept = 0, largest = 0;
	int found = 0;

	if (!kept)
		return CT_NOMEM;
	for (uint32_t s = 0; s < p->n_symbols; s++) {
		struct ct_anchor a;

		if (!is_weighty(p, s, CT_ANCHOR_BYTES) || count_of(p, s) < CT_LEAST_OFTEN)
			continue;
		a = measure(p, s, 1);
		if (a.regularity < CT_ANCHOR_REGULARITY || a.coverage < CT_MOST)
			continue;
		kept[n_kept++] = a;
		largest = a.ops > largest ? a.ops : largest;
	}
	for (uint32_t k = 0; k < n_kept; k++) {
		if (kept[k].ops < CT_NEARLY_ALL * largest ||
		    (found && !is_better(p, &kept[k], best)))
			continue;
		*best = kept[k];
		found = 1;
	}
	free(kept);
	return found ? CT_OK : CT_NOTFOUND;
}

/* Share of the bytes beyond the anchor's own period, where an occurrence is followed by none for
 * too long. */
static double outside(const struct symbol_ops *p, const struct ct_anchor *a)
{
	double sum = 0, out = 0;
	uint32_t last = UINT32_MAX, next = 0, k = 0, occurrences = count_of(p, a->symbol);

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ct_anchor_op *op = &p->ops[i];
		const struct ct_anchor_symbol *s = &p->symbols[op->symbol];
		double bytes = s->n ? (double)s->bytes / (double)s->n : 0;

		if (op->symbol == a->symbol) {
			last = op->index;
			next = ++k < occurrences ? index_of(p, a->symbol, k) : 0;
		}
		if (last == UINT32_MAX || !next)
			continue;
		sum += bytes;
		if (next - last > a->ops + a->ops / 2 && op->index - last >= a->ops)
			out += bytes;
	}
	return sum > 0 ? out / sum : 0;
}

/* ---- a step of several occurrences ---- */

/* Every `every`th distance of a symbol: mean, and mean deviation from it as a share of it. */
static double deviation(const struct symbol_ops *p, uint32_t symbol, uint32_t every, double *mean)
{
	uint32_t n = count_of(p, symbol) - every, from = 0;
	double sum = 0, off = 0;

	if (n > SAMPLE) {
		from = (n - SAMPLE) / 2;
		n = SAMPLE;
	}
	for (uint32_t k = 0; k < n; k++) {
		p->scratch[k] = index_of(p, symbol, from + k + every) -
				index_of(p, symbol, from + k);
		sum += p->scratch[k];
	}
	*mean = sum / n;
	for (uint32_t k = 0; k < n; k++)
		off += fabs(p->scratch[k] - *mean);
	return off / sum;
}

/* The least number of occurrences, from `least` and below `most`, after which a symbol comes again
 * far more regularly than after one more or less: over many occurrences anything looks regular. 0
 * in a->every: there is none. */
static void find_every(const struct symbol_ops *p, uint32_t symbol, uint32_t least, uint32_t most,
		       struct ct_anchor *a)
{
	uint32_t occurrences = count_of(p, symbol), n = occurrences / CT_LEAST_OFTEN;
	double before, mean, here, after, next;

	a->every = 0;
	before = deviation(p, symbol, 1, &mean);
	if (before < CT_ANCHOR_UNEVEN)
		return;
	if (least > n)
		return;
	before = deviation(p, symbol, least - 1, &mean);
	here = deviation(p, symbol, least, &mean);
	for (uint32_t j = least; j <= n && j < most; j++) {
		double coverage = (double)occurrences / j * mean / (double)p->n_ops;

		after = deviation(p, symbol, j + 1, &next);
		if (here <= CT_ANCHOR_DEVIATION && here < before && 2 * here <= before &&
		    here <= (1 - CT_ANCHOR_DEVIATION) * after && coverage >= CT_ANCHOR_COVERAGE) {
			*a = measure(p, symbol, j);
			return;
		}
		before = here;
		here = after;
		mean = next;
	}
}

/* The step begins where the rank had been idle longest, on average: the first of those before the
 * longest distance. */
static uint32_t phase_of(const struct symbol_ops *p, const struct ct_anchor *a)
{
	uint32_t n = count_of(p, a->symbol), best = 0;
	double most = -1;

	for (uint32_t r = 0; r < a->every; r++) {
		double sum = 0;
		uint32_t seen = 0;

		for (uint32_t k = r ? r : a->every; k < n; k += a->every, seen++)
			sum += (double)(index_of(p, a->symbol, k) - index_of(p, a->symbol, k - 1));
		if (seen && sum / seen > most) {
			most = sum / seen;
			best = r;
		}
	}
	return best;
}

/* The commonest of n values by its share; they are sorted here. */
static double share_of_mode(uint64_t *values, uint32_t n)
{
	uint32_t best = 0;

	ct_sort(values, n, sizeof(*values), ct_by_u64);
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && values[k] == values[i];)
			k++;
		best = k - i > best ? k - i : best;
	}
	return n ? (double)best / n : 0;
}

/* The share of its steps in which the same weighty operations occur equally often. Of a part of a
 * step, such as the layers of a pipeline between two messages, too few are alike: < 0: no memory. */
static double alike(const struct symbol_ops *p, const struct ct_anchor *a)
{
	uint32_t seen = 0, steps = 0, first = phase_of(p, a);
	uint64_t *sums = calloc(count_of(p, a->symbol) / a->every + 2u, sizeof(*sums));
	double share;

	if (!sums)
		return -1;
	for (uint32_t i = 0; i < p->n; i++) {
		const uint32_t symbol = p->ops[i].symbol;

		if (symbol == a->symbol && seen++ >= first && (seen - 1 - first) % a->every == 0)
			steps++;
		if (steps && is_weighty(p, symbol, CT_ANCHOR_BYTES))
			sums[steps - 1] += ct_mix(symbol + 1u);
	}
	/* the last one may be cut off */
	share = steps > 1 ? share_of_mode(sums, steps - 1) : 0;
	free(sums);
	return share;
}

/* The shorter step; of equally long ones that of fewer occurrences. */
static int is_shorter(const struct ct_anchor *a, const struct ct_anchor *b)
{
	if (a->ops + tolerance(b->ops) < b->ops || b->ops + tolerance(b->ops) < a->ops)
		return a->ops < b->ops;
	return a->every < b->every;
}

/* `most_every` occurrences at most; of symbols with that share of the bytes. Of those whose steps
 * are alike the shortest; where there are none, as where sizes of messages vary, that of the fewest
 * occurrences. */
static int find_compound(const struct symbol_ops *p, uint32_t most_every, double share,
			 struct ct_anchor *best)
{
	struct ct_anchor whole = { 0 }, rough = { 0 }, a;
	uint32_t tried = 0;

	for (uint32_t s = 0; s < p->n_symbols && tried < MOST_TRIED; s++) {
		if (!is_weighty(p, s, share) || count_of(p, s) < 2 * CT_LEAST_OFTEN)
			continue;
		tried++;
		for (uint32_t least = 2;; least = a.every + 1) {
			double even;

			find_every(p, s, least, most_every + 1, &a);
			if (!a.every)
				break;
			if (!rough.every || a.every < rough.every)
				rough = a;
			even = alike(p, &a);
			if (even < 0)
				return CT_NOMEM;
			if (even < CT_NEARLY_ALL)
				continue;
			if (!whole.every || is_shorter(&a, &whole))
				whole = a;
			break;
		}
	}
	*best = whole.every ? whole : rough;
	if (!best->every)
		return CT_NOTFOUND;
	best->first = phase_of(p, best);
	return CT_OK;
}

int ct_anchor_find(const struct ct_anchor_op *listed, uint32_t n, uint64_t n_ops,
		   const struct ct_anchor_symbol *symbols, uint32_t n_symbols,
		   struct ct_anchor *anchor)
{
	struct symbol_ops p = { .ops = listed,
				.n = n,
				.symbols = symbols,
				.n_symbols = n_symbols,
				.n_ops = n_ops ? n_ops : 1 };
	struct ct_anchor several;
	int st = sort_occurrences(&p), of_several = CT_NOTFOUND;

	for (uint32_t s = 0; s < n_symbols; s++)
		p.bytes += symbols[s].bytes;
	st = st ?: find_single(&p, anchor);
	if (st == CT_OK && outside(&p, anchor) <= CT_A_FEW) {
		/* a step of equal parts, at the end of which something weighty comes a few times */
		of_several = find_compound(&p, CT_ANCHOR_FEW, CT_HARDLY_ANY, &several);
		if (of_several == CT_OK && several.ops <= anchor->ops + anchor->ops / 2)
			of_several = CT_NOTFOUND;
	} else if (st != CT_NOMEM) {
		of_several = find_compound(&p, MOST_EVERY, CT_ANCHOR_BYTES, &several);
	}
	if (of_several == CT_OK)
		*anchor = several;
	free(p.at);
	free(p.first);
	free(p.scratch);
	return of_several == CT_NOTFOUND ? st : of_several;
}
