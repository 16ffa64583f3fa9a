/* SPDX-License-Identifier: Apache-2.0 */
/* interval_cover.h — the length of a union of intervals that come about in order of time.
 *
 * Two operations that wait for the same late rank at the same time cost its lateness once. The last
 * CT_COVER_OPEN disjoint intervals are kept. Time before them is closed, and later intervals that
 * overlap it count only from there. So more disorder makes the result too small, never too large. A
 * zeroed struct is an empty union; no memory but the struct. */
#ifndef CT_ANALYZER_BASE_INTERVAL_COVER_H
#define CT_ANALYZER_BASE_INTERVAL_COVER_H

#include <stdint.h>

#define CT_COVER_OPEN 32u /* size: intervals that are not closed */

struct ct_cover {
	uint64_t total;	   /* length of the union so far */
	uint64_t floor;	   /* all before is closed */
	uint32_t first, n; /* of those that are open: room[first] .. room[first + n - 1] */
	struct ct_cover_part {
		uint64_t begin, end;
	} room[2 * CT_COVER_OPEN]; /* disjoint, in order */
};

/* Add [begin, end); returns how much of it is new. */
uint64_t ct_cover_add(struct ct_cover *cover, uint64_t begin, uint64_t end);

#endif
