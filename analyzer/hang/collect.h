/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — makes a struct ct_hang_case from the log of a reading (log.h). Ranks, communicators
 * and times are the model's. Hosts without synchronized clocks use their time of day. One thread.
 */
#ifndef CT_ANALYZER_HANG_COLLECT_H
#define CT_ANALYZER_HANG_COLLECT_H

#include "analyzer/hang/hang_run.h"
#include "analyzer/hang/log.h"

/* After the reading, while its stream exists; once. The result does not borrow from either. If
 * ranks differ, parts of their processes are read again. 0; CT_NOMEM; CT_IO. Damaged or missing
 * data is not a failure: it is in missing_data. */
int ct_hang_collect(struct ct_gather *log, struct ct_hang_run **out, struct ct_err *err);

#endif
