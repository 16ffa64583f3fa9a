/* SPDX-License-Identifier: Apache-2.0 */
/* ring_stacks.h — STACK records in the ring: the latest stacks of a stalled process, so that they
 * exist even if files can no longer be written.
 *
 * Two buffers, used in turn: while one is written, or if the writer dies in it, the other one is
 * valid. Each has a version, odd while it is written; a copy is valid if the version is even and
 * the same before and after. One writer; any process may read, even after its death. */
#ifndef CT_TRACE_RING_STACKS_H
#define CT_TRACE_RING_STACKS_H

#include "trace/block.h"
#include "trace/ring.h"

static inline uint32_t ct_ring_stacks_at(const struct ct_ring_header *header)
{
	return (uint32_t)atomic_load_explicit(&((struct ct_ring_header *)(uintptr_t)header)->stacks,
					      memory_order_relaxed);
}

/* Bytes of one buffer; 0: none (rings of older versions). */
static inline uint32_t ct_ring_stacks_bytes(const struct ct_ring_header *header)
{
	return (uint32_t)(atomic_load_explicit(&((struct ct_ring_header *)(uintptr_t)header)->stacks,
					       memory_order_relaxed) >>
			  32);
}

/* Replaces the older records by `n` consecutive ones, or the newer records if they are the same
 * `again`. Records without space are dropped. */
void ct_ring_stacks_put(const struct ct_ring *ring, const uint8_t *records, const uint32_t *len,
			uint32_t n, int again);

/* Append what is there to *block, the older ones first. `bytes` is that of one buffer, as checked.
 * 0 or CT_NOMEM. */
int ct_ring_stacks_read(const struct ct_ring *ring, uint32_t bytes, struct ct_block *block);

/* Copy both buffers of `bytes` to `to`, which has space for them and is zeroed. One that is being
 * written stays invalid. */
void ct_ring_stacks_copy(const struct ct_ring *ring, uint32_t bytes, uint64_t *to);

#endif
