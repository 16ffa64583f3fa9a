/* SPDX-License-Identifier: Apache-2.0 */
/* step_log.h — the first rank's evidence on steps: its operations, and the NVTX ranges of its
 * process. Filled while a stream reads. One thread. */
#ifndef CT_ANALYZER_STEPS_STEP_LOG_H
#define CT_ANALYZER_STEPS_STEP_LOG_H

#include "analyzer/steps/markers.h"
#include "analyzer/steps/sequence.h"
#include "analyzer/stream/stream.h"

struct ct_step_log {
	struct ct_sequence sequence;
	struct ct_markers markers;
};

/* A zeroed log takes in all that a stream reads. */
void ct_step_log_observe(struct ct_step_log *log, struct ct_observer *observer);
void ct_step_log_fini(struct ct_step_log *log);

#endif
