/* SPDX-License-Identifier: Apache-2.0 */
/* overhead_finding.h — whether recording cost more than it promises. */
#ifndef CT_TRACER_COST_H
#define CT_TRACER_COST_H

#include "analyzer/findings/finding_list.h"

/* TRACER_COST, if wrappers took more than 1 % of the run of some rank (and 100 ms of it, so that a start is not taken for
 * the run), or if COMMTRACE_BUDGET had to leave a tenth of the launches untimed. */
void ct_finding_tracer_cost(const struct ct_report *report, struct ct_findings *findings);

#endif
