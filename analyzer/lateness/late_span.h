/* SPDX-License-Identifier: Apache-2.0 */
/* late_span.h — from which step to which somebody was late. Pure.
 *
 * Half of all that it is charged with lies in steps with charges of h or more. Steps with less than a third of h are those
 * of a rank like others: noise makes everybody last now and then, all through the run. The rest is its lateness; first and
 * last step hold all of that but 2 % at either end. docs/dev/algorithms/stalls.md. */
#ifndef CT_LATE_SPAN_H
#define CT_LATE_SPAN_H

#include <stdint.h>

struct ct_late_span {
	uint32_t first, last; /* steps */
};

/* charged_ns[n] by step. 0; CT_NOTFOUND: nothing is charged; CT_NOMEM. */
int ct_late_span_find(const double *charged_ns, uint32_t n, struct ct_late_span *span);

#endif
