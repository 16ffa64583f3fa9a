/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/watch/watch.h"

int ct_cmd_watch(int argc, char **argv)
{
	struct ct_watch_alerts alerts = { .log = stdout };
	struct ct_watch watch = { .log = stdout, .alerts = &alerts };
	struct ct_cli args;
	struct stat st;
	int code = ct_cli_parse(&args, CT_COMMAND_watch, argc, argv);

	if (code >= 0)
		goto out;
	code = 0;
	ct_watch_options(&args, &watch);
	ct_watch_alerts_options(&args, &alerts);
	watch.acts = watch.command != NULL;
	watch.stops_at_once = ct_cli_has(&args, CT_OPTION_STOP_AT_ONCE);
	if (args.paths.n != 1) {
		code = ct_usage("watch", "'watch' needs one RUN: the directory of a recording");
		goto out;
	}
	watch.dir = args.paths.path[0];
	st.st_mode = S_IFDIR;
	if (stat(watch.dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
		ct_say("cannot watch the run: %s: %s", watch.dir,
		       strerror(S_ISDIR(st.st_mode) ? errno : ENOTDIR));
		code = CT_CODE_FAILED;
		goto out;
	}
	ct_signals_defer();
	code = ct_watch_loop(&watch, -1) > 0 ? CT_CODE_FINDING : ct_signals_deferred();
	/* a line that was not written is not a report */
	code = ct_stdout_close() ?: code;
out:
	ct_watch_alerts_fini(&alerts);
	ct_cli_fini(&args);
	return code;
}
