/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — find the command of a command line and run it; the exit status is codes.h. */
#include <stdio.h>
#include <string.h>

#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/nearest.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/say.h"
#include "tools/commtrace/signals.h"

const struct ct_command ct_commands[] = {
#define CMD(name, synopsis, help) { #name, synopsis, help, ct_cmd_##name },
#include "tools/commtrace/commands.def"
#undef CMD
	{ 0 }
};

const struct ct_command *ct_command_find(const char *name)
{
	for (const struct ct_command *command = ct_commands; command->name; command++) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

static int no_such(const char *word)
{
	struct ct_nearest near = { .word = word };

	if (word[0] == '-') {
		ct_say("unknown option '%s'", word);
		ct_hint("options stand behind the command; commtrace help lists the commands");
		return CT_CODE_USAGE;
	}
	for (const struct ct_command *command = ct_commands; command->name; command++)
		ct_nearest_offer(&near, command->name);
	ct_say("unknown command '%s'", word);
	if (near.best)
		ct_hint("did you mean '%s'?", near.best);
	else
		ct_hint("commtrace help lists the commands");
	return CT_CODE_USAGE;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct ct_command *command;
	int code, written;

	ct_signals_begin();
	ct_stdout_begin();
	if (!word) {
		ct_say("which command?");
		ct_hint("commtrace help lists them");
		return CT_CODE_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		word = "help";
	else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		word = "version";
	command = ct_command_find(word);
	if (!command)
		return no_such(word);
	code = command->main(argc - 1, argv + 1);
	written = ct_stdout_close();
	return code ? code : written;
}
