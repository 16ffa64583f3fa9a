/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/slow_ops.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "trace/status.h"

#define LEAST_SAMPLES 20u
/* Short transfers, of less than this share of what the longest take, say nothing about a link. */
#define LEAST_SHARE 0.25
/* That one of a track's stretches is so long though slow ones came by chance, as often as elsewhere in it. */
#define CHANCE 1e-6
#define DEVIATIONS 5.0 /* of the track's own, in logarithms, that a slow one must be off too */

/* One that counts, in order of time. */
struct step {
	const struct ct_moved *moved;
	double expected_ns, over; /* log(taken / expected) */
};

CT_SORT_BY(by_end, struct step, CT_UP(moved->end_ns) ?: CT_UP(moved))

static uint32_t collect(const struct ct_transfers *all, const struct ct_track *t,
			const struct ct_fit *fit, struct step *steps)
{
	double longest = 0;
	uint32_t n = 0;

	for (uint32_t i = t->first; i < t->first + t->n; i++)
		longest = fmax(longest, ct_fit_expect(fit, all->moved[i].bytes));
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct ct_moved *m = &all->moved[i];
		double expected = ct_fit_expect(fit, m->bytes);

		if (expected >= LEAST_SHARE * longest)
			steps[n++] = (struct step){ m, expected, log(m->ns / expected) };
	}
	ct_sort(steps, n, sizeof(*steps), by_end);
	return n;
}

/* What a slow one is over by, at least: 1 / 0.6, and so much more where the track differs by itself. The distance
 * from the 25th percentile to the median shows that, since slow ones are above. */
static double threshold(const struct step *steps, uint32_t n, double *scratch)
{
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = steps[i].over;
	ct_sort(scratch, n, sizeof(*scratch), ct_by_double);
	return fmax(log(1 / CT_SLOW_OP_EFFICIENCY),
		    DEVIATIONS * (scratch[n / 2] - scratch[n / 4]) / 0.6745);
}

static int is_slow(const struct step *s, double least)
{
	return s->over > least && s->moved->ns - s->expected_ns > s->moved->err_ns;
}

/* Could it be chance, with `slow` of all n being slow? */
static int is_chance(uint32_t length, uint32_t slow, uint32_t n)
{
	double often = (slow - length + 1.0) / (n - length + 1.0);

	return n * pow(often, length) > CHANCE;
}

static int weigh(const struct step *first, const struct step *end, uint32_t all,
		 struct ct_slow_ops *out)
{
	struct ct_excess excess = { 0 };
	double taken = 0, expected = 0;
	struct ct_excess_sum sum;
	int st = CT_OK;

	for (const struct step *s = first; s < end && st == CT_OK; s++) {
		st = ct_excess_add(&excess, s->moved, s->expected_ns,
				   s->moved->err_ns + 0.05 * s->expected_ns);
		taken += s->moved->ns;
		expected += s->expected_ns;
	}
	sum = ct_excess_sum(&excess);
	if (sum.loss_ns > out->sum.loss_ns)
		*out = (struct ct_slow_ops){ (uint32_t)(end - first), all, expected / taken, sum };
	ct_excess_fini(&excess);
	return st;
}

int ct_slow_ops_find(const struct ct_transfers *all, uint32_t track, const struct ct_fit *fit,
		     struct ct_slow_ops *out)
{
	const struct ct_track *t = &all->tracks[track];
	struct step *steps = malloc(((size_t)t->n + 1) * sizeof(*steps));
	double *scratch = malloc(((size_t)t->n + 1) * sizeof(*scratch));
	int st = steps && scratch ? CT_OK : CT_NOMEM;
	uint32_t n = 0, first = 0, slow = 0;
	double least;

	*out = (struct ct_slow_ops){ 0 };
	if (st == CT_OK && fit->regimes && t->on_gpu)
		n = collect(all, t, fit, steps);
	if (n < LEAST_SAMPLES)
		goto out;
	least = threshold(steps, n, scratch);
	for (uint32_t i = 0; i < n; i++)
		slow += (uint32_t)is_slow(&steps[i], least);
	for (uint32_t i = 0; i <= n && st == CT_OK; i++) {
		if (i < n && is_slow(&steps[i], least))
			continue;
		if (i - first >= CT_SLOW_OP_RUN && !is_chance(i - first, slow, n))
			st = weigh(steps + first, steps + i, n, out);
		first = i + 1;
	}
out:
	free(steps);
	free(scratch);
	return st;
}
