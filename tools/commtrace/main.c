/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — find the command of a command line and run it; the exit status is codes.h. */
#include <stdio.h>
#include <string.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/cmd.h"

/* By id. */
static int (*const mains[CT_COMMANDS])(int argc, char **argv) = {
#define GROUP(id, title)
#define COMMAND(name, ...) [CT_COMMAND_##name] = ct_cmd_##name,
#include "tools/commtrace/base/commands.def"
#undef COMMAND
#undef GROUP
};

static int unknown(const char *word)
{
	if (word[0] != '-')
		return ct_unknown_command(word);
	ct_say("unknown option '%s'", word);
	ct_hint("options follow the command; 'commtrace help' lists the commands");
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
		ct_say("a command is missing");
		ct_hint("'commtrace help' lists the commands");
		return CT_CODE_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		word = "help";
	else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		word = "version";
	command = ct_command_find(word);
	if (!command)
		return unknown(word);
	code = mains[command->id](argc - 1, argv + 1);
	written = ct_stdout_close();
	return code ? code : written;
}
