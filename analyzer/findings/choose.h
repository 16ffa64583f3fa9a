/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h — chooses the verdict and sorts the findings.
 *
 * Contradictions lead, then the finding with the highest cost. A negligible loss does not lead
 * before a larger one of another kind. Without enough evidence the verdict says so.
 * docs/dev/algorithms/verdict.md, "The verdict". */
#ifndef CT_ANALYZER_FINDINGS_CHOOSE_H
#define CT_ANALYZER_FINDINGS_CHOOSE_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/findings/judgement.h"

/* Fills report->findings and report->verdict from the list; the rest of the report is complete. The
 * verdict's finding comes first. 0 or CT_NOMEM. */
int ct_verdict_fill(const struct ct_judgement *judgement, struct ct_findings *list,
		    struct ct_report *report);

#endif
