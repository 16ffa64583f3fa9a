/* SPDX-License-Identifier: Apache-2.0 */
/* mismatch.h — ranks that made different calls as the same operation: the first such instance of
 * each communicator, completed or not. Differences that v-collectives and message ends may have are
 * no mismatch. One thread. */
#ifndef CT_ANALYZER_ORDER_MISMATCH_H
#define CT_ANALYZER_ORDER_MISMATCH_H

#include "analyzer/match/match.h"
#include "analyzer/order/order_call.h"

#define CT_MISMATCH_RANKS 64u /* size: named in one finding */

/* The first of a communicator, and how many followed. */
struct ct_mismatch {
	struct ct_comm *comm;
	uint64_t seq, instances;
	enum ct_mismatch_field field;
	struct ct_member usual; /* of the majority, or the first member if there is none */
	struct ct_member odd;	/* the first that differs from it */
	int majority;		/* more than half of the members seen agree */
	uint32_t n_members;
	uint32_t n_odd;
	uint32_t slots[CT_MISMATCH_RANKS]; /* of the odd ones; without a majority of all members */
	uint32_t n_slots;
	struct ct_mismatch *next;
};

struct ct_mismatches {
	struct ct_mismatch *first; /* in order of sight */
	struct ct_mismatch **end;
	struct ct_table by_comm;
	struct ct_arena *memory; /* borrowed */
};

void ct_mismatches_init(struct ct_mismatches *all, struct ct_arena *memory);
void ct_mismatches_fini(struct ct_mismatches *all);

/* The field in which `a` and `b`, members of one collective, contradict each other. */
enum ct_mismatch_field ct_mismatch_between(const struct ct_member *a, const struct ct_member *b);

/* Compares the members of an instance; *usual gets one of the majority (or the first). Returns 1 if
 * they contradict each other, 0 if not, or CT_NOMEM. */
int ct_mismatch_check(struct ct_mismatches *all, const struct ct_instance *instance,
		      const struct ct_member **usual);

#endif
