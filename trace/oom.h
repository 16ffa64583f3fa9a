/* SPDX-License-Identifier: Apache-2.0 */
/* oom.h — how many processes the kernel has killed for lack of memory in the calling process's
 * cgroup: memory.events of version 2, memory.oom_control of version 1. Three system calls on the
 * kernel's own files; no allocation, any thread, also in a signal handler. Keeps errno.
 */
#ifndef CT_TRACE_OOM_H
#define CT_TRACE_OOM_H

#include <stdint.h>

struct ct_oom {
	uint64_t where; /* which counter that is, equal for processes that share it, never 0 */
	uint64_t kills; /* so far */
};

/* `root`: "" or, in tests, the directory that has proc and sys. 1, or 0 without such a counter:
 * unknown. */
int ct_oom_read(const char *root, struct ct_oom *oom);

#endif
