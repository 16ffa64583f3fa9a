/* SPDX-License-Identifier: Apache-2.0 */
/* anchors.h — the launch whose end begins a launch's gap. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_ANCHORS_H
#define CT_ANALYZER_LATENESS_REPLAY_ANCHORS_H

#include "analyzer/lateness/replay/positions.h"

/* If compute does not wait for a launch (gradient buckets), the gap to the next one begins at the
 * end of the launch that it did wait for. For each position of a stage of at least three ranks,
 * launches that took longer than usual decide: the gap after them stays, or is shorter by the same
 * time. Before ct_schedule_order(). 0 or CT_NOMEM. */
int ct_anchors_find(struct ct_schedule *schedule, const struct ct_stages *stages,
		    const struct ct_positions *positions);

#endif
