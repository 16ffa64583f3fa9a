/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h — sends and receives that do not match: different sizes or types, or sent and never
 * received. NCCL only, where both ends must have the same size: a receive that is too small passes
 * silently or writes past its buffer, one that is too large hangs. In MPI a receive gives the
 * buffer size. Types are compared for equal numbers of elements of equal width, if neither type
 * means bytes. The first of each pair of ranks is kept, CT_PAIRS_MAX pairs at most. One thread. */
#ifndef CT_ANALYZER_ORDER_PAIRS_H
#define CT_ANALYZER_ORDER_PAIRS_H

#include "analyzer/match/match.h"

#define CT_PAIRS_MAX 4096u /* size: pairs of ranks */

struct ct_pair {
	struct ct_comm *comm;
	int32_t src, dst;   /* ranks in it */
	uint64_t instances; /* whose ends have different sizes ... */
	uint64_t seq;	    /* ... and the first of them */
	struct ct_member send, recv;
	uint64_t unmatched;	/* sends that completed without a receive ... */
	uint64_t unmatched_seq; /* ... and the first of them */
	struct ct_member unmatched_send;
	uint64_t awaited;     /* receives that did not complete, without a send ... */
	uint64_t awaited_seq; /* ... and the first of them */
	struct ct_pair *next;
};

struct ct_pairs {
	struct ct_pair *first, **end; /* in order of sight */
	struct ct_table by_ends;
	struct ct_arena *memory; /* borrowed */
	uint64_t left_out;	 /* pairs beyond the most */
	int all_read;
};

void ct_pairs_init(struct ct_pairs *pairs, struct ct_arena *memory);
void ct_pairs_fini(struct ct_pairs *pairs);

/* Everything was read: incomplete messages have no other end. */
void ct_pairs_ended(struct ct_pairs *pairs);

/* A message was handed out. 0 or CT_NOMEM. */
int ct_pairs_note(struct ct_pairs *pairs, const struct ct_instance *instance, int complete);

#endif
