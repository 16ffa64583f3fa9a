/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/open/port_owner.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTENS 0x0Au /* fact: state of a socket in /proc/net/tcp (TCP_LISTEN) */

/* Inode of the socket that listens on the port; 0: none in this table. */
static unsigned long find_inode(const char *table, unsigned port)
{
	FILE *file = fopen(table, "re");
	unsigned long inode = 0;
	char line[512];

	while (file && !inode && fgets(line, sizeof(line), file)) {
		unsigned at, state;
		unsigned long found;

		/* sl local:port remote:port st tx:rx tr:tm retrnsmt uid timeout inode */
		if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*s %*s %lu",
			   &at, &state, &found) == 3 &&
		    at == port && state == LISTENS)
			inode = found;
	}
	if (file)
		fclose(file);
	return inode;
}

static int has_socket(const char *pid, const char *socket)
{
	char path[300], link[64];
	struct dirent *entry;
	DIR *dir;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		found = strcmp(link, socket) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void read_name(pid_t pid, char name[64])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, 64, file))
		snprintf(name, 64, "?");
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

pid_t ct_port_owner(unsigned port, char name[64])
{
	unsigned long inode = find_inode("/proc/net/tcp", port);
	DIR *dir = NULL;
	struct dirent *entry;
	char socket[64];
	pid_t pid = 0;

	if (!inode)
		inode = find_inode("/proc/net/tcp6", port);
	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	if (inode)
		dir = opendir("/proc");
	while (dir && !pid && (entry = readdir(dir))) {
		if (entry->d_name[0] > '0' && entry->d_name[0] <= '9' &&
		    has_socket(entry->d_name, socket))
			pid = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (dir)
		closedir(dir);
	if (pid)
		read_name(pid, name);
	return pid;
}
