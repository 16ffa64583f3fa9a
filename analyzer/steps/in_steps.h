/* SPDX-License-Identifier: Apache-2.0 */
/* in_steps.h — which part of what a rank did lies in the steps. Sums of the whole run are taken
 * while it is read, before the steps are known; the instance log shows how they spread over time.
 * One thread. */
#ifndef CT_ANALYZER_STEPS_IN_STEPS_H
#define CT_ANALYZER_STEPS_IN_STEPS_H

#include "analyzer/model/step_time.h"
#include "analyzer/steps/steps.h"
#include "analyzer/stream/instance_log.h"

/* Fractions of a rank's sums of the run. Of what is not in the log, as of time: a rank that does
 * the same all the time. */
struct ct_in_steps {
	double comm;	      /* in operations; each moment once */
	double wait;	      /* waiting for others in them; each moment once */
	double late;	      /* what others waited for it alone */
	uint64_t left_out_ns; /* of the steps, without timed launches (left_out.h) */
};

/* The denominator of the report. */
struct ct_step_time ct_step_time_of(const struct ct_steps *steps, const struct ct_model *model);

/* By slot, n_slots of them; to be freed. NULL: out of memory. The log is closed. */
struct ct_in_steps *ct_in_steps_find(const struct ct_instance_log *log,
				     const struct ct_step_time *time, const struct ct_model *model);

#endif
