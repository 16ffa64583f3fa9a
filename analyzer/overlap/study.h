/* SPDX-License-Identifier: Apache-2.0 */
/* study.h — communication against computing, step by step: exposed time, gaps, gradient buckets,
 * pipelines; into the report, and what is to be said of it among the findings
 * (docs/dev/algorithms/overlap.md, "Gaps, buckets, bubbles"). One thread. */
#ifndef CT_ANALYZER_OVERLAP_STUDY_H
#define CT_ANALYZER_OVERLAP_STUDY_H

#include "analyzer/model/model.h"
#include "analyzer/overlap/bubbles.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/overlap/gaps.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/per_step.h"
#include "analyzer/stream/instance_log.h"

struct ct_study {
	const struct ct_model *model;
	const struct ct_instance_log *log;
	const struct ct_exposures *exposures;
	const struct ct_overlap *overlap;
	struct ct_report *report;
	struct ct_cut *cut;
	struct ct_cuts cuts;
	struct ct_cuts spans; /* of exposed time: the steps, or the whole run if there are none */
	uint32_t *step_of;    /* by instance of the log */
	uint8_t *waits_known; /* by slot: its waits are known */
	struct ct_exposed_sums exposed;
	struct ct_stream_gaps gaps;
	struct ct_bubbles bubbles;
};

/* After links and roles are in the report, whose ranks are still in order of slots. `study` has
 * model, log, exposures and report set and is zero else. cut_ns: n_steps + 1 times since the run
 * began; 0 steps: none were found. 0 or CT_NOMEM; ct_study_fini() in any case. */
int ct_overlap_study(struct ct_study *study, const uint64_t *cut_ns, uint32_t n_steps);
void ct_study_fini(struct ct_study *study);

#endif
