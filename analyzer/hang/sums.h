/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h — the calls of the members of a communicator, as sums over blocks of sequence numbers, which prove that long runs are
 * equal without storing them. One member's sums are kept while its process is read, and then compared with those of the earlier
 * members, one set per communicator. So memory depends on ranks and communicators, not on the length of the run. One thread. */
#ifndef CT_ANALYZER_HANG_SUMS_H
#define CT_ANALYZER_HANG_SUMS_H

#include <stdint.h>

#include "analyzer/order/order_blocks.h"

#define CT_HANG_SUM_BLOCKS 512u
#define CT_HANG_SUM_SHIFT 3u /* a block is 8 operations wide at first */

/* A call of a member: `what` and `site` are hashes of it and of its call site. sums->most is the number of blocks, 0:
 * CT_HANG_SUM_BLOCKS. 0 or CT_NOMEM. */
int ct_hang_sums_add(struct ct_order_blocks *sums, uint64_t seq, uint64_t what, uint64_t site);

/* Its size is unknown: it proves nothing. */
void ct_hang_sums_unknown(struct ct_order_blocks *sums, uint64_t seq);

/* A member's calls on a communicator before its decoded tail (tails.h), as one sum; zeroed if all is decoded. */
struct ct_hang_before {
	uint64_t n;    /* collectives, also decoded ones with a number below `cut` */
	uint64_t hash; /* sum of ct_op_hash_at() */
	uint64_t from; /* what has this number or a higher one is decoded */
	uint64_t cut; /* what members called below this number is compared as one sum; 0: nothing */
};

/* A collective is decoded that has a number below before->cut. */
void ct_hang_before_add(struct ct_hang_before *before, uint64_t seq, uint64_t what);

/* All members of a communicator so far. */
struct ct_hang_order {
	struct ct_order_blocks all; /* of each block those of who called most in it */
	uint32_t members;
	uint64_t since;		  /* nothing is known of all of them below this */
	uint64_t issued;	  /* by all of them, below this */
	uint64_t apart, apart_to; /* the first block whose sums differ; UINT64_MAX: none */
	uint64_t site_apart, site_apart_to; /* the same, of the places that they called it from */
	uint64_t tail;	  /* from the block on that somebody has left off in; UINT64_MAX: none */
	uint64_t unknown; /* the first of which some member does not tell the size; UINT64_MAX: none */
	struct ct_hang_before before; /* of the first member that tells */
	int before_differs;	      /* not all members called that */
};

void ct_hang_order_init(struct ct_hang_order *order);

/* Compares one member with the others, and drops it (`sums` is as after fini). 0 or CT_NOMEM. */
int ct_hang_order_take(struct ct_hang_order *order, struct ct_order_blocks *sums);

/* Compares a member's calls before its decoded tail with the others. */
void ct_hang_order_before(struct ct_hang_order *order, const struct ct_hang_before *before);

/* Operations of a communicator, or messages of a channel, that a second reading keeps: from .. to - 1; it takes place if any from
 * `least` on is not kept. */
struct ct_hang_want {
	uint64_t from, to, least;
};

/* Below this number the sums alone prove that all members called the same, as far as `since`. */
static inline uint64_t ct_hang_order_equal_to(const struct ct_hang_order *order)
{
	uint64_t to = order->apart < order->tail ? order->apart : order->tail;

	to = to < order->unknown ? to : order->unknown;
	return to < order->issued ? to : order->issued;
}

#endif
