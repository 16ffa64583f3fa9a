/* SPDX-License-Identifier: Apache-2.0 */
/* median.h — the median of the figures of several runs. Sorts them. */
#ifndef CT_TESTS_BENCH_MEDIAN_H
#define CT_TESTS_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static inline double median(double *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), by_size);
	return values[n / 2];
}

#endif
