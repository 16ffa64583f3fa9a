/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/help.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/cmd.h"

int ct_cmd_help(int argc, char **argv)
{
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_help, argc, argv);
	const char *name = args.paths.n ? args.paths.path[0] : NULL;
	const struct ct_command *command = name ? ct_command_find(name) : NULL;

	if (code < 0 && args.paths.n > 1)
		code = ct_usage("help", "'help' explains one command, but got '%s' and '%s'", name,
				args.paths.path[1]);
	else if (code < 0 && !name)
		code = ct_help_list();
	else if (code < 0)
		code = command ? ct_help_print(command) : ct_unknown_command(name);
	ct_cli_fini(&args);
	return code;
}
