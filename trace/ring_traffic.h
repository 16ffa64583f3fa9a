/* SPDX-License-Identifier: Apache-2.0 */
/* ring_traffic.h — what ranks transfer inside recorded operations, counted in the ring.
 *
 * A table of running totals, one entry for each communicator, direction and peer. It is in the ring
 * file and so outlives the process. Any thread adds to it: a short search and two atomic additions,
 * without a lock. An entry holds the totals of one key until the write thread frees it, and no key
 * ever gets those of another; two threads that make the same key while a third is freed may each
 * make an entry, which add up. No space: a counted loss. */
#ifndef CT_TRACE_RING_TRAFFIC_H
#define CT_TRACE_RING_TRAFFIC_H

#include "trace/ring.h"

/* Where the table begins and how many entries it has; 0 in a ring without one. */
static inline uint32_t ct_ring_traffic_at(const struct ct_ring_header *h)
{
	ct_word *word = (ct_word *)(uintptr_t)&h->traffic;

	return (uint32_t)atomic_load_explicit(word, memory_order_relaxed);
}

static inline uint32_t ct_ring_traffic_entries(const struct ct_ring_header *h)
{
	ct_word *word = (ct_word *)(uintptr_t)&h->traffic;

	return (uint32_t)(atomic_load_explicit(word, memory_order_relaxed) >> 32);
}

/* There will be something to count: allocates the table, unless it is there. Any thread that may
 * wait for that. */
void ct_ring_traffic_begin(struct ct_ring *ring);

/* A transfer of `bytes` to member `peer` of communicator `comm` (its id in this process), or with
 * `received` from it; peer -1: one of several, it is not known which. Any thread of the ring's
 * owner. */
void ct_ring_traffic_add(struct ct_ring *ring, uint32_t comm, int received, int32_t peer,
			 uint64_t bytes);

/* Nothing has been counted that was not freed since: there is nothing to read. The ring's own
 * process only. */
int ct_ring_traffic_is_empty(const struct ct_ring *ring);

/* Entry `i` as a record; 0 if it is not in use. Any thread, any process. */
int ct_ring_traffic_read(const struct ct_ring *ring, uint32_t i, struct ct_traffic_rec *rec);

/* No thread adds to the entry any more: its communicator has ended. Write thread only. */
void ct_ring_traffic_free(struct ct_ring *ring, uint32_t i);

#endif
