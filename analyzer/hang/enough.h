/* SPDX-License-Identifier: Apache-2.0 */
/* enough.h — whether what was read of tails (tails.h) gives the verdict that all records would give. Once all was read; the
 * communicators need not be listed yet. One thread. */
#ifndef CT_HANG_ENOUGH_H
#define CT_HANG_ENOUGH_H

struct ct_err;
struct ct_gather;
struct ct_hang_run;

/* 1, 0 (then everything is to be read), or CT_NOMEM. Without tails 1. */
int ct_hang_is_enough(struct ct_gather *gather);

/* The same of the verdicts made of it: no rank that is told to be missing has a thread that is inside of a call since before its tail. The
 * records of those ranks are read for that. 1, 0, or a failure. */
int ct_hang_is_sure(const struct ct_gather *gather, const struct ct_hang_run *run,
		    struct ct_err *err);

#endif
