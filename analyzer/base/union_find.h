/* SPDX-License-Identifier: Apache-2.0 */
/* union_find.h — disjoint sets: each element has a parent in an array; an element that is its own
 * parent represents its set. Pure. */
#ifndef CT_ANALYZER_BASE_UNION_FIND_H
#define CT_ANALYZER_BASE_UNION_FIND_H

#include <stdint.h>

/* The representative of the set of `one`. Shortens the path to it. */
static inline uint32_t ct_group_of(uint32_t *parents, uint32_t one)
{
	while (parents[one] != one)
		one = parents[one] = parents[parents[one]];
	return one;
}

/* Merges both sets; the lower representative is kept. */
static inline void ct_group_join(uint32_t *parents, uint32_t a, uint32_t b)
{
	a = ct_group_of(parents, a);
	b = ct_group_of(parents, b);
	parents[a < b ? b : a] = a < b ? a : b;
}

#endif
