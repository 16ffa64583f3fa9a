/* SPDX-License-Identifier: Apache-2.0 */
/* stall_loss.h — the cost of stalls that follow a rule. Pure. Two figures bound it. The wait of
 * others for the stalled rank (its charge) may include time that compute hid. The excess of the
 * stall's step and the next one over their neighbors may include other delays. The loss is the
 * smaller of the two, stall by stall.
 *
 * Its error is the sum of: that of the charges' times; how far the two figures lie apart; what
 * stalls are longer than their median, since something else may have come in addition, and all of
 * those that are a quarter shorter; what other steps are longer than usual on average, which a
 * stall hides; twice the standard error of the neighbours' median and of the steps themselves; and
 * what may have been missed: steps in which the rule has a stall and that took as much longer,
 * though no rank is charged. docs/dev/algorithms/stalls.md. */
#ifndef CT_ANALYZER_LATENESS_STALL_LOSS_H
#define CT_ANALYZER_LATENESS_STALL_LOSS_H

#include "analyzer/lateness/stalls.h"

/* Steps: their times, and of which of them the late rank is known. */
struct ct_stall_steps {
	const uint64_t *cut_ns; /* n + 1 */
	const uint8_t *kept;
	uint32_t n;
};

struct ct_stall_loss {
	double ns, err_ns;
	uint32_t expected; /* stalls that the rule has from the first to the last; 0: it does not
			      say */
	uint32_t missed;   /* of these, that were not seen though the step took as much longer */
};

/* Of n events, by step. 0 or CT_NOMEM. */
int ct_stalls_cost(const struct ct_stall_steps *steps, const struct ct_stall *events, uint32_t n,
		   const struct ct_stall_pattern *pattern, struct ct_stall_loss *loss);

#endif
