/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h — sorting, comparison functions of numbers and of structs by their members, and binary
 * search. Pure.
 *
 * CT_SORT_BY(by_slot, struct ct_stall, CT_UP(slot) ?: CT_DOWN(ns)) defines by_slot(), which puts
 * the lowest slot first, and of one slot the longest. The expression may use x and y, which point
 * at the two elements. */
#ifndef CT_ANALYZER_BASE_SORT_H
#define CT_ANALYZER_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* The same for pointers to such structs: x and y are the structs. */
#define CT_SORT_POINTERS_BY(name, type, order)                                                     \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		const type *x = *(const type *const *)a, *y = *(const type *const *)b;             \
                                                                                                   \
		return order;                                                                      \
	}

/* Numbers, the least first; "_down": the greatest first. No double or float is NAN. */
#define CT_NUMBERS_BY(name, type, order)                                                           \
	static inline int name(const void *a, const void *b)                                       \
	{                                                                                          \
		type x = *(const type *)a, y = *(const type *)b;                                   \
                                                                                                   \
		return order;                                                                      \
	}

CT_NUMBERS_BY(ct_by_int, int, CT_CMP(x, y))
CT_NUMBERS_BY(ct_by_u32, uint32_t, CT_CMP(x, y))
CT_NUMBERS_BY(ct_by_u64, uint64_t, CT_CMP(x, y))
CT_NUMBERS_BY(ct_by_i64, int64_t, CT_CMP(x, y))
CT_NUMBERS_BY(ct_by_float, float, CT_CMP(x, y))
CT_NUMBERS_BY(ct_by_float_down, float, CT_CMP(y, x))
CT_NUMBERS_BY(ct_by_double, double, CT_CMP(x, y))
CT_NUMBERS_BY(ct_by_double_down, double, CT_CMP(y, x))

typedef int ct_sort_by(const void *a, const void *b, void *arg);

/* size: elements sorted one by one before runs are merged: below this the moves cost less than a
 * merge. */
#define CT_SORT_RUN 8u
/* size: bytes of an element; larger ones are qsort_r()'s, since copies of these cost more than
 * comparisons. */
#define CT_SORT_LARGEST 128u

/* size: moves per element, on average so far, after which runs are merged: what is nearly sorted
 * takes fewer. */
#define CT_SORT_MOVES 2u

/* Inserts all[from] .. all[n - 1] into what is sorted before them, with so many moves for each (0:
 * any). Returns how many are sorted then. */
static inline __attribute__((always_inline)) size_t ct_sort_insert(char *all, size_t from, size_t n,
								   size_t size, size_t moves,
								   ct_sort_by *by, void *arg)
{
	size_t left = moves * CT_SORT_RUN;

	for (size_t i = from; i < n; i++) {
		char one[CT_SORT_LARGEST];
		size_t at = i;

		left += moves;
		if (by(all + (i - 1) * size, all + i * size, arg) <= 0)
			continue;
		memcpy(one, all + i * size, size);
		do {
			memcpy(all + at * size, all + (at - 1) * size, size);
		} while (--at && by(all + (at - 1) * size, one, arg) > 0);
		memcpy(all + at * size, one, size);
		if (moves && i - at > left)
			return i + 1;
		left -= moves ? i - at : 0;
	}
	return n;
}

/* qsort_r(), which is stable and inlines a comparison that it can see and a size that it knows: a
 * fourth of the instructions. Sorted input costs one comparison per element. Without memory for a
 * copy it calls qsort_r(). */
static inline __attribute__((always_inline)) void ct_sort_r(void *array, size_t n, size_t size,
							    ct_sort_by *by, void *arg)
{
	char *from = array, *to, *room;
	size_t sorted = n > 0;

	while (sorted < n && by(from + (sorted - 1) * size, from + sorted * size, arg) <= 0)
		sorted++;
	if (sorted >= n)
		return;
	if (size <= CT_SORT_LARGEST)
		sorted = ct_sort_insert(from, sorted, n, size, n <= CT_SORT_RUN ? 0 : CT_SORT_MOVES,
					by, arg);
	if (sorted >= n)
		return;
	room = size <= CT_SORT_LARGEST && n <= SIZE_MAX / size ? malloc(n * size) : NULL;
	if (!room) {
		qsort_r(array, n, size, by, arg);
		return;
	}
	for (size_t i = sorted / CT_SORT_RUN * CT_SORT_RUN; i < n; i += CT_SORT_RUN)
		ct_sort_insert(from + i * size, 1, n - i < CT_SORT_RUN ? n - i : CT_SORT_RUN, size,
			       0, by, arg);
	to = room;
	for (size_t width = CT_SORT_RUN; width < n; width *= 2) {
		char *swap = from;

		for (size_t i = 0; i < n; i += 2 * width) {
			const char *a = from + i * size;
			const char *b = from + (i + width < n ? i + width : n) * size;
			const char *end_a = b;
			const char *end = from + (i + 2 * width < n ? i + 2 * width : n) * size;
			char *out = to + i * size;

			if (b < end && by(b - size, b, arg) > 0) {
				while (a < end_a && b < end) {
					int second = by(a, b, arg) > 0;

					memcpy(out, second ? b : a, size);
					a += second ? 0 : size;
					b += second ? size : 0;
					out += size;
				}
			}
			memcpy(out, a, (size_t)(end_a - a));
			memcpy(out + (end_a - a), b, (size_t)(end - b));
		}
		from = to;
		to = swap;
	}
	if (from != array)
		memcpy(array, from, n * size);
	free(room);
}

static inline __attribute__((always_inline)) int ct_sort_without(const void *a, const void *b,
								 void *by)
{
	return ((int (*)(const void *, const void *))by)(a, b);
}

/* qsort(), as ct_sort_r() is qsort_r(). */
static inline __attribute__((always_inline)) void ct_sort(void *array, size_t n, size_t size,
							  int (*by)(const void *, const void *))
{
	ct_sort_r(array, n, size, ct_sort_without, by);
}

/* The first index `i` in [from, to) for which the expression `before` is false; `to` if there is
 * none. In sorted data `before` is true up to some index: CT_BISECT(i, 0, n, all[i].begin_ns < ns).
 */
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
