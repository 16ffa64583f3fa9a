/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/late_span.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "trace/status.h"

#define WINDOW CT_LATE_WINDOW
#define LEAST_LOSS 0.01 /* of a window, for it to count as slow */
#define TAIL 0.02 /* of the lateness, that may lie before the first and behind the last cycle */
#define EVERYWHERE 0.75	    /* of the windows */
#define MOST_TRANSIENT 0.33 /* of the run */
#define LEAST_OF_HALF 3.0   /* a third of h */

/* What cycles with half of the sum are charged with at least; 0: nothing is charged, negative: no memory. */
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
	while (first < last && before + lateness(charged[first], least) <= TAIL * sum)
		before += lateness(charged[first++], least);
	while (last > first && behind + lateness(charged[last], least) <= TAIL * sum)
		behind += lateness(charged[last--], least);
	span->first = first;
	span->last = last;
}

static void count_windows(const double *charged, const uint64_t *cut_ns, const uint8_t *kept,
			  uint32_t n, double scale, struct ct_late_span *span)
{
	for (uint32_t w = 0; w + WINDOW / 2 <= n; w += WINDOW) {
		uint32_t end = w + WINDOW < n ? w + WINDOW : n, known = 0;
		double lost = 0, time = (double)(cut_ns[end] - cut_ns[w]);

		for (uint32_t k = w; k < end; k++) {
			lost += charged[k];
			known += kept[k] != 0;
		}
		if (known < end - w)
			continue;
		span->windows++;
		span->slow += scale * lost >= LEAST_LOSS * time;
	}
}

static int is_short(const struct ct_late_span *span, uint32_t n)
{
	uint32_t cycles = span->last - span->first + 1;

	return cycles <= WINDOW && cycles <= MOST_TRANSIENT * n;
}

int ct_late_span_find(const double *charged, const uint64_t *cut_ns, const uint8_t *kept,
		      uint32_t n, double scale, struct ct_late_span *span)
{
	double h = n ? half_of(charged, n) : 0;

	*span = (struct ct_late_span){ 0 };
	if (h <= 0)
		return h < 0 ? CT_NOMEM : CT_NOTFOUND;
	set_range(charged, n, h / LEAST_OF_HALF, span);
	count_windows(charged, cut_ns, kept, n, scale, span);
	if (span->windows < 2)
		span->pattern = CT_LATE_UNKNOWN;
	else if (span->slow >= EVERYWHERE * span->windows)
		span->pattern = CT_LATE_PERSISTENT;
	else
		span->pattern = is_short(span, n) ? CT_LATE_TRANSIENT : CT_LATE_PART;
	return CT_OK;
}

const char *ct_late_pattern_name(enum ct_late_pattern pattern)
{
	switch (pattern) {
	case CT_LATE_PERSISTENT:
		return "persistent";
	case CT_LATE_PART:
		return "part-of-run";
	case CT_LATE_TRANSIENT:
		return "transient";
	case CT_LATE_UNKNOWN:
		break;
	}
	return "n/a";
}
