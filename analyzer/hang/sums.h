/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h — what the members of a communicator called, as sums over blocks of sequence numbers, so that it can be proved that
 * long runs are equal without keeping them.
 *
 * A block's sum adds up one hash for each of its operations, which takes in its number: the order in which records are read does
 * not matter, and neighbouring blocks are merged by adding. When a run gets longer than the blocks reach, all become twice as
 * wide. One member's sums are kept while its process is read, and then held against those of the members before it, which are
 * one set a communicator: memory depends on ranks and communicators, not on the length of the run. One thread. */
#ifndef CT_HANG_SUMS_H
#define CT_HANG_SUMS_H

#include <stdint.h>

#define CT_HANG_SUM_BLOCKS 512u
#define CT_HANG_SUM_SHIFT 3u /* a block is 8 operations wide at first */

struct ct_hang_sum {
	uint64_t what, site;
	uint64_t n; /* operations */
};

struct ct_hang_sums {
	struct ct_hang_sum *blocks;
	uint32_t n, cap;
	uint32_t most; /* blocks; 0: CT_HANG_SUM_BLOCKS */
	unsigned shift;
	uint64_t first, after; /* numbers added so far: first .. after - 1 */
};

/* 0 or CT_NOMEM. */
int ct_hang_sums_add(struct ct_hang_sums *sums, uint64_t seq, uint64_t what, uint64_t site);
void ct_hang_sums_fini(struct ct_hang_sums *sums);

/* All members of a communicator so far. */
struct ct_hang_order {
	struct ct_hang_sums all; /* of each block those of who called most in it */
	uint32_t members;
	uint64_t since;		  /* nothing is known of all of them below this */
	uint64_t issued;	  /* by all of them, below this */
	uint64_t apart, apart_to; /* the first block whose sums differ; UINT64_MAX: none */
	uint64_t site_apart, site_apart_to; /* the same, of the places that they called it from */
	uint64_t tail; /* from the block on that somebody has left off in; UINT64_MAX: none */
};

void ct_hang_order_init(struct ct_hang_order *order);

/* Hold one member against the others, and forget it (`sums` is as after fini). 0 or CT_NOMEM. */
int ct_hang_order_take(struct ct_hang_order *order, struct ct_hang_sums *sums);

/* Below this number the sums alone prove that all members called the same, as far as `since`. */
static inline uint64_t ct_hang_order_equal_to(const struct ct_hang_order *order)
{
	uint64_t to = order->apart < order->tail ? order->apart : order->tail;

	return to < order->issued ? to : order->issued;
}

#endif
