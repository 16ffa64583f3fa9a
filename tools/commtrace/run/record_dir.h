/* SPDX-License-Identifier: Apache-2.0 */
/* record_dir.h — the directory that `commtrace run` records into: chosen, made, and checked for
 * other recordings before the program starts. */
#ifndef CT_TOOLS_COMMTRACE_RUN_RECORD_DIR_H
#define CT_TOOLS_COMMTRACE_RUN_RECORD_DIR_H

#include <limits.h>

struct ct_record_dir {
	char path[PATH_MAX]; /* absolute */
	const char *shown;   /* as the user typed it, or the path */
	int fd;		     /* of the directory: also when it is renamed while the program runs */
	int made;	     /* by us: goes again if nothing was recorded */
};

/* `wanted` NULL: a new one in the current directory, named after the job or the time, or in $TMPDIR
 * or /tmp where that cannot be written. `job` (fit for a file name): processes of this job may have
 * been recorded there before (other hosts of the same step); NULL: unknown, and no process may have
 * been. 0, or -1 after it was said why. */
int ct_record_dir_open(struct ct_record_dir *dir, const char *wanted, const char *job,
		       const char *const *ring_dirs, int force);

/* Also removes a directory that was made, is still empty, and that no ring in `ring_dirs` belongs
 * to. */
void ct_record_dir_close(struct ct_record_dir *dir, const char *const *ring_dirs);

#endif
