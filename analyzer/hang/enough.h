/* SPDX-License-Identifier: Apache-2.0 */
/* enough.h — do the tails that were read (tails.h) give the same verdict as all records? Call it
 * after the reading; the communicators need not be listed yet. One thread. */
#ifndef CT_ANALYZER_HANG_ENOUGH_H
#define CT_ANALYZER_HANG_ENOUGH_H

struct ct_err;
struct ct_gather;
struct ct_hang_run;

/* 1, 0 (then everything is to be read), or CT_NOMEM. Without tails 1. */
int ct_hang_is_enough(struct ct_gather *gather);

/* The same for the resulting verdicts: no rank that is called missing has a thread inside a call
 * since before its tail. Reads the records of those ranks. 1, 0, or a failure. */
int ct_hang_is_sure(const struct ct_gather *gather, const struct ct_hang_run *run,
		    struct ct_err *err);

#endif
