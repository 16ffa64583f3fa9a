/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_write.h — the file of a timeline, an overview where a run holds more than a file may. */
#ifndef CT_TOOLS_COMMTRACE_TIMELINE_TIMELINE_WRITE_H
#define CT_TOOLS_COMMTRACE_TIMELINE_TIMELINE_WRITE_H

#include "tools/commtrace/timeline/timeline_options.h"
#include "trace/reader.h"

/* Write it, and say what it holds. 0, or an exit status after
 * it was said why. */
int ct_timeline_write(struct ct_timeline_request *timeline, const struct ct_run *run);

#endif
