/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.h — what recording cost the job, as each process counted it: time in wrappers, processor
 * time of the tracer's threads, bytes written, how and how much was timed. */
#ifndef CT_ANALYZER_OVERHEAD_OVERHEAD_H
#define CT_ANALYZER_OVERHEAD_OVERHEAD_H

#include "analyzer/model/model.h"

/* report->overhead and its sums; after the processes. All memory is the report's. 0 or CT_NOMEM. */
int ct_overhead_fill(const struct ct_model *model, struct ct_report *report);

#endif
