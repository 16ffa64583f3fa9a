/* SPDX-License-Identifier: Apache-2.0 */
/* late_span.h — from which cycle to which somebody was late, and whether that is all of the run. Pure.
 *
 * Half of all that it is charged with lies in cycles with charges of h or more. Cycles with less than a third of h are those
 * of a rank like others: noise makes everybody last now and then, all through the run. The rest is its lateness; first and
 * last cycle hold all of that but 2 % at either end. docs/ANALYSIS.md, Time structure. */
#ifndef CT_CYCLE_LATE_SPAN_H
#define CT_CYCLE_LATE_SPAN_H

#include <stdint.h>

#define CT_LATE_WINDOW 50u /* cycles */

enum ct_late_pattern { CT_LATE_UNKNOWN, CT_LATE_PERSISTENT, CT_LATE_PART, CT_LATE_TRANSIENT };

struct ct_late_span {
	uint32_t first, last; /* cycles */
	uint32_t windows; /* of 50 cycles, the last of 25 at least, that are on record whole ... */
	uint32_t slow;	  /* ... and in how many the charges are 1 % of the time or more */
	/* PERSISTENT: three quarters of the windows or more; TRANSIENT: from the first to the last are no more cycles than
	 * in a window, and a third of all; else PART. UNKNOWN: less than two windows. */
	enum ct_late_pattern pattern;
};

/* charged_ns[n] by cycle, of which `scale` counts as loss; cut_ns[n + 1]; kept[n]: who was late then is known. 0;
 * CT_NOTFOUND: nothing is charged; CT_NOMEM. */
int ct_late_span_find(const double *charged_ns, const uint64_t *cut_ns, const uint8_t *kept,
		      uint32_t n, double scale, struct ct_late_span *span);

/* "persistent", "part-of-run", "transient", "n/a". */
const char *ct_late_pattern_name(enum ct_late_pattern pattern);

#endif
