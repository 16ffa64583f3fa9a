/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h — medians, deviations, and significance. Pure; functions that overwrite values say so. No
 * value is NAN. */
#ifndef CT_ANALYZER_BASE_STATS_H
#define CT_ANALYZER_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

#define CT_SD_OF_MAD                                                                               \
	1.4826 /* fact: of normally distributed values: standard deviation over median distance    \
		  from the median */
#define CT_QUARTILE_OF_SD                                                                          \
	0.6745 /* fact: of a normal distribution: from the median to a quartile, in sd */
#define CT_SE_OF_MEDIAN 1.2533 /* fact: of a median, in sd / sqrt(n): sqrt(pi / 2) */

/* A sum and a product that stay at UINT64_MAX once they are that large. */
static inline uint64_t ct_plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline uint64_t ct_times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t ct_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t ct_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Bytes per second, at most what fits JSON. ns > 0. */
static inline uint64_t ct_Bps(uint64_t bytes, uint64_t ns)
{
	double rate = (double)bytes / (double)ns * 1e9;

	return rate < (double)INT64_MAX ? (uint64_t)rate : INT64_MAX;
}

/* A sum of 32 bits that stays at UINT32_MAX. */
static inline uint32_t ct_plus_u32(uint32_t a, uint64_t b)
{
	return b < UINT32_MAX - a ? a + (uint32_t)b : UINT32_MAX;
}

/* The nearest whole number; UINT64_MAX (CT_UNKNOWN) for NAN, negative or too large values. */
uint64_t ct_round_whole(double value);

/* Median: of an even number the mean of the two in the middle. Sorts the values. NAN: there are
 * none. */
double ct_median(double *values, size_t n);

/* The upper median, which is one of the values. Sorts the values. NAN: there are none. */
double ct_median_high(double *values, size_t n);

/* Standard deviation by the median distance from `middle`. Overwrites the values. */
double ct_spread(double *values, size_t n, double middle);

/* Between the two of the sorted values that are next to it. n > 0. */
double ct_quantile(const double *sorted, size_t n, double q);

/* Mean correlation of each value with the next one. */
double ct_neighbours(const double *values, size_t n);

/* Neighbours that are alike count as fewer: the variance of a mean grows by this factor, with their
 * correlation. */
double ct_inflation(double neighbours);

/* Logarithm of how many ways there are to choose k of n. */
double ct_log_choose(double n, double k);

/* log10 P(Bin(n, p) >= k). */
double ct_binomial_tail(uint64_t k, uint64_t n, double p);

/* The 99.5 % quantile of Student's t, which 1 % of the values exceed in either direction. Of more
 * than nine degrees of freedom that of nine, which is larger. freedom > 0. */
double ct_student_t(size_t freedom);

/* 1: the chance that any of `ranks` has `mine` of `all` events is below 1 in 1000. 0: it is not. */
int ct_is_beyond_chance(uint64_t mine, uint64_t all, uint32_t ranks);

#endif
