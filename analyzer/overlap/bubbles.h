/* SPDX-License-Identifier: Apache-2.0 */
/* bubbles.h — how long the stages of a pipeline wait for one another, compared with the unavoidable
 * bubble of its schedule.
 *
 * Bubble of a stage = the time that it was blocked in receives whose sender was late, each moment
 * once. If waits are recorded, only while compute was blocked; else it is an upper bound. With P
 * stages and m messages from a stage to the next in a step (micro-batches; with interleaved stages
 * micro-batches times chunks), one forward, one backward leaves (P - 1) / (m + P - 1) of a step
 * idle (Narayanan et al. 2021, arXiv 2104.04473, section 2.2). Pure functions.
 */
#ifndef CT_ANALYZER_OVERLAP_BUBBLES_H
#define CT_ANALYZER_OVERLAP_BUBBLES_H

#include "analyzer/overlap/cuts.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"

struct ct_bubble {
	const struct ct_comm *comm;
	uint32_t stage, stages; /* index in the communicator, its size */
	uint32_t slot;
	double per_step;    /* messages from a stage to the next; NAN: not the same everywhere */
	double ideal_ratio; /* NAN: unknown */
	uint64_t steps;	    /* in which the stage received ... */
	uint64_t step_ns;   /* ... and their time */
	uint64_t receives, unknown; /* of which it is not known how long they waited */
	uint64_t bubble_ns, err_ns;
	int at_most; /* how much of it computing hid is not known */
};

struct ct_bubbles {
	struct ct_bubble *all; /* by communicator and stage */
	uint32_t n;
};

/* Of the communicators that are pipelines (`is_pipeline` by index). `waits_known` by slot: its
 * waits are known. step_of: ct_cuts_of_log(). 0 or CT_NOMEM; ct_bubbles_fini() in any case. */
int ct_bubbles_find(const struct ct_instance_log *log, const struct ct_exposures *stalls,
		    const struct ct_cuts *cuts, const uint32_t *step_of, const uint8_t *waits_known,
		    const uint8_t *is_pipeline, uint32_t n_comms, struct ct_bubbles *bubbles);
void ct_bubbles_fini(struct ct_bubbles *bubbles);

#endif
