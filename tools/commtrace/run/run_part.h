/* SPDX-License-Identifier: Apache-2.0 */
/* run_part.h — `run --partial DIR`: when the job has ended, the part of this host is in DIR/HOST,
 * so that only it has to leave the node. Nothing here changes the exit status of the job. Main
 * thread. */
#ifndef CT_TOOLS_COMMTRACE_RUN_RUN_PART_H
#define CT_TOOLS_COMMTRACE_RUN_RUN_PART_H

#include <limits.h>
#include <stdint.h>

struct ct_run_part {
	const char *dir; /* as typed; NULL: no part is wanted */
	uint64_t keep_ns;
	int force; /* replace the part of another job */
	char host[64];
	char path[PATH_MAX]; /* DIR/HOST, absolute: ct_run_part_begin() */
};

/* Before the job: makes DIR, and checks that DIR/HOST can be made, and holds nothing but the
 * recording of `job` (NULL: nothing), and that it is not `run_dir`. 0, or -1 after it was said why.
 */
int ct_run_part_begin(struct ct_run_part *part, const char *job, const char *run_dir);

/* After the job: writes the part of the run in `run_dir`. The last of several `commtrace run` on
 * this host does it. `quiet`: says only what fails. */
void ct_run_part_end(const struct ct_run_part *part, const char *run_dir,
		     const char *const *ring_dirs, int quiet);

#endif
