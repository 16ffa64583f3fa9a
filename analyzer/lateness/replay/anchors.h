/* SPDX-License-Identifier: Apache-2.0 */
/* anchors.h — from the end of what a launch's gap counts. One thread. */
#ifndef CT_ANCHORS_H
#define CT_ANCHORS_H

#include "analyzer/lateness/replay/positions.h"

/* Where computing does not wait for a launch to end (gradient buckets), the gap to the next one counts from what it did wait
 * for. Told, for each position of a stage of three ranks at least, by what happens when a launch took longer than it usually
 * does: the gap stays, or is shorter by as much. Before ct_schedule_order(). 0 or CT_NOMEM. */
int ct_anchors_find(struct ct_schedule *schedule, const struct ct_stages *stages,
		    const struct ct_positions *positions);

#endif
