/* SPDX-License-Identifier: Apache-2.0 */
/* fill.h — from the model to the tables of a report that need no analysis. All memory is the
 * report's. Each returns 0 or CT_NOMEM. */
#ifndef CT_ANALYZER_REPORT_FILL_H
#define CT_ANALYZER_REPORT_FILL_H

#include "analyzer/model/model.h"
#include "analyzer/order/order_book.h"
#include "analyzer/steps/in_steps.h"

/* Is the process one of the start that is reported? */
static inline int ct_fill_has(const struct ct_model *model, size_t process)
{
	return model->starts->processes[process].restart == model->restart;
}

/* What the trace itself is like: processes, dropped records, cost, operations in flight, what could
 * not be seen. First: the other looks at the dropped records. */
int ct_fill_trace(const struct ct_model *model, struct ct_report *report);

/* Which processes did not end well, and in which order: a part of the former, after its processes. */
int ct_fill_ended(const struct ct_model *model, struct ct_report *report);

/* What had not returned or ended; a part of the former, after its processes. */
int ct_fill_in_flight(const struct ct_model *model, struct ct_report *report);

/* What the job did: run, ranks, communicators, classes of operations. */
int ct_fill_job(const struct ct_model *model, const struct ct_order_book *book,
		struct ct_report *report);

/* Percentages of step time of each rank, and of the busiest; after it, and before ranks are sorted.
 * in_steps: by slot. */
void ct_fill_shares(const struct ct_model *model, const struct ct_in_steps *in_steps,
		    struct ct_report *report);

/* How it was timed; after both. */
int ct_fill_timing(const struct ct_model *model, struct ct_report *report);

#endif
