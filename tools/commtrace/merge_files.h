/* SPDX-License-Identifier: Apache-2.0 */
/* merge_files.h — the files of a timeline: one or, where a run holds more than one may, an overview and details beside it. */
#ifndef CT_MERGE_FILES_H
#define CT_MERGE_FILES_H

#include "tools/commtrace/merge_options.h"
#include "trace/reader.h"

/* Write them, and say which is which. Standard output, a pipe or a device gets the overview alone. 0, or an exit status after
 * it was said why. */
int ct_merge_files(struct ct_merge *merge, const struct ct_run *run);

#endif
