/* SPDX-License-Identifier: Apache-2.0 */
/* judgement.h — inputs of the verdict, beside the findings. */
#ifndef CT_ANALYZER_FINDINGS_JUDGEMENT_H
#define CT_ANALYZER_FINDINGS_JUDGEMENT_H

#include "analyzer/lateness/arrivals.h"
#include "analyzer/lateness/late_or_slow.h"
#include "analyzer/lateness/oversubscribed.h"
#include "analyzer/lateness/replay/judge.h"
#include "analyzer/lateness/step_blame.h"
#include "analyzer/steps/in_steps.h"

/* All pointers are borrowed. */
struct ct_judgement {
	const struct ct_model *model;
	const struct ct_arrivals *arrivals;
	const struct ct_late_or_slow *late_or_slow;
	const struct ct_oversubscribed *oversubscribed;
	const struct ct_steps *steps;
	const struct ct_step_blame *blame;
	const struct ct_replay_judgement *replay;
	const struct ct_in_steps *in_steps; /* by slot */
};

#endif
