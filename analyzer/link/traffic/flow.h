/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h — what members of a communicator send to the others, by collectives without counted
 * transfers: sums while operations are read, pairs of members at the end. So the work of an
 * operation does not depend on the communicator's size.
 *
 * Every number is the sender's account (of shares that differ, the receiver's), from its own calls.
 * Formulas: docs/dev/algorithms/traffic.md. Pure functions; one thread. */
#ifndef CT_ANALYZER_LINK_TRAFFIC_FLOW_H
#define CT_ANALYZER_LINK_TRAFFIC_FLOW_H

#include "analyzer/model/report_traffic.h"

/* Bytes, and operations that moved them. */
struct ct_flow_sum {
	uint64_t bytes, n;
};

/* How the bytes of one member spread over the others; n members. */
enum ct_flow_shape {
	CT_FLOW_NEXT,	    /* so many to the next member */
	CT_FLOW_EACH,	    /* so many to each other member, by a model ... */
	CT_FLOW_EACH_EXACT, /* ... and because the operation says so */
	CT_FLOW_EVENLY, /* so many to all members including itself; the distribution is unknown */
	CT_FLOW_ALL_REDUCED,
	CT_FLOW_GATHERED,  /* its share of what all get, where shares differ */
	CT_FLOW_SCATTERED, /* its share of what was reduced, where shares differ */
	CT_FLOW_SHAPES
};

struct ct_flow {
	struct ct_flow_sum sums[CT_FLOW_SHAPES];
};

/* One call, from its record, made `times` times. */
struct ct_flow_op {
	unsigned op;
	int32_t root;	/* or peer; -1 none */
	uint64_t bytes; /* of the call: count x element */
	uint64_t times;
	int varying;	    /* counts differ from member to member */
	int splits_unknown; /* of an all-to-all: whether each peer gets as much is not on record */
};

/* Bytes between two members. */
struct ct_flow_pair {
	uint32_t from, to;
};

/* What ct_flow_take() found. */
enum ct_flow_taken {
	CT_FLOW_TAKEN,	 /* in the sums, or moves nothing */
	CT_FLOW_IS_PAIR, /* goes between two members, *pair */
	CT_FLOW_UNKNOWN	 /* between which members is unknown */
};

/* Add the call of member `me` of n >= 2 to its sums. */
enum ct_flow_taken ct_flow_take(struct ct_flow *flow, uint32_t n, uint32_t me,
				const struct ct_flow_op *op, struct ct_flow_pair *pair);

/* Nonzero stops. `exact`: no model in it. */
typedef int (*ct_flow_fn)(void *arg, uint32_t from, uint32_t to, struct ct_flow_sum sum, int exact);

/* All pairs of members, some more than once, never one with itself. flows[m] of member m, NULL: has
 * none. Numbers that are larger than INT64_MAX become that. 0 or what `each` returned. */
int ct_flows_lay(const struct ct_flow *const *flows, uint32_t n, ct_flow_fn each, void *arg);

/* A number that stays what it is, or becomes INT64_MAX: more fits neither JSON nor a sum. */
uint64_t ct_flow_plus(uint64_t a, uint64_t b);
uint64_t ct_flow_times(uint64_t a, uint64_t b);

#endif
