/* SPDX-License-Identifier: Apache-2.0 */
/* ring_stacks.h — STACK records in the ring: the latest looks at the threads of a process that stands still, so that they are
 * there also when no file can be written any more.
 *
 * Two places, taken in turn: while one is written, or when the writer dies in it, the other one holds. Each has a version, odd
 * while it is written, and is copied between two equal even ones. One writer; anybody reads, also after its death. */
#ifndef CT_TRACE_RING_STACKS_H
#define CT_TRACE_RING_STACKS_H

#include "trace/block.h"
#include "trace/ring.h"

static inline uint32_t ct_ring_stacks_at(const struct ct_ring_header *header)
{
	return (uint32_t)atomic_load_explicit(&((struct ct_ring_header *)(uintptr_t)header)->stacks,
					      memory_order_relaxed);
}

/* Bytes of one place, 0: there is none (rings of older versions). */
static inline uint32_t ct_ring_stacks_bytes(const struct ct_ring_header *header)
{
	return (uint32_t)(atomic_load_explicit(&((struct ct_ring_header *)(uintptr_t)header)->stacks,
					       memory_order_relaxed) >>
			  32);
}

/* Put `n` records that lie one behind the other in place of the older ones, or of the newer ones if they are the same `again`; those
 * that find no room are left out. */
void ct_ring_stacks_put(const struct ct_ring *ring, const uint8_t *records, const uint32_t *len,
			uint32_t n, int again);

/* Append what is there to *block, the older ones first. `bytes` is that of one place, as checked. 0 or CT_NOMEM. */
int ct_ring_stacks_read(const struct ct_ring *ring, uint32_t bytes, struct ct_block *block);

#endif
