/* SPDX-License-Identifier: Apache-2.0 */
/* union_find.h — what hangs together: each has a parent in an array, and who is its own parent stands for its set. Pure. */
#ifndef CT_UNION_FIND_H
#define CT_UNION_FIND_H

#include <stdint.h>

/* Who stands for the set of `one`. The way to it becomes shorter. */
static inline uint32_t ct_group_of(uint32_t *parents, uint32_t one)
{
	while (parents[one] != one)
		one = parents[one] = parents[parents[one]];
	return one;
}

/* The sets of both become one; the lower one stands for it. */
static inline void ct_group_join(uint32_t *parents, uint32_t a, uint32_t b)
{
	a = ct_group_of(parents, a);
	b = ct_group_of(parents, b);
	parents[a < b ? b : a] = a < b ? a : b;
}

#endif
