/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/system.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "trace/sys_file.h"

/* size: processors beyond this are not counted; Linux on x86-64 has at most as many. */
#define CPUS 8192

static void add_line(struct ct_facts *facts, const char *key, const char *root, const char *path)
{
	char line[CT_FACT_VALUE];

	if (ct_file_line(line, sizeof(line), root, "%s", path))
		ct_facts_add(facts, key, line);
}

/* "0-7,16": the processors that the program's first thread may run on. */
static void add_affinity(struct ct_facts *facts)
{
	static cpu_set_t set[CPUS / CPU_SETSIZE]; /* one look-around at a time */
	char list[CT_FACT_VALUE + 32];
	size_t at = 0;
	int n = 0;

	memset(set, 0, sizeof(set));
	if (sched_getaffinity(getpid(), sizeof(set), set) != 0)
		return;
	for (int i = 0; i < CPUS; i++) {
		int first = i;

		if (!CPU_ISSET_S((size_t)i, sizeof(set), set))
			continue;
		while (i + 1 < CPUS && CPU_ISSET_S((size_t)i + 1, sizeof(set), set))
			i++;
		n += i - first + 1;
		if (at > CT_FACT_VALUE)
			continue; /* cut by the list of facts */
		at += (size_t)snprintf(list + at, sizeof(list) - at,
				       first == i ? "%s%d" : "%s%d-%d", at ? "," : "", first, i);
	}
	if (n)
		ct_facts_add(facts, "cpu.affinity", list);
	ct_facts_addf(facts, "cpu.usable", "%d", n);
}

uint64_t ct_system_waited_ns(const char *root)
{
	char line[64];
	unsigned long long waited;

	/* this file is that of the first thread, whichever reads it */
	if (!ct_file_line(line, sizeof(line), root, "%s", "/proc/self/schedstat") ||
	    sscanf(line, "%*u %llu", &waited) != 1)
		return UINT64_MAX;
	return waited;
}

/* Memory that two machines of one make have differs by megabytes: reported in gigabytes, rounded. */
static void add_memory(struct ct_facts *facts, const char *root)
{
	char line[64];
	unsigned long long kb;

	if (!ct_file_find(line, sizeof(line), "MemTotal:", root, "/proc/meminfo"))
		return;
	kb = strtoull(line, NULL, 10);
	if (kb)
		ct_facts_addf(facts, "memory.total", "%llu GiB", (kb + (1 << 19)) >> 20);
}

static void add_limit(struct ct_facts *facts, const char *key, __rlimit_resource_t which)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) != 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		ct_facts_add(facts, key, "unlimited");
	else
		ct_facts_addf(facts, key, "%llu", (unsigned long long)limit.rlim_cur);
}

/* What the group or any group above it allows: the first that sets a limit is the one that a reader
 * looks for. */
static void add_group_limit(struct ct_facts *facts, const char *key, const char *root,
			    const char *group, const char *file)
{
	char path[CT_FACT_VALUE], line[128];

	/* a group outside the namespace is shown as "/../.." */
	snprintf(path, sizeof(path), "%s",
		 strcmp(group, "/") == 0 || strstr(group, "..") ? "" : group);
	for (;;) {
		char *slash;

		if (ct_file_line(line, sizeof(line), root, "/sys/fs/cgroup%s/%s", path, file) &&
		    strncmp(line, "max", 3) != 0) {
			ct_facts_add(facts, key, line);
			return;
		}
		slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

static void add_groups(struct ct_facts *facts, const char *root)
{
	char group[256];

	/* the unified hierarchy, else the one of the old controllers as containers show it */
	if (ct_file_find(group, sizeof(group), "0::", root, "/proc/self/cgroup")) {
		add_group_limit(facts, "cgroup.cpu_max", root, group, "cpu.max");
		add_group_limit(facts, "cgroup.memory_max", root, group, "memory.max");
		add_group_limit(facts, "cgroup.cpus", root, group, "cpuset.cpus.effective");
		return;
	}
	add_line(facts, "cgroup.cpu_max", root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
	add_line(facts, "cgroup.memory_max", root, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
}

void ct_system_read(const char *root, struct ct_facts *facts)
{
	char model[160];
	struct utsname name;

	if (uname(&name) == 0) {
		ct_facts_add(facts, "kernel.release", name.release);
		ct_facts_add(facts, "kernel.machine", name.machine);
	}
	ct_facts_add(facts, "lib.glibc.version", gnu_get_libc_version());
	add_affinity(facts);
	add_limit(facts, "limit.memlock", RLIMIT_MEMLOCK);
	add_limit(facts, "limit.nofile", RLIMIT_NOFILE);
	add_memory(facts, root);
	if (ct_file_find(model, sizeof(model), "model name", root, "/proc/cpuinfo"))
		ct_facts_add(facts, "cpu.model", model);
	add_line(facts, "cpu.online", root, "/sys/devices/system/cpu/online");
	add_line(facts, "numa.nodes", root, "/sys/devices/system/node/online");
	add_line(facts, "clock.source", root,
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	add_groups(facts, root);
	add_line(facts, "nvidia.driver", root, "/sys/module/nvidia/version");
	add_line(facts, "nvidia.peermem", root, "/sys/module/nvidia_peermem/version");
}
