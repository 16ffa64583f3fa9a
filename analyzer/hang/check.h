/* SPDX-License-Identifier: Apache-2.0 */
/* check.h — did all members of each communicator make the same calls, in the same order? Proved by sums (hang/sums.h) as far as
 * these reach, and operation by operation from there on. For collect.c only; the results are in hang_run.h. */
#ifndef CT_ANALYZER_HANG_CHECK_H
#define CT_ANALYZER_HANG_CHECK_H

#include "analyzer/hang/gather.h"

/* run->equals, one for each communicator that two or more ranks recorded; after the ops of its case. 0 or CT_NOMEM. */
int ct_hang_check(const struct ct_gather *g, struct ct_hang_run *run);

#endif
