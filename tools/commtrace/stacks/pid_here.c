/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/stacks/pid_here.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "NSpid: HERE ... INSIDE" */
static uint32_t last_number(uint32_t here)
{
	char path[64], line[512];
	unsigned long last = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", here);
	file = fopen(path, "re");
	while (file && !last && fgets(line, sizeof(line), file)) {
		const char *at = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;

		last = at ? strtoul(at, NULL, 10) : 0;
	}
	if (file)
		fclose(file);
	return (uint32_t)last;
}

static uint32_t namespace_of(uint32_t here)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/ns/pid", here);
	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

int ct_pid_inside(uint32_t here, uint32_t *pid, uint32_t *pidns)
{
	*pidns = namespace_of(here);
	*pid = *pidns ? last_number(here) : 0;
	return *pid ? 0 : -1;
}

uint32_t ct_pid_here(const struct ct_process *process)
{
	uint32_t found = 0;
	const struct dirent *entry;
	DIR *dir;

	if (ct_process_lives(process))
		return process->pid;
	if (!process->pidns || process->pidns == ct_pidns_self() || !ct_process_same_boot(process))
		return 0;
	dir = opendir("/proc");
	while (dir && !found && (entry = readdir(dir))) {
		uint32_t here = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (here && namespace_of(here) == process->pidns &&
		    last_number(here) == process->pid)
			found = here;
	}
	if (dir)
		closedir(dir);
	return found;
}
