/* SPDX-License-Identifier: Apache-2.0 */
/* per_step.h — exposed communication step by step, and what of it was waiting for others.
 *
 * exposed = length of the union of a rank's stalls within the step. Of a stall at an operation that
 * its rank reached at s and in which it waited w for others, what lies in [s, s + w) is exposed
 * wait, the rest exposed transfer; where w is not known neither is. A step is known on a rank if
 * stalls of it are kept and at most a tenth of its communication has unknown waiters. Pure
 * functions. */
#ifndef CT_ANALYZER_OVERLAP_PER_STEP_H
#define CT_ANALYZER_OVERLAP_PER_STEP_H

#include "analyzer/overlap/cuts.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"

/* Sums of one rank over the steps that are known on it. */
struct ct_exposed_rank {
	uint64_t steps;
	uint64_t step_ns;   /* their time */
	uint64_t comm_ns;   /* union of its spans in them ... */
	uint64_t waited_ns; /* ... and of what it is known to have waited for others in those */
	uint64_t exposed_ns, err_ns;
	uint64_t wait_ns, transfer_ns; /* the two parts of it, as far as ... */
	uint64_t unclear_ns;	       /* ... it is known which */
};

struct ct_exposed_step {
	uint64_t exposed_ns; /* of the rank that has most; UINT64_MAX: not known for all */
	uint64_t wait_ns; /* mean over ranks of the union of their waits; UINT64_MAX: not known for
			     all */
};

/* The part of one communicator, over all ranks and their known steps. */
struct ct_exposed_comm {
	uint64_t exposed_ns; /* each moment once on a rank and communicator */
	uint64_t wait_ns, transfer_ns, unclear_ns, err_ns;
};

struct ct_exposed_sums {
	struct ct_exposed_rank *ranks; /* by slot */
	struct ct_exposed_step *steps; /* by step */
	struct ct_exposed_comm *comms; /* by index of the communicator */
};

/* `waits_known[slot]`: are that rank's waits known at all? 0 or CT_NOMEM; ct_exposed_fini() in any
 * case. */
int ct_exposed_sum(const struct ct_instance_log *log, const struct ct_exposures *stalls,
		   const struct ct_cuts *cuts, const uint8_t *waits_known, uint32_t n_comms,
		   struct ct_exposed_sums *sums);
void ct_exposed_fini(struct ct_exposed_sums *sums);

#endif
