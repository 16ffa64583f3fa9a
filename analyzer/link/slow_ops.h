/* SPDX-License-Identifier: Apache-2.0 */
/* slow_ops.h — transfers of one track that took much longer than its others: X > X expected / 0.6,
 * three in a row at least. Needs no other track to compare with, so that it finds what became slow,
 * and not what always was. Pure. */
#ifndef CT_ANALYZER_LINK_SLOW_OPS_H
#define CT_ANALYZER_LINK_SLOW_OPS_H

#include "analyzer/link/excess.h"

/* The costliest stretch of slow ones in a track. */
struct ct_slow_ops {
	uint32_t n;	   /* 0: there is none */
	uint32_t all;	   /* transfers of that size in the track */
	double efficiency; /* expected / taken, of the stretch */
	struct ct_excess_sum sum;
};

/* in: the steps. 0 or CT_NOMEM. */
int ct_slow_ops_find(const struct ct_transfers *transfers, uint32_t track, const struct ct_fit *fit,
		     const struct ct_step_time *in, struct ct_slow_ops *out);

#endif
