/* SPDX-License-Identifier: Apache-2.0 */
/* clocks_fill.h — the hosts' clocks, for the report. */
#ifndef CT_ANALYZER_REPORT_CLOCKS_FILL_H
#define CT_ANALYZER_REPORT_CLOCKS_FILL_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/model/model.h"

/* Of several hosts, one row each in report->clocks, and a finding if clocks contradict themselves.
 * After ct_fill_job(). 0 or CT_NOMEM. */
int ct_fill_clocks(const struct ct_model *model, struct ct_findings *findings,
		   struct ct_report *report);

#endif
