/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/oom.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/cgroup.h"

/* The group itself or, where its path is that of another namespace, the nearest one above that is
 * there. */
static int read_counter(struct ct_cgroup *group, const char *file, struct ct_oom *oom)
{
	struct stat st;

	do {
		int fd = ct_cgroup_open(group, file);
		int found = fd >= 0 && fstat(fd, &st) == 0;

		if (fd >= 0)
			close(fd);
		oom->kills = found ? ct_cgroup_number(group, file, "oom_kill ") : UINT64_MAX;
		oom->where = (uint64_t)st.st_dev << 32 ^ (uint64_t)st.st_ino;
		if (found && oom->kills != UINT64_MAX && oom->where)
			return 1;
	} while (ct_cgroup_up(group));
	return 0;
}

int ct_oom_read(const char *root, struct ct_oom *oom)
{
	struct ct_cgroup group;
	int saved = errno;
	int found;

	/* where both are mounted, memory is one version's only */
	found = (ct_cgroup_find(root, "memory", &group) &&
		 read_counter(&group, "/memory.oom_control", oom)) ||
		(ct_cgroup_find(root, "", &group) && read_counter(&group, "/memory.events", oom));
	errno = saved;
	return found;
}
