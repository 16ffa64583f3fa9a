/* SPDX-License-Identifier: Apache-2.0 */
/* causes.h — causes that findings share, with the advice for each (causes.def).
 *
 * A step that adds a finding sets its cause, and may replace it later. At the end
 * ct_findings_advise() adds advice and command. Findings with a text of their own have their own
 * advice. One thread. */
#ifndef CT_ANALYZER_FINDINGS_CAUSES_H
#define CT_ANALYZER_FINDINGS_CAUSES_H

#include "analyzer/findings/finding_list.h"

/* Sets why and cause; a later call replaces an earlier one. */
void ct_finding_set_cause(struct ct_finding *f, enum ct_why why);

/* Advice of all findings with a common cause, and the commands of all, with the host, GPU and pid
 * on record. Reads ranks, hosts and kind of the findings, and the report's ranks and environment.
 * Texts are in the report's memory. */
void ct_findings_advise(struct ct_findings *list, const struct ct_report *report);

#endif
