/* SPDX-License-Identifier: Apache-2.0 */
/* late_span.h — the first and last step in which a rank was late. Pure. Half of its charges are in
 * steps with charges of h or more. Steps with less than half of h are noise, which makes every rank
 * last occasionally. The rest is its lateness; first and last step contain all of that but 1 % at
 * either end. docs/dev/algorithms/stalls.md. */
#ifndef CT_ANALYZER_LATENESS_LATE_SPAN_H
#define CT_ANALYZER_LATENESS_LATE_SPAN_H

#include <stdint.h>

struct ct_late_span {
	uint32_t first, last; /* steps */
};

/* charged_ns[n] by step. 0; CT_NOTFOUND: nothing is charged; CT_NOMEM. */
int ct_late_span_find(const double *charged_ns, uint32_t n, struct ct_late_span *span);

#endif
