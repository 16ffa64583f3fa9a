/* SPDX-License-Identifier: Apache-2.0 */
/* link_findings.h — slow links, and their cost. */
#ifndef CT_ANALYZER_FINDINGS_LINK_FINDINGS_H
#define CT_ANALYZER_FINDINGS_LINK_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/link/links.h"
#include "analyzer/model/model.h"

/* SLOW_LINK for each cause that costs 1 % of step time, and SLOW_OP if a track can only be compared
 * with its own past. The report must have overlap[]. */
int ct_links_find(const struct ct_links *links, const struct ct_model *model,
		  const struct ct_report *report, struct ct_findings *list);

#endif
