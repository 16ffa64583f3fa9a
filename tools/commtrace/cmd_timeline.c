/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/timeline/timeline_write.h"

int ct_cmd_timeline(int argc, char **argv)
{
	struct ct_run *run = NULL;
	struct ct_timeline_request request;
	int code = ct_timeline_request_read(&request, argc, argv);

	if (code < 0)
		code = ct_open_run("timeline", &request.args.paths, &run);
	if (run && !code)
		code = ct_timeline_write(&request, run);
	ct_run_close(run);
	ct_timeline_request_fini(&request);
	return code;
}
