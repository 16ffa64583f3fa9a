/* SPDX-License-Identifier: Apache-2.0 */
/* environment_finding.h — findings from the start records. ENVIRONMENT_DIFFERS: facts that differ
 * between ranks and must not. SETTING_NOT_READ: NCCL_* variables that NCCL does not read. */
#ifndef CT_ANALYZER_FINDINGS_ENVIRONMENT_FINDING_H
#define CT_ANALYZER_FINDINGS_ENVIRONMENT_FINDING_H

#include "analyzer/findings/finding_list.h"

/* Adds each finding whose facts are recorded. */
void ct_finding_environment(const struct ct_report *report, struct ct_findings *list);

#endif
