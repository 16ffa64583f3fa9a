/* SPDX-License-Identifier: Apache-2.0 */
/* setting_conflicts.h — settings that contradict each other or take something away
 * (setting_conflicts.def), by the ranks' start records. */
#ifndef CT_ANALYZER_ENVIRONMENT_SETTING_CONFLICTS_H
#define CT_ANALYZER_ENVIRONMENT_SETTING_CONFLICTS_H

#include "analyzer/model/model.h"

/* Fills report->environment.conflicts. Memory is the report's. One thread. 0 or CT_NOMEM. */
int ct_setting_conflicts_fill(const struct ct_model *model, struct ct_report *report);

#endif
