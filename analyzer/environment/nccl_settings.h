/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_settings.h — NCCL_* variables that are set and that NCCL does not read. */
#ifndef CT_ANALYZER_ENVIRONMENT_NCCL_SETTINGS_H
#define CT_ANALYZER_ENVIRONMENT_NCCL_SETTINGS_H

#include "analyzer/model/model.h"

/* Fills report->environment.unread from the facts lib.nccl*.unread (docs/dev/TRACE_FORMAT.md, ENV):
 * a variable is in it for a rank where libnccl and all its plugins that were loaded have been
 * searched and none contains the name. Memory is the report's. One thread. 0 or CT_NOMEM. */
int ct_nccl_settings_fill(const struct ct_model *model, struct ct_report *report);

#endif
