/* SPDX-License-Identifier: Apache-2.0 */
/* hist.h — percentiles of values that are not kept: a log-linear histogram, 32 cells per power of
 * two.
 *
 * A percentile read from it differs from the true one by at most 1/64 of its value (values below 32
 * are exact). Memory is bounded by the number of powers of two that occur, at most 60 rows of 256
 * bytes. Two histograms add up to the histogram of both. A zeroed struct is an empty one; one
 * thread. */
#ifndef CT_ANALYZER_BASE_HIST_H
#define CT_ANALYZER_BASE_HIST_H

#include <stdint.h>

#define CT_HIST_CELLS 32u /* size: cells of a power of two */
#define CT_HIST_ROWS 60u  /* size: powers of two */

struct ct_hist {
	uint64_t *rows[CT_HIST_ROWS]; /* row 0: values below 32; row k: [2^(k+4), 2^(k+5)) */
	uint64_t n;
	uint64_t sum;
	uint64_t max;
};

/* 0 or CT_NOMEM. */
int ct_hist_add(struct ct_hist *hist, uint64_t value);

/* Add the values of `from` times `factor` to `into`: percentiles are within another 1/64. 0 or
 * CT_NOMEM. */
int ct_hist_merge_scaled(struct ct_hist *into, const struct ct_hist *from, double factor);

/* The smallest cell that holds at least the share `q` (0..1) of the values; UINT64_MAX if it is
 * empty. */
uint64_t ct_hist_quantile(const struct ct_hist *hist, double q);

/* How many values are below 2^`log2`; exact from 2^5 on. */
uint64_t ct_hist_below(const struct ct_hist *hist, unsigned log2);

void ct_hist_fini(struct ct_hist *hist);

/* The limit of usual values, ns: 20 times the 99th percentile, or twice the longest if that is
 * less. */
uint64_t ct_hist_unusual(uint64_t p99, uint64_t longest);

#endif
