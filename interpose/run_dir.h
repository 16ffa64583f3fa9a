/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir.h — the directory that a job's processes write their segments into.
 *
 * Whoever comes first makes it; a found one must belong to this user, except one that COMMTRACE_DIR names, which
 * may be a group's. Files in it are made with O_EXCL | O_NOFOLLOW, so that a foreign directory cannot make us
 * write elsewhere. The descriptor stays open for the life of the process: a renamed directory stays the run's.
 */
#ifndef CT_INTERPOSE_RUN_DIR_H
#define CT_INTERPOSE_RUN_DIR_H

#include "interpose/notes.h"
#include "trace/format.h"

/* Find or make it, in the order COMMTRACE_DIR, working directory, $TMPDIR, /tmp; `dir` and `tmpdir` may be "".
 * Fills process->run_dir and run. Returns a descriptor, or -1 if there is none. */
int ct_run_dir_open(const char *dir, const char *tmpdir, struct ct_process *process,
		    struct ct_notes *notes);

#endif
