/* SPDX-License-Identifier: Apache-2.0 */
/* in_queue.h — ready times of launches that queued on their stream. They are not measured: a launch
 * is ready after the begin of the one ahead of it and before its own start. In between it is taken
 * from peers that did not queue then ("Lateness" in docs/dev/algorithms/lateness.md). One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_IN_QUEUE_H
#define CT_ANALYZER_LATENESS_REPLAY_IN_QUEUE_H

#include "analyzer/lateness/replay/positions.h"

/* Set the gaps (ns) of the n launches of one occurrence that queued up; all count from their
 * anchors already. `follows`: launches of this position start as what they follow ends (follows.h),
 * and so have none. values: space for n. */
void ct_in_queue_ready(struct ct_schedule *schedule, const uint32_t *launches, uint32_t n,
		       int follows, double *values);

#endif
