/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/preload_path.h"

int ct_cmd_preload(int argc, char **argv)
{
	const struct ct_options options = {
		.command = "preload",
		.example = "  LD_PRELOAD=$(commtrace preload) torchrun --nproc_per_node 8 train.py",
	};
	char path[PATH_MAX];
	int code = ct_options_parse(&options, argc, argv);

	if (code >= 0)
		return code;
	if (ct_preload_path(path) < 0)
		return CT_CODE_FAILED;
	puts(path);
	return ct_stdout_close();
}
