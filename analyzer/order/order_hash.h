/* SPDX-License-Identifier: Apache-2.0 */
/* order_hash.h — what each member of a communicator called, as hashes over blocks of sequence numbers.
 *
 * Each member has blocks of its own (order_blocks.h), which are made equally wide when they are compared. It tells that members
 * agree also where they could not be held against each other operation by operation (match.h releases what waits for too long), and
 * in which block they do not. One thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_HASH_H
#define CT_ANALYZER_ORDER_ORDER_HASH_H

#include <stdint.h>

#include "analyzer/order/order_blocks.h"

#define CT_ORDER_BLOCKS 16u /* size: blocks of a member; of a longer run they are wider */

struct ct_order_hash {
	struct ct_order_blocks **rows; /* by member, NULL: nothing of it; NULL: nothing was added */
	uint32_t nranks;
};

/* A member called what `what` is a hash of. vague: members may call it differently by right, or not all is known of it.
 * 0 or CT_NOMEM. */
int ct_order_hash_add(struct ct_order_hash *hash, uint32_t nranks, uint32_t member, uint64_t seq,
		      uint64_t what, int vague);
void ct_order_hash_fini(struct ct_order_hash *hash);

/* What the blocks say of all members. */
struct ct_order_sums {
	uint64_t equal_after; /* all members called the same below this; 0: nobody knows */
	/* The first block in which all called equally many operations, but not the same: [from, to). 0, 0: none. */
	uint64_t differ_from, differ_to;
	uint64_t digest; /* of all that they called; meaningful if is_whole */
	int is_whole;	 /* all members called the same from first to last */
};
void ct_order_hash_compare(const struct ct_order_hash *hash, struct ct_order_sums *sums);

#endif
