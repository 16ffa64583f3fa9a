/* SPDX-License-Identifier: Apache-2.0 */
/* step_gaps.h — step by step, how long a rank was in no communication: what it computed, and
 * whatever else was its own; how long it waited for others, and they for it alone.
 *
 * Waits for others are inside operations, so the slow rank has the longest gaps, and the waiting
 * ranks do not. Two gaps of one rank and step never overlap. If a GPU's times are known, a gap is
 * between the spans of operations. In host timing it is the time that the rank was not blocked in a
 * call for one. docs/dev/algorithms/charts.md, "Heatmaps". Pure; one thread. */
#ifndef CT_ANALYZER_CHARTS_STEP_GAPS_H
#define CT_ANALYZER_CHARTS_STEP_GAPS_H

#include "analyzer/model/model.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/steps/steps.h"
#include "analyzer/stream/instance_log.h"

/* One rank in one step. */
struct ct_heat_gap {
	uint64_t outside_comm_ns; /* CT_UNKNOWN: not known */
	uint64_t err_ns;
	uint64_t busy_ns;    /* in communication */
	uint64_t unclear_ns; /* of that, perhaps not */
	uint64_t wait_ns;    /* for others, inside operations; CT_UNKNOWN */
	uint64_t late_ns;    /* for which the others waited for it alone, right before it came;
				CT_UNKNOWN */
	uint64_t wait_err_ns, late_err_ns;
	uint64_t waits; /* operations that began in it whose wait is known */
};

/* gaps[steps->n] of a slot, from the log or from the exposures of the closed pass. */
void ct_heat_gaps(const struct ct_model *model, const struct ct_exposures *exposures,
		  const struct ct_instance_log *log, const struct ct_steps *steps, uint32_t slot,
		  struct ct_heat_gap *gaps);

/* report->heat.steps. 0 or CT_NOMEM. */
int ct_heat_fill_steps(const struct ct_model *model, const struct ct_exposures *exposures,
		       const struct ct_instance_log *log, const struct ct_steps *steps,
		       struct ct_report *report);

#endif
