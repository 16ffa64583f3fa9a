/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/run/preload_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/base/say.h"

#define LIBRARY "libcommtrace.so"

/* From the folder of the program: build tree and plain prefix, private folder of a distribution,
 * lib64, and everything in one folder. */
static const char *const folders[] = { "../lib", "../lib/commtrace", "../lib64",
				       "../lib64/commtrace", "." };

int ct_preload_path(char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len < 0) {
		ct_say("cannot find %s: /proc/self/exe: %s", LIBRARY, strerror(errno));
		return -1;
	}
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *try = NULL, *found = NULL;

		if (asprintf(&try, "%s/%s/%s", self, folders[i], LIBRARY) > 0)
			found = realpath(try, path);
		free(try);
		if (!found || access(path, R_OK) != 0)
			continue;
		if (strpbrk(path, ": \t\n")) {
			ct_say("cannot preload %s: the loader takes ':' and blanks in LD_PRELOAD "
			       "as separators",
			       path);
			ct_hint("move commtrace to a path without them");
			return -1;
		}
		return 0;
	}
	ct_say("cannot find %s: it is not in ../lib, ../lib/commtrace, ../lib64 or beside "
	       "%s/commtrace",
	       LIBRARY, self);
	ct_hint("build it (cmake --build build), or keep the program and the library of one "
		"release together");
	return -1;
}
