/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/copy/write_part.h"

/* I/K */
static int read_share(const struct ct_cli *args, struct ct_share *share)
{
	const char *text = ct_cli_text(args, CT_OPTION_SHARE);
	char rest;

	*share = (struct ct_share){ 1, 1 };
	if (!text)
		return 0;
	/* digits only: scanf would take signs, and numbers that wrap */
	if (text[strspn(text, "0123456789/")] == '\0' &&
	    sscanf(text, "%9" SCNu32 "/%9" SCNu32 "%c", &share->share, &share->shares, &rest) ==
		    2 &&
	    share->share >= 1 && share->share <= share->shares)
		return 0;
	return ct_cli_bad_value(args, CT_OPTION_SHARE, text, "it is I/K, such as 1/8 to 8/8");
}

static int write_part(const struct ct_cli *args, const char *path, const struct ct_run *run,
		      struct ct_part_wish *wish)
{
	char *line;
	int code;

	wish->path = path;
	wish->force = ct_cli_has(args, CT_OPTION_NEW_RUN_FORCE);
	code = ct_write_part(run, wish, &line);

	if (code)
		return code;
	puts(line ? line : path);
	free(line);
	return ct_stdout_close();
}

int ct_cmd_partial(int argc, char **argv)
{
	struct ct_part_wish wish = { 0 };
	struct ct_run *run = NULL;
	struct ct_cli args;
	const char *path;
	int code = ct_cli_parse(&args, CT_COMMAND_partial, argc, argv);

	if (code >= 0)
		goto out;
	path = ct_cli_text(&args, CT_OPTION_NEW_RUN);
	code = read_share(&args, &wish.share) ?: ct_part_keep(&args, &wish.keep_ns);
	if (!code && (!path || !path[0]))
		code = ct_usage("partial", "'partial' needs -o PART: the directory to make");
	code = code ?: ct_open_run("partial", &args.paths, &run);
	if (!code)
		code = write_part(&args, path, run, &wish);
out:
	ct_run_close(run);
	ct_cli_fini(&args);
	return code;
}
