/* SPDX-License-Identifier: Apache-2.0 */
/* op_classes.h — sums and percentiles by class of operation: (communicator, operation, element
 * type, power of two of the bytes). Memory follows the number of classes that occur, not the length
 * of the run. One thread. */
#ifndef CT_ANALYZER_MODEL_OP_CLASSES_H
#define CT_ANALYZER_MODEL_OP_CLASSES_H

#include "analyzer/base/hist.h"
#include "analyzer/model/comms.h"

/* Ops that share a launch have one span, so they are one row: what one group end put on one stream.
 */
enum ct_grouped { CT_ALONE, CT_GROUPED_COLLECTIVES, CT_GROUPED_MESSAGES };

/* 0, or the 2^k with 2^k <= bytes < 2^(k+1); UINT64_MAX, not known, is one of its own. */
static inline uint64_t ct_size_range(uint64_t bytes)
{
	if (!bytes || bytes == UINT64_MAX)
		return bytes;
	return 1ull << (63 - __builtin_clzll(bytes));
}

const char *ct_grouped_name(
	enum ct_grouped grouped); /* as the outside contract spells it; NULL: alone */

struct ct_class {
	struct ct_comm *comm;
	uint32_t index;	    /* in order of first sight */
	unsigned op, dtype; /* 0: those of the group differ */
	enum ct_grouped grouped;
	uint64_t size_range; /* see ct_size_range() */
	uint64_t instances, bytes;
	uint64_t judged; /* instances of which wait_ns holds the waits */
	uint64_t wait_ns;
	uint64_t slow_transfers; /* their last one took long itself: came late or transferred slowly
				  */
	uint64_t time_err_ns;	 /* largest error of one span */
	struct ct_hist span, transfer, algbw;
	uint32_t *last_count; /* by rank in the communicator; NULL while no rank was clearly last */
	uint64_t *last_cost_ns;
	struct ct_class *same_key;
	/* Of the transfers, as they were when there were `usual_n` of them. */
	uint64_t usual_n, usual_p25_ns, usual_p50_ns;
};

struct ct_classes {
	struct ct_table by_key;
	struct ct_class **all;
	uint32_t n, cap;
	struct ct_arena *memory;
};

int ct_classes_init(struct ct_classes *classes); /* 0 or CT_NOMEM */
void ct_classes_fini(struct ct_classes *classes);

/* The row of such operations; NULL: there are none. */
struct ct_class *ct_classes_find(const struct ct_classes *classes, const struct ct_comm *comm,
				 enum ct_grouped grouped, unsigned op, unsigned dtype,
				 uint64_t bytes);

/* The class of an operation, or of a group of them, that moves `bytes` in all; made if it is new.
 * NULL: out of memory. */
struct ct_class *ct_classes_get(struct ct_classes *classes, struct ct_comm *comm,
				enum ct_grouped grouped, unsigned op, unsigned dtype,
				uint64_t bytes);

/* A transfer that took clearly longer than is usual in its class: above the 25th percentile by more
 * than `err_ns` and four times its distance to the median. With few transfers, none is unusual. */
int ct_class_is_slow(struct ct_class *class, uint64_t transfer_ns, uint64_t err_ns);

/* The rank was clear last in one instance and the others waited `cost_ns` for it alone. 0 or
 * CT_NOMEM. */
int ct_class_last(struct ct_class *class, uint32_t rank, uint64_t cost_ns);

/* The class in which waiting for the slot alone cost most; *cost_ns what it cost. NULL, and 0:
 * there is none. */
const struct ct_class *ct_classes_costliest(const struct ct_classes *classes, uint32_t slot,
					    uint64_t *cost_ns);

#endif
