/* SPDX-License-Identifier: Apache-2.0 */
/* check.h — did all members of each communicator make the same calls in the same order? Sums
 * (hang/sums.h) prove it as far as they reach; later operations are compared one by one. For
 * collect.c only; hang_run.h has the results. */
#ifndef CT_ANALYZER_HANG_CHECK_H
#define CT_ANALYZER_HANG_CHECK_H

#include "analyzer/hang/gather.h"

/* run->equals, one for each communicator that two or more ranks recorded; after the ops of its case. 0 or CT_NOMEM. */
int ct_hang_check(const struct ct_gather *g, struct ct_hang_run *run);

#endif
