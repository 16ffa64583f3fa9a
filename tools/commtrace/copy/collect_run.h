/* SPDX-License-Identifier: Apache-2.0 */
/* collect_run.h — bring what belongs to some runs into one directory: their files and the rings of
 * this host. What is there already stays or grows, so that doing it again does no harm. */
#ifndef CT_TOOLS_COMMTRACE_COPY_COLLECT_RUN_H
#define CT_TOOLS_COMMTRACE_COPY_COLLECT_RUN_H

#include <stdint.h>
#include <sys/stat.h>

struct ct_collect_run {
	const char *const *ring_dirs;
	const char *to; /* the directory to bring things to, open as ... */
	int dirfd;
	struct stat to_stat;

	/* what was done */
	uint32_t copied, linked, present; /* files: new or grown, linked, already there */
	uint32_t archived, snapshots; /* rings of dead processes, copies of rings of living ones */
	uint32_t living;	      /* rings of living processes, left alone */
	uint32_t failed;
	uint64_t bytes; /* of what was copied or linked */
};

/* Bring over what belongs to the directory `from`. What failed is said and counted. */
void ct_collect_run_from(struct ct_collect_run *collect, const char *from);

#endif
