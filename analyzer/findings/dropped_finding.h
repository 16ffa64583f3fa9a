/* SPDX-License-Identifier: Apache-2.0 */
/* dropped_finding.h — DROPPED_RECORDS: dropped records. */
#ifndef CT_ANALYZER_FINDINGS_DROPPED_FINDING_H
#define CT_ANALYZER_FINDINGS_DROPPED_FINDING_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"

/* Adds the finding to the list if records were dropped. */
void ct_finding_dropped_records(const struct ct_model *model, const struct ct_report *report,
				struct ct_findings *list);

#endif
