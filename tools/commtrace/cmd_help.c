/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/nearest.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/say.h"

static void list(void)
{
	puts("Usage: commtrace COMMAND [OPTION...] [ARGUMENT...]\n"
	     "See what every rank of a distributed job says to the others, and which one it is "
	     "waiting for.\n");
	for (const struct ct_command *command = ct_commands; command->name; command++)
		printf("  %-8s  %s\n", command->name, command->help);
	puts("\nExample:\n"
	     "  commtrace run -o run1 -- torchrun --nproc_per_node 8 train.py\n"
	     "  commtrace report run1\n"
	     "\n"
	     "commtrace COMMAND --help explains one command; man commtrace has all of it.\n"
	     "Exit status: 0 done, 1 failed or nothing recorded, 2 wrong usage, 3 a finding that "
	     "was asked for,\n"
	     "125 `run` itself failed, 130 interrupted.");
}

static int take(void *into, int key, const char *arg)
{
	const char **name = into;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*name)
		return ct_usage("help", "'help' explains one command, but got '%s' and '%s'", *name,
				arg);
	*name = arg;
	return 0;
}

int ct_cmd_help(int argc, char **argv)
{
	const char *name = NULL;
	const struct ct_options options = {
		.command = "help",
		.take = take,
		.into = &name,
		.example = "  commtrace help report",
	};
	int code = ct_options_parse(&options, argc, argv);
	const struct ct_command *command;

	if (code >= 0)
		return code;
	if (!name) {
		list();
		return ct_stdout_close();
	}
	command = ct_command_find(name);
	if (!command) {
		struct ct_nearest near = { .word = name };

		for (command = ct_commands; command->name; command++)
			ct_nearest_offer(&near, command->name);
		ct_say("unknown command '%s'", name);
		ct_hint(near.best ? "did you mean '%s'?" : "commtrace help lists the commands",
			near.best);
		return CT_CODE_USAGE;
	}
	return command->main(2, (char *[]){ argv[0], (char[]){ "--help" }, NULL });
}
