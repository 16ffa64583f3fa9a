/* SPDX-License-Identifier: Apache-2.0 */
/* run_id.h — which directory a run is, whatever it is called now: what ties a ring in shared memory
 * to the run that it belongs to. A removed directory's inode is soon reused, so its time of birth
 * counts too, where the file system reports it. Any thread; no allocation. */
#ifndef CT_TRACE_RUN_ID_H
#define CT_TRACE_RUN_ID_H

#include "trace/format.h"

/* Of the open directory `dirfd`, or of `path` relative to it (AT_FDCWD) if path is not empty. 0, or
 * CT_IO with errno set and *id zeroed. */
int ct_run_id_get(int dirfd, const char *path, struct ct_run_id *id);

/* Are they the same directory? An id of zeros is not a directory. */
int ct_run_id_same(const struct ct_run_id *a, const struct ct_run_id *b);

#endif
