/* SPDX-License-Identifier: Apache-2.0 */
/* order_hash.h — the calls of each member of a communicator, as hashes over blocks of sequence
 * numbers.
 *
 * Each member has blocks of its own (order_blocks.h), which are brought to one width when they are
 * compared. They show that members agree even where their operations could not be compared one by
 * one (match.h releases what waits for too long), and in which block they differ. One thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_HASH_H
#define CT_ANALYZER_ORDER_ORDER_HASH_H

#include <stdint.h>

#include "analyzer/order/order_blocks.h"

#define CT_ORDER_BLOCKS 16u /* size: blocks of a member; of a longer run they are wider */

struct ct_order_hash {
	struct ct_order_blocks **rows; /* by member, NULL: no calls of it; NULL: nothing was added */
	uint32_t nranks;
};

/* A member called what `what` is a hash of. vague: members may call it differently by right, or not
 * all is known of it. 0 or CT_NOMEM. */
int ct_order_hash_add(struct ct_order_hash *hash, uint32_t nranks, uint32_t member, uint64_t seq,
		      uint64_t what, int vague);
void ct_order_hash_fini(struct ct_order_hash *hash);

/* The result of comparing the blocks of all members. */
struct ct_order_sums {
	uint64_t equal_after; /* all members made the same calls below this; 0: unknown */
	/* The first block in which all called equally many operations, but not the same: [from,
	 * to). 0, 0: none. */
	uint64_t differ_from, differ_to;
	uint64_t digest;	 /* of all calls; meaningful if is_equal_throughout */
	int is_equal_throughout; /* all members made the same calls from first to last */
};
void ct_order_hash_compare(const struct ct_order_hash *hash, struct ct_order_sums *sums);

#endif
