/* SPDX-License-Identifier: Apache-2.0 */
/* crossing.h — how many bytes must have gone between hosts, from what was communicated. One thread.
 */
#ifndef CT_ANALYZER_LINK_CROSSING_H
#define CT_ANALYZER_LINK_CROSSING_H

#include "analyzer/model/model.h"

/* In and out of one host together, at least: whatever algorithm was used, the result cannot be
 * known there otherwise. With members M on all hosts, k of them here, S the bytes of the operation
 * (docs/dev/algorithms/matching.md, Matching): AllReduce                    S in, S out (sums come
 * in, sums of its own members go out) AllGather, ReduceScatter     (M - k) / M S one way, k / M S
 * the other AllToAll                     k (M - k) / M S each way (S is what one member has for
 * all) Members of which it is not known where they are count for neither side. Rooted operations,
 * messages and graphs are left out. */
struct ct_crossing {
	double bytes;	   /* of NCCL and MPI */
	double gloo_bytes; /* of Gloo, which knows nothing but sockets */
};

/* The same for one operation; k members here, `elsewhere` known to be on other hosts. 0: nothing
 * has to. Pure. */
double ct_crossing_of(unsigned op, double bytes, uint32_t members, uint32_t here,
		      uint32_t elsewhere);

/* by_host[starts->n_hosts], zeroed by the caller. After comms and ops. 0 or CT_NOMEM. */
int ct_crossing_sum(const struct ct_model *model, const struct ct_report *report,
		    struct ct_crossing *by_host);

#endif
