/* SPDX-License-Identifier: Apache-2.0 */
/* partial.h — a part of a run: whole processes of it, as a directory that is itself a run. Several
 * parts are read as one run, in any order, so that a part of parts is a part as well. docs/SCALE.md
 * has the reasons. One thread. */
#ifndef CT_TOOLS_COMMTRACE_COPY_PARTIAL_H
#define CT_TOOLS_COMMTRACE_COPY_PARTIAL_H

#include <stdint.h>

#include "trace/reader.h"

/* Share `share` (from 1) of `shares`: which processes it has depends on nothing but their ranks and
 * names, so that tasks that see different files agree. */
struct ct_share {
	uint32_t share, shares;
};

int ct_share_has(const struct ct_share *share, const struct ct_process *process);

/* The same of a file that belongs to no process, by its name. */
int ct_share_has_file(const struct ct_share *share, const char *path);

struct ct_partial {
	int dirfd;	  /* of the directory to fill */
	const char *path; /* where it will be: no file of the run may be there */
	uint64_t keep_ns; /* of each process, operations of so much time before its last one;
			     UINT64_MAX: all */
	/* what was done */
	uint32_t processes, files;
	uint64_t bytes, left_out; /* left_out: operations */
};

/* Puts process `index` of the run into the part: its ring first, then its segments, so that a
 * record that moves between them is in both. 0, CT_NOMEM or CT_IO, also if the part would replace
 * the run that it is of. */
int ct_partial_add(struct ct_partial *part, const struct ct_run *run, size_t index,
		   struct ct_err *err);

/* Puts file `index` of those that belong to no process into the part as it is, so that readers of
 * the part warn of it as readers of the run do. 0, CT_NOMEM or CT_IO. */
int ct_partial_add_skipped(struct ct_partial *part, const struct ct_run *run, size_t index,
			   struct ct_err *err);

/* Its ring only, if one was found. For a process that reads its segments elsewhere, later. 0,
 * CT_NOMEM or CT_IO. */
int ct_partial_add_ring(struct ct_partial *part, const struct ct_run *run, size_t index,
			struct ct_err *err);

#endif
