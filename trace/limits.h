/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h — do the limits of this process (ulimit) and of its container (cgroup) leave space for a
 * tracer in it?
 *
 * The program's own needs are unknown when recording starts. So a limit is tight unless its rest is
 * several times what the tracer needs. Under a tight limit nothing is recorded, and the program
 * runs as without the library. Stateless; any thread. Reads a few files of /proc and /sys.
 */
#ifndef CT_TRACE_LIMITS_H
#define CT_TRACE_LIMITS_H

#include <stddef.h>

enum ct_limit {
	CT_LIMIT_ADDRESS_SPACE, /* ulimit -v */
	CT_LIMIT_DATA,		/* ulimit -d */
	CT_LIMIT_FILES,		/* ulimit -n */
	CT_LIMIT_THREADS,	/* ulimit -u */
	CT_LIMIT_GROUP_MEMORY,	/* memory.max of a cgroup, version 1: memory.limit_in_bytes */
	CT_LIMIT_GROUP_THREADS, /* pids.max */
	CT_LIMITS,
};

/* Is this limit tight? If so, 1 and a part of a sentence in `why`, which names it. */
int ct_limit_is_tight(enum ct_limit limit, char *why, size_t size);

/* The same of a limit of groups, CT_LIMIT_GROUP_...; `root`: "" or, in tests, the directory that
 * has proc and sys. */
int ct_group_limit_is_tight(const char *root, enum ct_limit limit, char *why, size_t size);

/* The first one that is. 0: none. */
int ct_limits_are_tight(char *why, size_t size);

#endif
