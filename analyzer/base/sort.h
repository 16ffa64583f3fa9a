/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h — comparison functions for qsort(), of numbers and of structs by their members, and looking up what is sorted. Pure.
 *
 * CT_SORT_BY(by_seat, struct ct_stall, CT_UP(seat) ?: CT_DOWN(ns)) defines by_seat(), which puts the lowest seat
 * first, and of one seat the longest. The expression may use x and y, which point at the two elements. */
#ifndef CT_SORT_H
#define CT_SORT_H

#include <stddef.h>

/* -1, 0 or 1, as comparisons return it. */
#define CT_CMP(a, b) (((a) > (b)) - ((a) < (b)))
#define CT_UP(member) CT_CMP(x->member, y->member)
#define CT_DOWN(member) CT_CMP(y->member, x->member)

#define CT_SORT_BY(name, type, order)                                                              \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		const type *x = a, *y = b;                                                         \
                                                                                                   \
		return order;                                                                      \
	}

/* Numbers, the least first; "_down": the greatest first. No double or float is NAN. */
int ct_by_int(const void *a, const void *b);
int ct_by_u32(const void *a, const void *b);
int ct_by_u64(const void *a, const void *b);
int ct_by_u64_down(const void *a, const void *b);
int ct_by_i64(const void *a, const void *b);
int ct_by_float(const void *a, const void *b);
int ct_by_float_down(const void *a, const void *b);
int ct_by_double(const void *a, const void *b);
int ct_by_double_down(const void *a, const void *b);

/* The first index `i` from `from` on for which `before`, an expression of it, is false; `to`: there is none below it. Of
 * what is sorted `before` is true up to some place: CT_BISECT(i, 0, n, all[i].begin_ns < ns). */
#define CT_BISECT(i, from, to, before)                                                             \
	({                                                                                         \
		size_t low_ = (from), high_ = (to);                                                \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
                                                                                                   \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
