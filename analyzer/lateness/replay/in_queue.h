/* SPDX-License-Identifier: Apache-2.0 */
/* in_queue.h — when launches that had to queue up on their stream would have been ready.
 *
 * That is not known: not before the launch ahead of it on its stream, and not after it started. Between these it is taken to be as
 * with peers that did not queue up then ("What-if" in docs/ANALYSIS.md). One thread. */
#ifndef CT_WHATIF_IN_QUEUE_H
#define CT_WHATIF_IN_QUEUE_H

#include "analyzer/lateness/replay/peers.h"

/* A group of peers, whose launches count from their anchors already. */
struct ct_in_queue {
	struct ct_schedule *s;
	const struct ct_peers *peers;
	const struct ct_peer_group *g;
	double *values; /* room for one of each member */
};

/* Set the gaps (ns) of the members' launches at this place that queued up. `follows`: launches of this position start as what they
 * follow ends (follows.h), and so have none. */
void ct_in_queue_ready(const struct ct_in_queue *queue, uint32_t place, int follows);

#endif
