/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h — compares the ranks' start records: equal, different and per-rank facts
 * (environment.def), and communication that is not intercepted, by rank. All memory is the
 * report's. One thread. */
#ifndef CT_ANALYZER_ENVIRONMENT_ENVIRONMENT_H
#define CT_ANALYZER_ENVIRONMENT_ENVIRONMENT_H

#include "analyzer/model/model.h"

/* Fills report->environment from the ranks that have a start record. A variable that a rank does
 * not have is a difference; another fact that it did not report is not known, and compared with
 * nothing. 0 or CT_NOMEM. */
int ct_environment_fill(const struct ct_model *model, struct ct_report *report);

/* Adds to report->invisible, which has space for ct_environment_unseen() more. 0 or CT_NOMEM. */
size_t ct_environment_unseen(const struct ct_model *model);
int ct_environment_fill_unseen(const struct ct_model *model, struct ct_report *report);

#endif
