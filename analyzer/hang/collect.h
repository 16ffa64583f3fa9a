/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — a struct ct_hang_case out of what was kept of a reading (log.h). Ranks, communicators and times are the model's:
 * where the clocks of hosts are not related, by their time of day. One thread. */
#ifndef CT_HANG_COLLECT_H
#define CT_HANG_COLLECT_H

#include "analyzer/hang/hang_run.h"
#include "analyzer/hang/log.h"

/* After the reading, while its stream is there; once. The result does not borrow from either. Where ranks differ, stretches
 * of their processes are read again. 0; CT_NOMEM; CT_IO. What is damaged or missing is no failure: it stands in missing_data. */
int ct_hang_collect(struct ct_gather *log, struct ct_hang_run **out, struct ct_err *err);

#endif
