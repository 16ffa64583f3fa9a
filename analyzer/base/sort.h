/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h — comparison functions for qsort(): of numbers, and of structs by their members. Pure.
 *
 * CT_SORT_BY(by_seat, struct ct_stall, CT_UP(seat) ?: CT_DOWN(ns)) defines by_seat(), which puts the lowest seat
 * first, and of one seat the longest. The expression may use x and y, which point at the two elements. */
#ifndef CT_SORT_H
#define CT_SORT_H

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

#endif
