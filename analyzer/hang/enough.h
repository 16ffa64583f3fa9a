/* SPDX-License-Identifier: Apache-2.0 */
/* enough.h — whether what was read of tails (tails.h) gives the verdict that all records would give. Once all was read; the
 * communicators need not be listed yet. One thread. */
#ifndef CT_HANG_ENOUGH_H
#define CT_HANG_ENOUGH_H

struct ct_gather;

/* 1, 0 (then everything is to be read), or CT_NOMEM. Without tails 1. */
int ct_hang_is_enough(struct ct_gather *gather);

#endif
