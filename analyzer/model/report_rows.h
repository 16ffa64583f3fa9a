/* SPDX-License-Identifier: Apache-2.0 */
/* report_rows.h — the row of a report for a communicator or for a class of operations, without
 * looking at all of them: a run may have tens of thousands of communicators. */
#ifndef CT_ANALYZER_MODEL_REPORT_ROWS_H
#define CT_ANALYZER_MODEL_REPORT_ROWS_H

#include "analyzer/model/report.h"

/* To find comms[] and ops[] by what they are; once they are filled and in order. Memory is the
 * report's. 0 or CT_NOMEM. */
int ct_report_rows_index(struct ct_report *report);

/* NULL: no such row. O(log rows). */
struct ct_report_comm *ct_report_row_of_comm(const struct ct_report *report, uint64_t key,
					     uint32_t nranks);

/* The rows of what is not a group and is equal in all these; *n of them, side by side. O(log rows).
 */
struct ct_report_op **ct_report_rows_of_op(const struct ct_report *report, uint64_t comm_hash,
					   unsigned op, unsigned dtype, uint64_t size_range,
					   size_t *n);

#endif
