/* SPDX-License-Identifier: Apache-2.0 */
/* drain.h — from ring chunks to a block of records: used by the write thread on its own live ring,
 * and by readers on the remains of a dead process.
 *
 * The drain remembers which chunks it took slots from, so that the write thread can mark them
 * drained after, and only after, the block is in the segment. */
#ifndef CT_TRACE_DRAIN_H
#define CT_TRACE_DRAIN_H

#include "trace/block.h"
#include "trace/ring.h"

/* size: records of a block. With 8,192 files are 5 % smaller, and a process takes 0.3 MB more
 * (docs/dev/PERFORMANCE.md). */
#define CT_DRAIN_RECORDS 4096u

struct ct_drain {
	struct ct_drain_chunk {
		struct ct_chunk *chunk;
		uint64_t lap;
		uint32_t from; /* slots before this one are safe already */
		uint32_t to;   /* slots before this one are taken */
		int closed;    /* its thread is through with it */
		int whole;     /* nothing is left to take: free it once safe */
	} * chunks;	       /* those with undrained records, oldest claim first */
	uint32_t n_chunks;
	uint32_t cap_chunks;
	uint32_t at;	    /* chunk to continue with */
	uint32_t done;	    /* chunks before this one are marked */
	uint32_t n_pending; /* ops that were still inside their call */
};

/* Which ops a drain takes. */
enum ct_drain_mode {
	CT_DRAIN_RETURNED, /* stop in a chunk at the first op that is still inside its call */
	CT_DRAIN_ALL,	   /* take those too, as records without a return: they will never end */
};

/* Begin a pass: list the chunks that hold undrained records, oldest claim first. 0 or CT_NOMEM. */
int ct_drain_begin(struct ct_drain *drain, const struct ct_ring *ring);

/* Append records to *block until it holds `max` records or the pass is through. Returns 1 if there
 * is more, 0 if the pass is through, or CT_NOMEM. Chunks touched since the last ct_drain_done() are
 * remembered. */
int ct_drain_next(struct ct_drain *drain, const struct ct_ring *ring, struct ct_block *block,
		  uint32_t max, enum ct_drain_mode mode);

/* What the last ct_drain_next() calls took is safe now: mark it in the chunks, free those that are
 * through. Write thread of the ring's owner only. */
void ct_drain_done(struct ct_drain *drain, struct ct_ring *ring);

/* Forget what was taken; the next pass takes it again. */
void ct_drain_undo(struct ct_drain *drain);

void ct_drain_fini(struct ct_drain *drain);

/* Discards the oldest closed chunks until `want` chunks are free, and counts their undrained
 * records as lost for `reason`. So a failing disk costs the oldest records, not the newest. Write
 * thread only. Returns the number of discarded records. */
uint64_t ct_drain_give_up(struct ct_drain *drain, struct ct_ring *ring, uint32_t want,
			  enum ct_loss reason);

#endif
