/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/show.h"

int ct_cmd_info(int argc, char **argv)
{
	const struct ct_show show = {
		.command = CT_COMMAND_info,
		.text = ct_info_text,
		.json = ct_info_json,
	};

	return ct_show_main(&show, argc, argv);
}
