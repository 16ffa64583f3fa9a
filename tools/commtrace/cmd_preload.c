/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/run/preload_path.h"

int ct_cmd_preload(int argc, char **argv)
{
	struct ct_cli args;
	char path[PATH_MAX];
	int code = ct_cli_parse(&args, CT_COMMAND_preload, argc, argv);

	ct_cli_fini(&args);
	if (code >= 0)
		return code;
	if (ct_preload_path(path) < 0)
		return CT_CODE_FAILED;
	puts(path);
	return ct_stdout_close();
}
