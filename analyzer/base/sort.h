/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h — comparisons for qsort() that steps have in common: numbers, the least first. Pure. */
#ifndef CT_SORT_H
#define CT_SORT_H

/* Of two uint64_t. */
int ct_by_u64(const void *a, const void *b);

/* Of two doubles; neither is NAN. */
int ct_by_double(const void *a, const void *b);

#endif
