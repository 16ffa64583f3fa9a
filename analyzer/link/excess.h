/* SPDX-License-Identifier: Apache-2.0 */
/* excess.h — by how much longer transfers took than they should have, as time of the run: what
 * several lost at the same time is lost once. Pure. */
#ifndef CT_ANALYZER_LINK_EXCESS_H
#define CT_ANALYZER_LINK_EXCESS_H

#include "analyzer/link/compare.h"
#include "analyzer/model/step_time.h"

struct ct_excess {
	struct ct_excess_span {
		uint64_t begin_ns, end_ns;
	} * spans;
	uint32_t n, cap;
	double sum_ns, err_ns; /* over all transfers, not as time of the run */
};

/* One transfer that should have taken expected_ns (+- err_ns); less than its error over counts for
 * nothing. 0 or CT_NOMEM. */
int ct_excess_add(struct ct_excess *excess, const struct ct_moved *moved, double expected_ns,
		  double err_ns);

/* What it comes to. Spans are put in order. */
struct ct_excess_sum {
	uint64_t time_lost_ns, err_ns;
	uint64_t in_steps_ns;	   /* of time_lost_ns */
	uint64_t begin_ns, end_ns; /* of the first and last; 0: there are none */
};
struct ct_excess_sum ct_excess_sum(struct ct_excess *excess, const struct ct_step_time *steps);

void ct_excess_fini(struct ct_excess *excess);

#endif
