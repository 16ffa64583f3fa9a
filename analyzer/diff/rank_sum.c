/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/diff/rank_sum.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

/* fact: beyond this many standard deviations of a normal distribution are 5 % */
#define Z_OF_95 1.96

struct value {
	double value;
	int is_b;
};

CT_SORT_BY(by_value, struct value, CT_UP(value))

static double inflation(const double *a, size_t n, const double *b, size_t m)
{
	return ct_inflation((ct_neighbours(a, n) + ct_neighbours(b, m)) / 2);
}

/* The sum over b of its ranks, ties sharing theirs; *ties the sum of t^3 - t. */
static double sum_ranks(const struct value *all, size_t n, double *ties)
{
	double sum = 0;

	*ties = 0;
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && all[end].value <= all[i].value;)
			end++;
		t = (double)(end - i);
		*ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			sum += all[k].is_b ? (double)(i + end + 1) / 2 : 0;
	}
	return sum;
}

/* The differences in order, of which the median is the shift; the interval is so many of them to
 * both sides. */
static int find_shift(const double *a, size_t n, const double *b, size_t m, double sd,
		      struct ct_rank_sum *out)
{
	size_t all = n * m, off;
	double *differences = malloc(all * sizeof(*differences));
	double middle = (double)all / 2, reach = Z_OF_95 * sd;

	if (!differences)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			differences[i * m + k] = b[k] - a[i];
	out->shift = ct_median(differences, all);
	off = middle > reach ? (size_t)(middle - reach) : 0;
	out->low = differences[off];
	out->high = differences[all - 1 - off];
	free(differences);
	return CT_OK;
}

int ct_rank_sum(const double *a, size_t n, const double *b, size_t m, struct ct_rank_sum *out)
{
	struct value *all = malloc((n + m) * sizeof(*all));
	double pairs = (double)n * (double)m, count = (double)(n + m), ties, u, sd, off;

	if (!all)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct value){ a[i], 0 };
	for (size_t i = 0; i < m; i++)
		all[n + i] = (struct value){ b[i], 1 };
	ct_sort(all, n + m, sizeof(*all), by_value);
	u = sum_ranks(all, n + m, &ties) - (double)m * ((double)m + 1) / 2;
	free(all);
	sd = sqrt(inflation(a, n, b, m) * pairs / 12 * (count + 1 - ties / (count * (count - 1))));
	/* half a step nearer: u is a whole number, the normal distribution is not */
	off = fmax(fabs(u - pairs / 2) - 0.5, 0);
	out->p = sd > 0 ? erfc(off / sd / sqrt(2)) : 1;
	out->delta = 2 * u / pairs - 1;
	return find_shift(a, n, b, m, sd, out);
}

struct ranked_p {
	double p;
	size_t of;
};

CT_SORT_BY(by_p_down, struct ranked_p, CT_DOWN(p))

int ct_adjust_p(double *p, size_t n)
{
	struct ranked_p *tests = malloc((n + 1) * sizeof(*tests));
	double least = 1;

	if (!tests)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct ranked_p){ p[i], i };
	ct_sort(tests, n, sizeof(*tests), by_p_down);
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, tests[i].p * (double)n / (double)(n - i));
		p[tests[i].of] = least;
	}
	free(tests);
	return CT_OK;
}
