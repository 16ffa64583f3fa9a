/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h — the calls of the members of a communicator, as sums over blocks of sequence numbers,
 * which prove that long runs are equal without storing them. One member's sums are kept while its
 * process is read, then compared with one set of sums per communicator. So memory depends on ranks
 * and communicators, not on the length of the run. One thread. */
#ifndef CT_ANALYZER_HANG_SUMS_H
#define CT_ANALYZER_HANG_SUMS_H

#include <stdint.h>

#include "analyzer/order/order_blocks.h"

#define CT_HANG_SUM_BLOCKS 512u /* size: blocks of a member; of a longer run they are wider */
#define CT_HANG_SUM_SHIFT 3u	/* size: a block is 8 operations wide at first */

/* A call of a member, `what` is a hash of it. 0 or CT_NOMEM. */
int ct_hang_sums_add(struct ct_order_blocks *sums, uint64_t seq, uint64_t what);

/* A member's calls on a communicator before its decoded tail (tails.h), as one sum; zeroed if all
 * is decoded. */
struct ct_hang_before {
	uint64_t n;    /* collectives, also decoded ones with a number below `cut` */
	uint64_t hash; /* sum of ct_op_hash_at() */
	uint64_t from; /* collectives from this number on are decoded */
	uint64_t cut;  /* calls below this number are compared as one sum; 0: none */
};

/* A collective is decoded that has a number below before->cut. */
void ct_hang_before_add(struct ct_hang_before *before, uint64_t seq, uint64_t what);

/* The members of a communicator that were compared so far. */
struct ct_hang_order {
	struct ct_order_blocks all; /* each block is that of the member that called most in it */
	uint32_t members;
	uint64_t since;		      /* below this, nothing is known of some member */
	uint64_t issued;	      /* by all members, below this */
	uint64_t differs, differs_to; /* the first block whose sums differ; UINT64_MAX: none */
	struct ct_hang_before before; /* of the first member that has one */
	int before_differs;	      /* not all members called that */
};

void ct_hang_order_init(struct ct_hang_order *order);

/* Compares one member with the others, and drops it (`sums` is as after fini). 0 or CT_NOMEM. */
int ct_hang_order_take(struct ct_hang_order *order, struct ct_order_blocks *sums);

/* Compares a member's calls before its decoded tail with the others. */
void ct_hang_order_before(struct ct_hang_order *order, const struct ct_hang_before *before);

/* The operations of a communicator, from .. to - 1, that a second reading
 * keeps. It is done if any from `least` on is not kept. */
struct ct_hang_want {
	uint64_t from, to, least;
};

#endif
