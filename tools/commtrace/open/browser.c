/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/open/browser.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commtrace/base/signals.h"

#define OPENER "xdg-open"

static int is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0];
}

static int is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, program);
		if (access(file, X_OK) == 0)
			return 1;
		path += n + (path[n] == ':');
	}
	return 0;
}

int ct_browser_is_there(void)
{
	return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && is_in_path(OPENER);
}

/* The child of a child, so that no process must wait for it: some browsers run until they are
 * closed. In a session of its own, so that Ctrl-C ends commtrace and not the browser. */
static void start(const char *address)
{
	int null = open("/dev/null", O_RDWR);

	if (fork() != 0)
		_exit(0);
	setsid();
	ct_signals_undo();
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	execlp(OPENER, OPENER, address, (char *)NULL);
	_exit(127);
}

int ct_browser_open(const char *address)
{
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid == 0)
		start(address);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}
