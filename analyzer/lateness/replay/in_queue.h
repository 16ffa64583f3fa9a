/* SPDX-License-Identifier: Apache-2.0 */
/* in_queue.h — when launches that had to queue up on their stream would have been ready.
 *
 * That is not known: not before the launch ahead of it on its stream, and not after it started. Between these it is taken to be as
 * with peers that did not queue up then ("Lateness" in docs/dev/algorithms/lateness.md). One thread. */
#ifndef CT_WHATIF_IN_QUEUE_H
#define CT_WHATIF_IN_QUEUE_H

#include "analyzer/lateness/replay/positions.h"

/* Set the gaps (ns) of the n launches at one place that queued up; all count from their anchors already. `follows`: launches of this
 * position start as what they follow ends (follows.h), and so have none. values: room for n. */
void ct_in_queue_ready(struct ct_schedule *schedule, const uint32_t *launches, uint32_t n,
		       int follows, double *values);

#endif
