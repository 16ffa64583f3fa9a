/* SPDX-License-Identifier: Apache-2.0 */
/* gather.h — bring what belongs to some runs into one directory: their files and the rings of this host. What is
 * there already stays or grows, so that doing it again does no harm. */
#ifndef CT_TOOLS_COMMTRACE_COPY_GATHER_H
#define CT_TOOLS_COMMTRACE_COPY_GATHER_H

#include <stdint.h>
#include <sys/stat.h>

struct ct_ring_gather {
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
void ct_gather_from(struct ct_ring_gather *gather, const char *from);

#endif
