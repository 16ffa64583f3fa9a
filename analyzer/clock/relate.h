/* SPDX-License-Identifier: Apache-2.0 */
/* relate.h — the result of an edge: the offset of its two clocks with its error, or a contradiction.
 *
 * Ends say where in the interval that causality allows; where there are none of them, the middle of
 * the interval has to do. Formulas: docs/dev/algorithms/clocks.md. Pure functions. */
#ifndef CT_ANALYZER_CLOCK_RELATE_H
#define CT_ANALYZER_CLOCK_RELATE_H

#include "analyzer/clock/edge.h"
#include "analyzer/model/clock_map.h"
#include "analyzer/model/clocks.h"

struct ct_relation {
	uint32_t hosts[2];
	enum ct_clock_quality quality;
	struct ct_clock_map
		to[2]; /* to[0]: hosts[0]'s clock in terms of hosts[1]'s, to[1] the reverse */
	double err;    /* mean over the knots; the weight of the edge */
	struct ct_clock_conflict conflict; /* at_ns on the clock of hosts[0] */
};

/* `bias`, by host of the edge: standard deviation of how much earlier or later than others a rank's
 * ends always are; 0 unknown. The edge is finished. 0 or CT_NOMEM; ct_relation_fini() in any case. */
int ct_relate(const struct ct_clock_edge *edge, const double *bias, struct ct_relation *relation);
void ct_relation_fini(struct ct_relation *relation);

#endif
