/* SPDX-License-Identifier: Apache-2.0 */
/* one_cause.h — merges findings with the same cause. Pure, except for the list's memory. */
#ifndef CT_ANALYZER_FINDINGS_ONE_CAUSE_H
#define CT_ANALYZER_FINDINGS_ONE_CAUSE_H

#include "analyzer/findings/finding_list.h"

/* Removes a CHANGE_POINT if named ranks were late, or a named link was slow, in its steps, for half
 * of its loss. The explaining finding then has its figures as evidence, and "since_step" in its
 * line. An IMBALANCE, or a rank that is late in single steps, is removed if stalls with a rule
 * account for it. */
void ct_one_cause(struct ct_findings *list);

#endif
