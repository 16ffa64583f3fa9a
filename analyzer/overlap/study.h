/* SPDX-License-Identifier: Apache-2.0 */
/* study.h — communication against computing, cycle by cycle: exposed time, gaps, gradient buckets, pipelines; into the
 * report, and what is to be said of it among the findings (docs/ANALYSIS.md, "Gaps, buckets, bubbles"). One thread. */
#ifndef CT_OVERLAP_STUDY_H
#define CT_OVERLAP_STUDY_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/overlap/bubbles.h"
#include "analyzer/overlap/gaps.h"
#include "analyzer/overlap/per_cycle.h"
#include "analyzer/stream/stream.h"

struct ct_study {
	const struct ct_pass *pass;
	struct ct_report *report;
	struct ct_cut *cut;
	struct ct_cuts cuts;
	struct ct_cuts spans; /* of exposed time: the cycles, or the whole run if there are none */
	uint32_t *cycle_of;   /* by instance of the tape */
	uint8_t *told;	      /* by seat: it is known when it stood waiting */
	struct ct_exposed_sums exposed;
	struct ct_stream_gaps gaps;
	struct ct_bubbles bubbles;
};

/* After links and roles are in the report, whose ranks are still in order of seats. cut_ns: n_cycles + 1 times since the
 * run began; 0 cycles: none were found. 0 or CT_NOMEM. */
int ct_overlap_study(const struct ct_pass *pass, const uint64_t *cut_ns, uint32_t n_cycles,
		     struct ct_report *report, struct ct_findings *findings);

/* study_find.c: what exceeds its threshold. 0 or CT_NOMEM. */
int ct_study_find(const struct ct_study *study, struct ct_findings *findings);

/* study_buckets.c: gradient buckets of a size that costs. 0 or CT_NOMEM. */
int ct_study_buckets(const struct ct_study *study, struct ct_findings *findings);

#endif
