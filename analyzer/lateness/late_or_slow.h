/* SPDX-License-Identifier: Apache-2.0 */
/* late_or_slow.h — the cost of operations that were late or slow, without a distinction, so that no
 * rank is charged: their excess over usual times, each moment of the run once. One thread. */
#ifndef CT_ANALYZER_LATENESS_LATE_OR_SLOW_H
#define CT_ANALYZER_LATENESS_LATE_OR_SLOW_H

#include "analyzer/base/interval_union.h"
#include "analyzer/stream/stream.h"

struct ct_late_or_slow {
	uint64_t n;	       /* instances that took longer than other sizes can show ... */
	struct ct_union spans; /* ... and what they took longer than usual, since the run began */
};

/* One that is zeroed takes in all that a stream reads, and counts in the stream's classes:
 * instances whose last one took long itself; and those that hand a root's data out, of which a
 * member had it several times as long as the others (their median), so that it held its own stream
 * up, waiting for SMs on its GPU or for its link. */
void ct_late_or_slow_observe(struct ct_late_or_slow *late, struct ct_observer *observer);

#endif
