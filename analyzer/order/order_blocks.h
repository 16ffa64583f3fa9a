/* SPDX-License-Identifier: Apache-2.0 */
/* order_blocks.h — the calls of one member of a communicator, as sums over blocks of sequence
 * numbers.
 *
 * A block's sum adds, modulo 2^64, one hash for each of its operations, which includes the sequence
 * number (trace/op_hash.h). So the order of reading does not matter, neighboring blocks are merged
 * by adding, and two members have equal sums if they made the same calls in the same order. When a
 * run exceeds the blocks, all of them become twice as wide: memory is `most` blocks for any length
 * of the run. One thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_BLOCKS_H
#define CT_ANALYZER_ORDER_ORDER_BLOCKS_H

#include <stdint.h>

#include "trace/op_hash.h"

struct ct_order_block {
	uint64_t what;
	uint64_t aside; /* a second sum, of what the caller adds: operations that cannot be compared
			   exactly */
	uint64_t n;	/* operations */
};

/* The caller sets `most` and `shift` before the first operation. */
struct ct_order_blocks {
	struct ct_order_block *blocks;
	uint32_t n, cap;
	uint32_t most;	       /* blocks */
	unsigned shift;	       /* a block is 1 << shift sequence numbers wide */
	uint64_t lowest;       /* number of the first block: its first sequence number >> shift */
	uint64_t first, after; /* sequence numbers added so far: first .. after - 1 */
};

/* An operation was called; `what` is a hash of it, `aside` is added as it is. 0 or CT_NOMEM. */
int ct_order_blocks_add(struct ct_order_blocks *all, uint64_t seq, uint64_t what, uint64_t aside);
void ct_order_blocks_fini(struct ct_order_blocks *all);

/* Make blocks twice as wide. */
void ct_order_blocks_widen(struct ct_order_blocks *all);

/* Make the blocks of `all` and `with` as wide as it takes for `all` to reach over both, and reach
 * it. Both have blocks. 0 or CT_NOMEM. */
int ct_order_blocks_align(struct ct_order_blocks *all, struct ct_order_blocks *with);

/* The block with number `number`, empty where nothing was added. */
struct ct_order_block ct_order_blocks_at(const struct ct_order_blocks *all, uint64_t number);

#endif
