/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h — files of the calling process's cgroup, of version 1 or 2, and of the groups above it.
 * System calls on files that the kernel keeps itself; no allocation, any thread, also in a signal
 * handler.
 */
#ifndef CT_TRACE_CGROUP_H
#define CT_TRACE_CGROUP_H

#include <stddef.h>
#include <stdint.h>

struct ct_cgroup {
	char path[1024]; /* of the group's directory, without a '/' at its end */
	size_t mount;	 /* length of the mount point in it */
	size_t len;
};

/* The group that has this controller in version 1, or the one of version 2 if it is "". `root`: ""
 * or, in tests, the directory that has proc and sys. 1, or 0 if there is none. */
int ct_cgroup_find(const char *root, const char *controller, struct ct_cgroup *group);

/* The parent group, within the mount. 0: none. */
int ct_cgroup_up(struct ct_cgroup *group);

/* For reading; negative if it has no such file. */
int ct_cgroup_open(const struct ct_cgroup *group, const char *file);

/* What such a file says, up to `size` - 1 bytes and a NUL. 0: nothing. */
size_t ct_cgroup_read(const struct ct_cgroup *group, const char *file, char *text, size_t size);

/* The number in it, or the one after `key` on a separate line. UINT64_MAX: none ("max"). */
uint64_t ct_cgroup_number(const struct ct_cgroup *group, const char *file, const char *key);

#endif
