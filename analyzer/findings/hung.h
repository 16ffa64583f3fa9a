/* SPDX-License-Identifier: Apache-2.0 */
/* hung.h — the result of `hang` (report->hang), for the report's verdict. */
#ifndef CT_ANALYZER_FINDINGS_HUNG_H
#define CT_ANALYZER_FINDINGS_HUNG_H

#include "analyzer/model/report.h"

struct ct_hang_verdict;

/* The first verdict with waiting ranks, of the report's memory. NULL: `hang` has none, or only
 * UNKNOWN. */
const struct ct_hang_verdict *ct_hung_find(const struct ct_report *report);

/* Turns it into the report's verdict. */
void ct_verdict_hung(const struct ct_hang_verdict *hung, struct ct_report *report);

#endif
