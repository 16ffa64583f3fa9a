/* SPDX-License-Identifier: Apache-2.0 */
/* carryover.h — lateness that is no news: where nobody's computing waits for an operation to end, who was late to it is late
 * to the next one too, by the same time.
 *
 * Told by what the others do after the last one kept them waiting for longer than it usually does: where computing
 * waits for the end of an operation, the gap up to their next one stays as it is; where it does not, that gap is shorter
 * by as much. The slope of the one over the other, rank by rank, its median, from 1/4 to 3/4, is the share of the
 * earlier lateness that is taken off the later. Looked at are operations of a communicator one after the other,
 * without any of another one in between, by the classes of both. Who came last or last but one tells nothing: its own
 * pace is in both. So of two ranks nothing is known, and nothing is taken off. One thread; memory by communicators,
 * pairs of classes and their ranks. */
#ifndef CT_CARRY_H
#define CT_CARRY_H

#include "analyzer/match/waits.h"

struct ct_carry_comm;
struct ct_carry_pair;

struct ct_carries {
	struct ct_carry_comm *comms;
	uint32_t n_comms;
	struct ct_table pairs; /* (class, class of the operation before) */
	struct ct_carry_pair *first;
};

/* Take in a judged collective of a class. 0 or CT_NOMEM. */
int ct_carry_add(struct ct_carries *carries, const struct ct_instance *instance,
		 const struct ct_waits *waits, uint32_t class);

/* In the collective taken in last, rank `last` of the communicator was last by `late_ns`. Returns by how much if what it
 * brought along is taken off. */
uint64_t ct_carry_take(struct ct_carries *carries, const struct ct_instance *instance,
		       uint32_t last, uint64_t late_ns);

void ct_carries_fini(struct ct_carries *carries);

#endif
