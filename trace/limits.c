/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "trace/cgroup.h"

#define MB ((uint64_t)1 << 20) /* fact: bytes of one */

/* size: what a recorded process takes (VmSize and VmData of MPI programs of one thread, with and
 * without the library): tables 75 MB and the ring, nearly all of them never touched; of the address
 * space also 64 MB for each of the four threads that allocate, which glibc sets aside for any
 * thread. */
#define ADDRESS_SPACE_TAKEN (320 * MB)
#define DATA_TAKEN (96 * MB)
/* tuning: so many times more must be left: the program keeps 31 parts of 32. With seven of eight,
 * jobs that need 88 % of their limit ran alone and failed recorded. */
#define TIMES 32u
/* tuning: the tracer holds two descriptors and opens at most three more for a moment. Systems allow
 * 1024 at least: less than half of that was set on purpose. Unused: six times what it takes. */
#define FILES_NEEDED 512u
#define FILES_UNUSED 32u
/* tuning: all processes of a user count together, and how many there are would take a look at each.
 * 64 ranks with six threads of the tracer take 384; systems allow 4096 at least. */
#define THREADS_NEEDED 512u

/* size: what a recorded process touches of all this: 8 MB as measured, and a ring that is full. */
#define RESIDENT_TAKEN (16 * MB)
/* size: threads of the tracer in one rank, with all settings on. */
#define THREADS_TAKEN 6u

static const struct kind {
	int resource;
	const char *ulimit, *what;
	uint64_t needed; /* of memory: left; else: allowed */
} kinds[CT_LIMITS] = {
	[CT_LIMIT_ADDRESS_SPACE] = { RLIMIT_AS, "ulimit -v", "of address space",
				     TIMES *ADDRESS_SPACE_TAKEN },
	[CT_LIMIT_DATA] = { RLIMIT_DATA, "ulimit -d", "of data", TIMES *DATA_TAKEN },
	[CT_LIMIT_FILES] = { RLIMIT_NOFILE, "ulimit -n", "open files", FILES_NEEDED },
	[CT_LIMIT_THREADS] = { RLIMIT_NPROC, "ulimit -u", "threads of this user", THREADS_NEEDED },
	[CT_LIMIT_GROUP_MEMORY] = { -1, "memory.max", "of memory", TIMES *RESIDENT_TAKEN },
	[CT_LIMIT_GROUP_THREADS] = { -1, "pids.max", "threads", TIMES *THREADS_TAKEN },
};

/* Bytes that the kernel holds against the limit: fields 1 and 6 of /proc/self/statm. 0 if it does
 * not say. */
static uint64_t bytes_used(enum ct_limit limit)
{
	int last = limit == CT_LIMIT_ADDRESS_SPACE ? 1 : 6;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t pages = 0;
	char text[128], *at = text;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (int field = 0; field < last; field++)
		pages = strtoull(at, &at, 10);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int memory_is_tight(enum ct_limit limit, uint64_t most, char *why, size_t size)
{
	const struct kind *kind = &kinds[limit];
	uint64_t used = bytes_used(limit);
	uint64_t left = most > used ? most - used : 0;

	if (left >= kind->needed)
		return 0;
	snprintf(why, size, "%llu MB %s are left (%s), less than %llu MB",
		 (unsigned long long)(left / MB), kind->what, kind->ulimit,
		 (unsigned long long)(kind->needed / MB));
	return 1;
}

/* From above, where a process has none: 32 questions as a rule. */
static int files_are_taken(uint64_t most)
{
	uint32_t unused = 0;
	uint64_t fd = most < 65536 ? most : 65536;

	while (fd-- > 0 && unused < FILES_UNUSED)
		unused += fcntl((int)fd, F_GETFD) < 0;
	return unused < FILES_UNUSED;
}

static int number_is_tight(enum ct_limit limit, uint64_t most, char *why, size_t size)
{
	const struct kind *kind = &kinds[limit];

	if (most < kind->needed) {
		snprintf(why, size, "%llu %s are allowed (%s), less than %llu",
			 (unsigned long long)most, kind->what, kind->ulimit,
			 (unsigned long long)kind->needed);
		return 1;
	}
	if (limit != CT_LIMIT_FILES || !files_are_taken(most))
		return 0;
	snprintf(why, size, "nearly all of %llu open files are taken (%s)",
		 (unsigned long long)most, kind->ulimit);
	return 1;
}

/* Where each version has the limit, the usage, and the part of the usage that the kernel can
 * reclaim. */
static const struct files {
	const char *controller; /* of version 1; "" is version 2 */
	const char *most, *used, *spare, *key;
} files[CT_LIMITS][2] = {
	[CT_LIMIT_GROUP_MEMORY] = { { "", "/memory.max", "/memory.current", "/memory.stat",
				      "inactive_file " },
				    { "memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
				      "/memory.stat", "total_inactive_file " } },
	[CT_LIMIT_GROUP_THREADS] = { { "", "/pids.max", "/pids.current", NULL, NULL },
				     { "pids", "/pids.max", "/pids.current", NULL, NULL } },
};

/* Of the group and of all above it that can be seen, the least. UINT64_MAX: none has a limit. */
static uint64_t left_to_groups(const char *root, const struct files *f)
{
	struct ct_cgroup group;
	uint64_t least = UINT64_MAX;

	if (!ct_cgroup_find(root, f->controller, &group))
		return least;
	do {
		uint64_t most = ct_cgroup_number(&group, f->most, "");
		uint64_t used = most < UINT64_MAX ? ct_cgroup_number(&group, f->used, "") : 0;
		uint64_t spare = f->spare && used ? ct_cgroup_number(&group, f->spare, f->key) : 0;
		uint64_t left;

		if (most == UINT64_MAX || used == UINT64_MAX)
			continue;
		used -= spare < used ? spare : 0;
		left = most > used ? most - used : 0;
		least = left < least ? left : least;
	} while (ct_cgroup_up(&group));
	return least;
}

int ct_group_limit_is_tight(const char *root, enum ct_limit limit, char *why, size_t size)
{
	const struct kind *kind = &kinds[limit];
	int saved = errno;
	uint64_t two = left_to_groups(root, &files[limit][0]);
	uint64_t one = left_to_groups(root, &files[limit][1]);
	uint64_t left = one < two ? one : two;
	int is_memory = limit == CT_LIMIT_GROUP_MEMORY;

	errno = saved;
	if (left >= kind->needed)
		return 0;
	snprintf(why, size, "%llu%s %s are left to this container (%s), less than %llu%s",
		 (unsigned long long)(is_memory ? left / MB : left), is_memory ? " MB" : "",
		 kind->what, kind->ulimit,
		 (unsigned long long)(is_memory ? kind->needed / MB : kind->needed),
		 is_memory ? " MB" : "");
	return 1;
}

int ct_limit_is_tight(enum ct_limit limit, char *why, size_t size)
{
	struct rlimit most;
	int saved = errno, tight;

	if (limit == CT_LIMIT_GROUP_MEMORY || limit == CT_LIMIT_GROUP_THREADS)
		return ct_group_limit_is_tight("", limit, why, size);

	if (getrlimit((__rlimit_resource_t)kinds[limit].resource, &most) != 0 ||
	    most.rlim_cur == RLIM_INFINITY)
		return 0;
	tight = limit == CT_LIMIT_ADDRESS_SPACE || limit == CT_LIMIT_DATA
			? memory_is_tight(limit, most.rlim_cur, why, size)
			: number_is_tight(limit, most.rlim_cur, why, size);
	errno = saved;
	return tight;
}

int ct_limits_are_tight(char *why, size_t size)
{
	for (enum ct_limit limit = 0; limit < CT_LIMITS; limit++)
		if (ct_limit_is_tight(limit, why, size))
			return 1;
	return 0;
}
