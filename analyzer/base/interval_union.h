/* SPDX-License-Identifier: Apache-2.0 */
/* interval_union.h — the length of a union of intervals that come about in order of time, but blocks of a file out of it.
 *
 * Like interval_cover.h, for sums of which nothing may be missing: what a rank waited in comes to light when the last of its
 * partners' files is read as far, by thousands of operations earlier or later than its neighbours. Kept are the last
 * CT_UNION_OPEN disjoint intervals; what lies before them is closed, and counts for covered. A zeroed struct is an empty
 * union. */
#ifndef CT_BLAME_UNION_H
#define CT_BLAME_UNION_H

#include <stdint.h>

#define CT_UNION_OPEN 16384u

struct ct_union_part {
	uint64_t begin, end;
};

struct ct_union {
	uint64_t total; /* length so far */
	uint64_t floor; /* all before is closed */
	uint32_t n, cap;
	struct ct_union_part *parts; /* disjoint, in order */
};

void ct_union_fini(struct ct_union *u);

/* Add [begin, end). 0 or CT_NOMEM. */
int ct_union_add(struct ct_union *u, uint64_t begin, uint64_t end);

/* The same, and `each` is told every part of [begin, end) that is new, in order: together as long as what `total` grows by.
 * 0, CT_NOMEM, or what `each` returned that is not 0. */
typedef int (*ct_union_fn)(void *arg, uint64_t begin, uint64_t end);
int ct_union_add_each(struct ct_union *u, uint64_t begin, uint64_t end, ct_union_fn each,
		      void *arg);

#endif
