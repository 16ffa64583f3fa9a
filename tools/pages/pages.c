/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c: commtrace-pages man COMMAND | overview TEMPLATE | markdown | bash | zsh. Runs while
 * the project is built; not installed. */
#include "tools/pages/pages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const struct ct_command *command = argc > 2 ? ct_command_find(argv[2]) : NULL;

	if (strcmp(what, "man") == 0 && command) {
		ct_page_man(command);
	} else if (strcmp(what, "overview") == 0 && argc > 2) {
		if (ct_page_man_overview(argv[2]) < 0) {
			fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
			return 1;
		}
	} else if (strcmp(what, "markdown") == 0) {
		ct_page_markdown();
	} else if (strcmp(what, "bash") == 0) {
		ct_page_bash();
	} else if (strcmp(what, "zsh") == 0) {
		ct_page_zsh();
	} else {
		fputs("usage: commtrace-pages man COMMAND | overview TEMPLATE | markdown | bash | "
		      "zsh\n",
		      stderr);
		return 2;
	}
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
