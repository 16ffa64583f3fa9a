/* SPDX-License-Identifier: Apache-2.0 */
/* interval_union.h — the length of a union of intervals that come almost in order of time, at most
 * some blocks of a file out of order.
 *
 * Like interval_cover.h, for sums that must be complete. A rank's wait becomes known when the last
 * of its partners' files is read that far, thousands of operations earlier or later than its
 * neighbors. The last CT_UNION_OPEN disjoint intervals are kept. Time before them is closed, and
 * counts as covered. A zeroed struct is an empty union. */
#ifndef CT_ANALYZER_BASE_INTERVAL_UNION_H
#define CT_ANALYZER_BASE_INTERVAL_UNION_H

#include <stdint.h>

#define CT_UNION_OPEN 16384u /* size: intervals that are not closed */

struct ct_union_part {
	uint64_t begin, end;
};

struct ct_union {
	uint64_t total; /* length so far */
	uint64_t floor; /* all before is closed */
	uint32_t n, cap;
	struct ct_union_part *parts; /* disjoint, in order */
	uint32_t latest;	     /* index of the one that came last */
};

void ct_union_fini(struct ct_union *u);

/* The fraction of `total` that lies in [begin, end), by the intervals that are kept; 1: none are. */
double ct_union_part(const struct ct_union *u, uint64_t begin, uint64_t end);

/* No more comes: `total` stays, the memory goes. */
void ct_union_close(struct ct_union *u);

/* Add [begin, end). 0 or CT_NOMEM. */
int ct_union_add(struct ct_union *u, uint64_t begin, uint64_t end);

/* The same; `each` is called for every new part of [begin, end), in order. Their sum is the
 * increase of `total`. 0, CT_NOMEM, or what `each` returned that is not 0. */
typedef int (*ct_union_fn)(void *arg, uint64_t begin, uint64_t end);
int ct_union_add_each(struct ct_union *u, uint64_t begin, uint64_t end, ct_union_fn each,
		      void *arg);

#endif
