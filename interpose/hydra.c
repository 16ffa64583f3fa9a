/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/hydra.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* size: between a proxy and a rank there may be scripts that the user put before the program. */
#define MAX_ANCESTORS 8

static ssize_t read_proc(uint32_t pid, const char *file, char *text, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* Field 4 of /proc/PID/stat. 0: unknown. */
static uint32_t parent_of(uint32_t pid)
{
	char text[512];
	const char *p;

	if (read_proc(pid, "stat", text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')'); /* the name before it may hold anything */
	return p && strlen(p) > 4 ? (uint32_t)strtoul(p + 4, NULL, 10) : 0;
}

/* The argument after `option`, NULL if it is not there. */
static const char *argument(const char *arguments, size_t len, const char *option)
{
	const char *end = arguments + len;

	for (const char *p = arguments; p < end; p += strnlen(p, (size_t)(end - p)) + 1) {
		const char *next = p + strnlen(p, (size_t)(end - p)) + 1;

		if (strcmp(p, option) == 0)
			return next < end && *next ? next : NULL;
	}
	return NULL;
}

int ct_hydra_parse(const char *arguments, size_t len, char *name, size_t size)
{
	const char *slash = strrchr(arguments, '/');
	const char *port, *group;

	name[0] = '\0';
	/* hydra_pmi_proxy; a program of the user's may have options of the same name */
	if (!strstr(slash ? slash : arguments, "pmi_proxy"))
		return -1;
	port = argument(arguments, len, "--control-port");
	group = argument(arguments, len, "--pgid");
	if (!port)
		return -1;
	if (group && strcmp(group, "0") != 0)
		snprintf(name, size, "%.200s.%.20s", port, group);
	else
		snprintf(name, size, "%.200s", port);
	return 0;
}

int ct_hydra_job(uint32_t ppid, char *name, size_t size)
{
	char arguments[2048];

	name[0] = '\0';
	for (int i = 0; i < MAX_ANCESTORS && ppid > 1; i++, ppid = parent_of(ppid)) {
		ssize_t n = read_proc(ppid, "cmdline", arguments, sizeof(arguments));

		if (n > 0 && ct_hydra_parse(arguments, (size_t)n, name, size) == 0)
			return 0;
	}
	return -1;
}
