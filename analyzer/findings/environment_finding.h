/* SPDX-License-Identifier: Apache-2.0 */
/* environment_finding.h — ENVIRONMENT_DIFFERS: facts of the start records that differ between ranks and must not. */
#ifndef CT_ANALYZER_FINDINGS_ENVIRONMENT_FINDING_H
#define CT_ANALYZER_FINDINGS_ENVIRONMENT_FINDING_H

#include "analyzer/findings/finding_list.h"

/* Adds the finding to the list if anything differs. */
void ct_finding_environment(const struct ct_report *report, struct ct_findings *list);

#endif
