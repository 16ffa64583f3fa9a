/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/slow_ops.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

/* One that counts, in order of time. */
struct timed_op {
	const struct ct_moved *moved;
	double expected_ns, over; /* log(taken / expected) */
};

CT_SORT_BY(by_end, struct timed_op, CT_UP(moved->end_ns) ?: CT_UP(moved))

static uint32_t collect(const struct ct_transfers *all, const struct ct_track *t,
			const struct ct_fit *fit, struct timed_op *steps)
{
	double longest = 0;
	uint32_t n = 0;

	for (uint32_t i = t->first; i < t->first + t->n; i++)
		longest = fmax(longest, ct_fit_expect(fit, all->moved[i].bytes));
	for (uint32_t i = t->first; i < t->first + t->n; i++) {
		const struct ct_moved *m = &all->moved[i];
		double expected = ct_fit_expect(fit, m->bytes);

		if (expected >= (1 - CT_MOSTLY) * longest)
			steps[n++] = (struct timed_op){ m, expected, log(m->ns / expected) };
	}
	ct_sort(steps, n, sizeof(*steps), by_end);
	return n;
}

/* What a slow one is over by, at least: 1 / 0.6, and so much more where the track differs by itself.
 * The distance from the 25th percentile to the median shows that, since slow ones are above. */
static double threshold(const struct timed_op *steps, uint32_t n, double *scratch)
{
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = steps[i].over;
	ct_sort(scratch, n, sizeof(*scratch), ct_by_double);
	return fmax(log(1 / CT_SLOW_OP),
		    CT_STEADY_T * (scratch[n / 2] - scratch[n / 4]) / CT_QUARTILE_OF_SD);
}

static int is_slow(const struct timed_op *s, double least)
{
	return s->over > least && s->moved->ns - s->expected_ns > s->moved->err_ns;
}

/* Could it be chance, with `slow` of all n being slow? */
static int is_chance(uint32_t length, uint32_t slow, uint32_t n)
{
	double often = (slow - length + 1.0) / (n - length + 1.0);

	return n * pow(often, length) > CT_CHANCE;
}

static int weigh(const struct timed_op *first, const struct timed_op *end, uint32_t all,
		 const struct ct_step_time *in, struct ct_slow_ops *out)
{
	struct ct_excess excess = { 0 };
	double taken = 0, expected = 0;
	struct ct_excess_sum sum;
	int st = CT_OK;

	for (const struct timed_op *s = first; s < end && st == CT_OK; s++) {
		st = ct_excess_add(&excess, s->moved, s->expected_ns,
				   s->moved->err_ns + CT_HARDLY_ANY * s->expected_ns);
		taken += s->moved->ns;
		expected += s->expected_ns;
	}
	sum = ct_excess_sum(&excess, in);
	if (sum.time_lost_ns > out->sum.time_lost_ns)
		*out = (struct ct_slow_ops){ (uint32_t)(end - first), all, expected / taken, sum };
	ct_excess_fini(&excess);
	return st;
}

int ct_slow_ops_find(const struct ct_transfers *all, uint32_t track, const struct ct_fit *fit,
		     const struct ct_step_time *in, struct ct_slow_ops *out)
{
	const struct ct_track *t = &all->tracks[track];
	struct timed_op *steps = malloc(((size_t)t->n + 1) * sizeof(*steps));
	double *scratch = malloc(((size_t)t->n + 1) * sizeof(*scratch));
	int st = steps && scratch ? CT_OK : CT_NOMEM;
	uint32_t n = 0, first = 0, slow = 0;
	double least;

	*out = (struct ct_slow_ops){ 0 };
	if (st == CT_OK && fit->regimes && t->on_gpu)
		n = collect(all, t, fit, steps);
	if (n < CT_LEAST_SAMPLES)
		goto out;
	least = threshold(steps, n, scratch);
	for (uint32_t i = 0; i < n; i++)
		slow += (uint32_t)is_slow(&steps[i], least);
	for (uint32_t i = 0; i <= n && st == CT_OK; i++) {
		if (i < n && is_slow(&steps[i], least))
			continue;
		if (i - first >= CT_LEAST_OFTEN && !is_chance(i - first, slow, n))
			st = weigh(steps + first, steps + i, n, in, out);
		first = i + 1;
	}
out:
	free(steps);
	free(scratch);
	return st;
}
