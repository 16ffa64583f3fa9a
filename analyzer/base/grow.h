/* SPDX-License-Identifier: Apache-2.0 */
/* grow.h — space in arrays that grow by doubling.
 *
 * `array` is the address of the pointer to the array, NULL while *cap is 0; *cap is how many
 * elements of `size` bytes it has space for. Both are unchanged on failure. The caller frees the
 * array. */
#ifndef CT_ANALYZER_BASE_GROW_H
#define CT_ANALYZER_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

/* grow.c's: where there is no space yet. */
int ct_grow_now(void *array, uint32_t *cap, uint32_t least, size_t size);
int ct_grow_zeroed_now(void *array, uint32_t *cap, uint32_t least, size_t size);

/* Space for `least` elements. 0 or CT_NOMEM, also for more than 2^31 of them. */
static inline int ct_grow(void *array, uint32_t *cap, uint32_t least, size_t size)
{
	return least <= *cap ? 0 : ct_grow_now(array, cap, least, size);
}

/* The same; new elements are zeroed, for arrays that are indexed up to *cap. */
static inline int ct_grow_zeroed(void *array, uint32_t *cap, uint32_t least, size_t size)
{
	return least <= *cap ? 0 : ct_grow_zeroed_now(array, cap, least, size);
}

#endif
