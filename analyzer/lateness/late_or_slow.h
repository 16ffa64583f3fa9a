/* SPDX-License-Identifier: Apache-2.0 */
/* late_or_slow.h — what it costs that operations came late or transferred slowly, where nobody knows which and so nobody is
 * charged with it: as far as they took longer than usual, each moment of the run once. One thread. */
#ifndef CT_BLAME_LATE_OR_SLOW_H
#define CT_BLAME_LATE_OR_SLOW_H

#include "analyzer/match/waits.h"
#include "analyzer/model/model.h"

struct ct_late_or_slow {
	uint64_t slow_transfers; /* instances whose last one took long itself: not held against it */
	uint64_t n;		 /* of them, those that took longer than other sizes can tell ... */
	struct ct_union spans;	 /* ... and what they took longer than usual, since the run began */
};

/* An instance of the class, of so many bytes, whose last member took long itself. Sizes in a class may differ by a factor of
 * two, and so may what is usual then. 0 or CT_NOMEM. */
int ct_late_or_slow_add(struct ct_late_or_slow *late, const struct ct_model *model,
			struct ct_class *class, const struct ct_instance *instance,
			const struct ct_waits *waits, uint64_t bytes);

/* An instance of an operation that hands a root's data out, with waits: a member who has it several times as long as the others
 * (their median) held its own stream up, waiting for room on its GPU or for its link. 0 or CT_NOMEM. */
int ct_late_or_slow_rooted(struct ct_late_or_slow *late, const struct ct_model *model,
			   const struct ct_instance *instance, struct ct_waits *waits);

#endif
