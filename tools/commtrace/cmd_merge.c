/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/merge_files.h"
#include "tools/commtrace/open_run.h"

int ct_cmd_merge(int argc, char **argv)
{
	struct ct_run *run = NULL;
	struct ct_merge merge;
	int code = ct_merge_options(&merge, argc, argv);

	if (code < 0)
		code = ct_open_run("merge", &merge.args.paths, &run);
	if (run && !code)
		code = ct_merge_files(&merge, run);
	ct_run_close(run);
	ct_merge_options_fini(&merge);
	return code;
}
