/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/late_span.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* What steps with half of the sum are charged with at least; 0: nothing is charged, negative: no
 * memory. */
static double half_of(const double *charged, uint32_t n)
{
	double *sorted = malloc((n + 1u) * sizeof(*sorted)), sum = 0, seen = 0, h = 0;

	if (!sorted)
		return -1;
	for (uint32_t k = 0; k < n; k++) {
		sorted[k] = charged[k];
		sum += charged[k];
	}
	qsort(sorted, n, sizeof(*sorted), ct_by_double_down);
	for (uint32_t k = 0; k < n && 2 * seen < sum; k++) {
		h = sorted[k];
		seen += sorted[k];
	}
	free(sorted);
	return h;
}

static double lateness(double charged, double least)
{
	return charged >= least ? charged : 0;
}

static void set_range(const double *charged, uint32_t n, double least, struct ct_late_span *span)
{
	double before = 0, behind = 0, sum = 0;
	uint32_t first = 0, last = n - 1;

	for (uint32_t k = 0; k < n; k++)
		sum += lateness(charged[k], least);
	while (first < last && before + lateness(charged[first], least) <= CT_LEAST_GAIN * sum)
		before += lateness(charged[first++], least);
	while (last > first && behind + lateness(charged[last], least) <= CT_LEAST_GAIN * sum)
		behind += lateness(charged[last--], least);
	span->first = first;
	span->last = last;
}

int ct_late_span_find(const double *charged, uint32_t n, struct ct_late_span *span)
{
	double h = n ? half_of(charged, n) : 0;

	*span = (struct ct_late_span){ 0 };
	if (h <= 0)
		return h < 0 ? CT_NOMEM : CT_NOTFOUND;
	set_range(charged, n, CT_MOST * h, span);
	return CT_OK;
}
