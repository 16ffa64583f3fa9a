/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tools/commtrace/cmd.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "trace/format.h"

int ct_cmd_version(int argc, char **argv)
{
	const struct ct_options options = { .command = "version",
					    .example = "  commtrace version" };
	int code = ct_options_parse(&options, argc, argv);

	if (code >= 0)
		return code;
	printf("commtrace %s, trace format %u\n", CT_RELEASE, CT_FORMAT_VERSION);
	return ct_stdout_close();
}
