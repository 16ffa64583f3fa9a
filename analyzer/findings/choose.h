/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h — of all that was found, what is told in one sentence, and in which order the findings stand.
 *
 * What leads is what costs most, contradictions before it; a loss too small to be chased does not lead before a larger
 * one of another kind. What cannot be concluded is told as what it is. docs/dev/algorithms/verdict.md, "The verdict". */
#ifndef CT_VERDICT_CHOOSE_H
#define CT_VERDICT_CHOOSE_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/findings/judgement.h"

/* Makes of all that is in the list report->findings and report->verdict, in a report that is filled in else. What the
 * verdict tells comes first. 0 or CT_NOMEM. */
int ct_verdict_fill(const struct ct_judgement *judgement, struct ct_findings *list,
		    struct ct_report *report);

#endif
