/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir.h — the directory that a job's processes write their segments into.
 *
 * The first process creates it. An existing one must belong to this user, except that of
 * COMMTRACE_DIR, which may be a group's. Files in it are created with O_EXCL | O_NOFOLLOW, so that
 * a foreign directory cannot make us write elsewhere. The descriptor stays open for the life of the
 * process: a renamed directory stays the run's.
 */
#ifndef CT_INTERPOSE_RUN_DIR_H
#define CT_INTERPOSE_RUN_DIR_H

#include "trace/format.h"
#include "trace/notes.h"

/* Finds or creates it, in the order COMMTRACE_DIR, working directory, $TMPDIR, /tmp; `dir` and
 * `tmpdir` may be "". Fills process->run_dir and run. Returns a descriptor, or -1 if there is none.
 */
int ct_run_dir_open(const char *dir, const char *tmpdir, struct ct_process *process,
		    struct ct_notes *notes);

#endif
