/* SPDX-License-Identifier: Apache-2.0 */
/* one_cause.h — two findings of one cause become one. Pure, but for the list's memory. */
#ifndef CT_VERDICT_ONE_CAUSE_H
#define CT_VERDICT_ONE_CAUSE_H

#include "analyzer/findings/finding_list.h"

/* A CHANGE_POINT whose steps are those in which named ranks were late, or a named link was slow, for half of its loss, is
 * taken out of the list: what explains it has its figures as evidence then, and "since_step" in its line. So is what stalls with a
 * rule account for: an IMBALANCE, a rank that is late in single steps. */
void ct_one_cause(struct ct_findings *list);

#endif
