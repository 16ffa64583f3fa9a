/* SPDX-License-Identifier: Apache-2.0 */
/* slow_row_findings.h — findings on ranks, hosts, groups and stages whose repair saves time, and on
 * imbalance. One thread. */
#ifndef CT_ANALYZER_FINDINGS_SLOW_ROW_FINDINGS_H
#define CT_ANALYZER_FINDINGS_SLOW_ROW_FINDINGS_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/oversubscribed.h"
#include "analyzer/lateness/replay/judge.h"
#include "analyzer/model/model.h"
#include "analyzer/order/sites.h"

/* sites: of the same reading; whatif: from ct_replay_fill(); machine: the one with the most
 * processes per core. 0 or CT_NOMEM. */
int ct_slow_row_findings(const struct ct_replay_judgement *judgement, const struct ct_model *model,
			 const struct ct_sites *sites, const struct ct_report_whatif *whatif,
			 const struct ct_oversubscribed *machine, struct ct_findings *list);

#endif
