/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_write.h — the files of a timeline: one or, where a run holds more than one may, an overview and details beside it. */
#ifndef CT_TOOLS_COMMTRACE_TIMELINE_WRITE_H
#define CT_TOOLS_COMMTRACE_TIMELINE_WRITE_H

#include "tools/commtrace/timeline_options.h"
#include "trace/reader.h"

/* Write them, and say which is which. Standard output, a pipe or a device gets the overview alone. 0, or an exit status after
 * it was said why. */
int ct_timeline_write(struct ct_timeline_request *timeline, const struct ct_run *run);

#endif
