/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h — transfers that were begun and not yet waited for: nonblocking calls.
 *
 * Each has a launch id, an entry in the ring's open table (what a reader sees when the process dies
 * now) and one in a fixed table here, found by the object that the program will wait on. The thread
 * that takes an entry closes the launch, exactly once; it may be any thread. Nothing allocates; a
 * full table costs the timing of that one transfer (counted).
 */
#ifndef CT_INTERPOSE_PENDING_H
#define CT_INTERPOSE_PENDING_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/channels.h"
#include "trace/ring.h"

/* What is known of a transfer when it begins. */
struct ct_pending {
	uint64_t enter_ns;
	uint64_t bytes;
	uint64_t seq;
	uint64_t slot;
	int32_t peer; /* -1: from any rank */
	uint32_t comm;
	uint32_t launch;
	uint32_t tag;
	uint32_t op;
};

/* Map the table; 0 or CT_NOMEM. Before the gate opens. */
int ct_pending_init(void);

/* Transfers that are pending; 0 lets waits and destructors pass without a search. */
uint32_t ct_pending_count(void);

/* Begins one; returns 0 without space (a counted loss). */
int ct_pending_add(const void *object, enum ct_direction direction,
		   const struct ct_pending *pending);

/* Removes the oldest one of this object and direction from the tables. 0 if there is none. */
int ct_pending_take(const void *object, enum ct_direction direction, struct ct_pending *pending);

/* Write the launch record of one that was taken, or never got in. end_ns 0: not known when it
 * ended. */
void ct_pending_close(const struct ct_pending *pending, uint64_t end_ns, int result);

#endif
