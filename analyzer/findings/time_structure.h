/* SPDX-License-Identifier: Apache-2.0 */
/* time_structure.h — what the steps of a run tell: how steadily somebody is late and why, stalls that follow a rule, and
 * when the steps became longer. docs/dev/algorithms/stalls.md. One thread. */
#ifndef CT_STEP_TIME_STRUCTURE_H
#define CT_STEP_TIME_STRUCTURE_H

#include "analyzer/findings/finding_list.h"
#include "analyzer/lateness/step_blame.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

/* What the steps below look at. */
struct ct_time_structure {
	const struct ct_model *model;
	const struct ct_tape *log;
	const struct ct_steps *steps;
	const struct ct_hits *hits;
	struct ct_findings *list;
};

/* All of the following, in order. To be called when the stragglers are in the list. 0 or CT_NOMEM. */
int ct_time_structure(const struct ct_time_structure *t);

/* PERIODIC_STALLS, ROTATING_STALLS, of who is no straggler. */
int ct_stalls_report(const struct ct_time_structure *t);

/* CHANGE_POINT, unless the stragglers explain it. */
int ct_shifts_report(const struct ct_time_structure *t);

/* ---- for those ---- */

/* Is it about who is late: a rank, several, a host, a group? */
int ct_finding_is_straggler(const struct ct_finding *f);

/* Seconds that all GPUs lose where nobody waits for anybody in particular; NAN: there are none. */
double ct_finding_all_gpus(const struct ct_time_structure *t, uint64_t loss_ns);

/* Is the seat one of the finding's ranks? */
int ct_finding_has_seat(const struct ct_model *model, const struct ct_finding *f, uint32_t seat);

/* Why it came late: sets evidence and, where it is clear, the cause; and gpu_seconds. `seats`: by seat, whose hits count,
 * `count` of them at a time; from steps with a hit of least_ns only. */
void ct_finding_explain(const struct ct_time_structure *t, struct ct_finding *f,
			const uint8_t *seats, uint32_t count, double least_ns);

#endif
