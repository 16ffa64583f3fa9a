/* SPDX-License-Identifier: Apache-2.0 */
/* write_part.h — a part of a run (partial.h) under a name: it appears once it is complete. For
 * `partial`, and for `run --partial` at the end of the job. What fails is said. Main thread. */
#ifndef CT_TOOLS_COMMTRACE_COPY_WRITE_PART_H
#define CT_TOOLS_COMMTRACE_COPY_WRITE_PART_H

#include "tools/commtrace/base/options.h"
#include "tools/commtrace/copy/partial.h"

struct ct_part_wish {
	const char *path; /* of the directory to make */
	int force;	  /* a recording that is there is replaced */
	uint64_t keep_ns; /* as in struct ct_partial */
	struct ct_share share;
	const char *host; /* only its processes; NULL: of all */
};

/* keep_ns by the options --keep and --exact. 0, or an exit status. */
int ct_part_keep(const struct ct_cli *args, uint64_t *keep_ns);

/* Writes it. 0 and the line that says what it holds, to be freed (NULL: out of memory), or an exit
 * status. From then on signals are deferred. */
int ct_write_part(const struct ct_run *run, const struct ct_part_wish *wish, char **line);

#endif
