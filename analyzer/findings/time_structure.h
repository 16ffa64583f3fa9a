/* SPDX-License-Identifier: Apache-2.0 */
/* time_structure.h — patterns over the steps of a run: how steadily ranks are late and why, stalls
 * that follow a rule, and change points. docs/dev/algorithms/stalls.md. One thread. */
#ifndef CT_ANALYZER_FINDINGS_TIME_STRUCTURE_H
#define CT_ANALYZER_FINDINGS_TIME_STRUCTURE_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/step_blame.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

/* Input of the functions below. */
struct ct_time_structure {
	const struct ct_model *model;
	const struct ct_instance_log *log;
	const struct ct_steps *steps;
	const struct ct_step_blame *blame;
	struct ct_findings *list;
};

/* All of the following, in this order, after the stragglers are in the list. 0 or CT_NOMEM. */
int ct_time_structure(const struct ct_time_structure *t);

/* PERIODIC_STALLS and ROTATING_STALLS of ranks that are not stragglers. */
int ct_stalls_report(const struct ct_time_structure *t);

/* CHANGE_POINT, unless the stragglers explain it. */
int ct_shifts_report(const struct ct_time_structure *t);

/* ---- for those ---- */

/* Is it about late ranks: one, several, a host, a group? */
int ct_finding_is_straggler(const struct ct_finding *f);

/* GPU seconds lost on all GPUs, for waits without a particular rank; NAN: no GPUs. */
double ct_finding_all_gpus(const struct ct_time_structure *t, uint64_t time_lost_ns);

/* Is the slot one of the finding's ranks? */
int ct_finding_has_slot(const struct ct_model *model, const struct ct_finding *f, uint32_t slot);

/* Sets evidence, gpu_seconds and, if it is clear, the cause of lateness. `slots`: by slot, whose
 * charges count, `count` of them at a time; only from steps with a charge of least_ns. */
void ct_finding_explain(const struct ct_time_structure *t, struct ct_finding *f,
			const uint8_t *slots, uint32_t count, double least_ns);

#endif
