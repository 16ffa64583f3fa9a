/* SPDX-License-Identifier: Apache-2.0 */
/* rank_sum.h — are the values of one run larger than those of another? Pure functions; no value is
 * NAN.
 *
 * Mann and Whitney, Annals of Mathematical Statistics 18 (1947): the rank-sum test. Hodges and
 * Lehmann, same journal 34 (1963): the difference that belongs to it. Benjamini and Hochberg,
 * Journal of the Royal Statistical Society B 57 (1995): many tests at once. */
#ifndef CT_ANALYZER_DIFF_RANK_SUM_H
#define CT_ANALYZER_DIFF_RANK_SUM_H

#include <stddef.h>

struct ct_rank_sum {
	double p;	  /* of so large a difference in either direction, if there were none */
	double delta;	  /* Cliff's: P(b > a) - P(b < a), -1 to 1 */
	double shift;	  /* Hodges-Lehmann: the median of all b - a ... */
	double low, high; /* ... and its 95 % interval */
};

/* Values in order of time. Neighbours that are alike (blocks of a run that was disturbed for a
 * while) count as fewer: the variance is multiplied by (1 + r) / (1 - r) with the mean correlation
 * r of neighbours, where that is positive. n, m > 1. 0 or CT_NOMEM. */
int ct_rank_sum(const double *a, size_t n, const double *b, size_t m, struct ct_rank_sum *out);

/* Replace each p of `n` tests by the smallest false discovery rate at which it is a discovery. 0 or
 * CT_NOMEM. */
int ct_adjust_p(double *p, size_t n);

#endif
