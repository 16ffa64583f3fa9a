/* SPDX-License-Identifier: Apache-2.0 */
/* replay_finding.h — ranks that are slow together, as a replay of the run tells. */
#ifndef CT_REPLAY_FINDING_H
#define CT_REPLAY_FINDING_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/replay/judge.h"

/* Adds a finding about the set that explains most, in place of its members' findings where it explains more. 0 or
 * CT_NOMEM. */
int ct_whatif_findings(struct ct_whatif *w, const struct ct_lateness *late,
		       struct ct_findings *list);

#endif
