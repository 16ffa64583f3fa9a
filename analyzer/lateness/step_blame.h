/* SPDX-License-Identifier: Apache-2.0 */
/* step_blame.h — the step in which the others waited for a rank alone, and why it was late. From
 * the instance log: in a synchronizing operation, or one with a root that all need, the last to
 * arrive is the one with the shortest wait. It is charged with the additional wait of the one
 * before it, at most its excess of time without communication over all others. Overlapping
 * intervals on its own clock count once. An operation that did not delay the rank (a Broadcast
 * whose data was ready) does not end its own time. One thread. */
#ifndef CT_ANALYZER_LATENESS_STEP_BLAME_H
#define CT_ANALYZER_LATENESS_STEP_BLAME_H

#include "analyzer/model/model.h"
#include "analyzer/steps/steps.h"
#include "analyzer/stream/instance_log.h"

/* The time that one rank is charged with in one step. */
struct ct_step_charge {
	uint32_t step, slot;
	float charged_ns, err_ns;
	/* On a GPU, of what is charged for the first operation of the step that it was much late
	 * for, since it may have brought that along to others: its host had not made the calls yet
	 * when the stream was free; they were there, and the stream came to them late. Both 0 where
	 * the host times. */
	float host_ns, stream_ns;
	uint64_t at_ns; /* of that operation */
};

struct ct_step_blame {
	struct ct_step_charge *all; /* by step, then by slot; one each */
	uint32_t n;
	struct ct_step_charge *outside; /* before the first step (step 0) and behind the last (step
					   n_steps); one each */
	uint32_t n_outside;
	const uint8_t *kept; /* of the steps */
	uint64_t *wait_ns;   /* by step: what all ranks waited; those that are kept */
	uint64_t *comm_ns;   /* by step: what the reference was inside operations; likewise */
	uint64_t *held_ns;   /* by slot: by how much it came last because its own earlier
				communication had held it up */
	uint32_t n_steps, n_kept;
};

/* 0 or CT_NOMEM. Classes of operations are looked up in the model. in_set: NULL, or by slot a set
 * that is late together, of which each hides the others: then only what the rest waited for its
 * last one is charged, to that rank. */
int ct_step_blame_collect(const struct ct_model *model, const struct ct_instance_log *log,
			  const struct ct_steps *steps, const uint8_t *in_set,
			  struct ct_step_blame *blame);
void ct_step_blame_fini(struct ct_step_blame *blame);

/* What part of the run's steps the log has: sums over it divided by that are the run's. */
double ct_step_blame_share(const struct ct_step_blame *blame);

/* Steps and what the ranks did in them, into the report. 0 or CT_NOMEM. */
int ct_steps_fill(const struct ct_model *model, const struct ct_steps *steps,
		  const struct ct_step_blame *blame, struct ct_report *report);

#endif
