/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/stats.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"

uint64_t ct_round_whole(double value)
{
	return isnan(value) || value < 0 || value > 9e18 ? UINT64_MAX : (uint64_t)llround(value);
}

double ct_median(double *values, size_t n)
{
	double high = ct_median_high(values, n);

	return n % 2 || !n ? high : (values[n / 2 - 1] + high) / 2;
}

double ct_median_high(double *values, size_t n)
{
	ct_sort(values, n, sizeof(*values), ct_by_double);
	return n ? values[n / 2] : NAN;
}

double ct_spread(double *values, size_t n, double middle)
{
	for (size_t i = 0; i < n; i++)
		values[i] = fabs(values[i] - middle);
	return CT_SD_OF_MAD * ct_median(values, n);
}

double ct_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t low = (size_t)at;

	if (low + 1 >= n)
		return sorted[n - 1];
	return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

double ct_log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double ct_binomial_tail(uint64_t k, uint64_t n, double p)
{
	double log_first, sum = 0, term = 1;

	if (k == 0 || p >= 1)
		return 0;
	if (k > n || p <= 0)
		return -300;
	log_first = ct_log_choose((double)n, (double)k) + (double)k * log(p) +
		    (double)(n - k) * log1p(-p);
	/* Each term from the one before it; beyond the mean they fall fast. */
	for (uint64_t x = k; x <= n && term > 1e-17 * sum; x++) {
		sum += term;
		term *= (double)(n - x) / (double)(x + 1) * p / (1 - p);
		if (sum > 1e280) {
			log_first += log(sum);
			term /= sum;
			sum = 1;
		}
	}
	log_first += log(sum);
	return log_first > 0 ? 0 : log_first / log(10);
}

int ct_is_beyond_chance(uint64_t mine, uint64_t all, uint32_t ranks)
{
	/* there are as many ranks to choose from */
	return ranks > 1 &&
	       ct_binomial_tail(mine, all, 1.0 / ranks) + log10(ranks) < log10(CT_CHANCE_OF_RANKS);
}

double ct_student_t(size_t freedom)
{
	/* Fisher and Yates, Statistical Tables, table III */
	static const double t[] = { 63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250 };
	size_t most = sizeof(t) / sizeof(t[0]);

	return t[(freedom < most ? freedom : most) - 1];
}

double ct_neighbours(const double *values, size_t n)
{
	double mean = 0, with_next = 0, with_itself = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		with_itself += (values[i] - mean) * (values[i] - mean);
		if (i + 1 < n)
			with_next += (values[i] - mean) * (values[i + 1] - mean);
	}
	return with_itself > 0 ? with_next / with_itself : 0;
}

double ct_inflation(double neighbours)
{
	return neighbours > 0 ? (1 + neighbours) / (1 - neighbours) : 1;
}
