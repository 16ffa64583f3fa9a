/* SPDX-License-Identifier: Apache-2.0 */
/* order_totals.h — the calls of this process so far, as one sum for each communicator. COMM_STATUS
 * records have it, so that a reader can compare ranks without decoding all calls (op_hash.h).
 *
 * The writer of the segments fills it from their blocks: calls have no cost for it. Memory depends
 * on the live communicators. One thread. */
#ifndef CT_TRACE_ORDER_TOTALS_H
#define CT_TRACE_ORDER_TOTALS_H

#include "trace/block.h"

/* The sum of one communicator. Graph captures, messages and one-sided operations are not in it. */
struct ct_order_total {
	uint32_t comm; /* its id; 0: free */
	uint64_t n;    /* collectives */
	uint64_t end;  /* highest sequence number of them + 1 */
	uint64_t hash; /* sum of ct_op_hash_at() */
};

/* size: a program makes few different calls, and again and again. */
#define CT_ORDER_CALLS_KNOWN 16u

/* A zeroed struct is an empty one. */
struct ct_order_totals {
	struct ct_order_total *all; /* a hash table by communicator */
	uint32_t n, cap;	    /* cap: a power of two, or 0 */
	struct {
		uint16_t id;
		uint8_t varying;
	} calls[CT_ORDER_CALLS_KNOWN];
	int is_broken; /* memory ran out: nothing is known any more */
};

/* The name of a call by its string id, NULL unknown. */
typedef const char *(*ct_call_name_fn)(void *arg, uint32_t id);

/* Add the operations of a block. */
void ct_order_totals_add(struct ct_order_totals *totals, const struct ct_block *block,
			 ct_call_name_fn name_fn, void *arg);

/* What a COMM_STATUS record has for a communicator: its fields `called`, `order_end` and
 * `order_hash`. */
void ct_order_totals_report(const struct ct_order_totals *totals, struct ct_comm_status_rec *rec);

/* The communicator has ended: its id never comes again. */
void ct_order_totals_drop(struct ct_order_totals *totals, uint32_t comm);

void ct_order_totals_fini(struct ct_order_totals *totals);

#endif
