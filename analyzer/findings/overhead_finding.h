/* SPDX-License-Identifier: Apache-2.0 */
/* overhead_finding.h — overhead above the promise. */
#ifndef CT_ANALYZER_FINDINGS_OVERHEAD_FINDING_H
#define CT_ANALYZER_FINDINGS_OVERHEAD_FINDING_H

#include "analyzer/findings/finding_list.h"

/* TRACER_OVERHEAD if wrappers took more than 1 % of a rank's run, and 100 ms, so that start-up
 * alone does not count. Also if COMMTRACE_BUDGET left a tenth of the launches untimed. */
void ct_finding_tracer_overhead(const struct ct_report *report, struct ct_findings *findings);

#endif
