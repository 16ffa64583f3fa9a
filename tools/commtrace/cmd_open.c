/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/open/browser.h"
#include "tools/commtrace/open/port_owner.h"
#include "tools/commtrace/open/serve.h"
#include "tools/commtrace/timeline/timeline_file.h"
#include "trace/clock.h"

struct open_request {
	struct ct_cli args;
	struct ct_serve serve;
	long long idle_s;
};

/* Before anything is drawn, which may take long. */
static int take_port(struct open_request *request)
{
	char name[64];
	int error;
	pid_t pid;

	error = -ct_serve_open(&request->serve);
	if (!error)
		return 0;
	pid = error == EADDRINUSE ? ct_port_owner(request->serve.port, name) : 0;
	if (pid)
		ct_say("cannot serve on port %u: '%s' (pid %d) has it", request->serve.port, name,
		       (int)pid);
	else
		ct_say("cannot serve on port %u: %s", request->serve.port, strerror(error));
	if (error == EADDRINUSE)
		ct_hint("end it, or drop a file of 'commtrace timeline' on " CT_DEEP_LINK_ORIGIN);
	return CT_CODE_FAILED;
}

/* The finding to be viewed first, of those that have a time in the file. */
static const struct ct_finding *choose(const struct ct_report *report, struct ct_deep_range bounds,
				       struct ct_deep_range *range)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		*range = ct_deep_range_within(ct_deep_range(report, &report->findings[i]), bounds);
		if (range->from_ns != CT_UNKNOWN)
			return &report->findings[i];
	}
	*range = (struct ct_deep_range){ CT_UNKNOWN, CT_UNKNOWN };
	return NULL;
}

/* Make or take the timeline, and the link to it. 0, or an exit status after it was said why. */
static int prepare(struct open_request *request, struct ct_timeline_file *file,
		   struct ct_arena *memory, const char **link)
{
	const char *path = request->args.paths.n == 1 ? request->args.paths.path[0] : "";
	struct ct_deep_range range = { CT_UNKNOWN, CT_UNKNOWN };
	const struct ct_finding *finding = NULL;
	struct ct_run *run = NULL;
	int code;

	if (ct_timeline_is_file(path)) {
		code = ct_timeline_file_take(file, path);
	} else {
		code = ct_open_run("open", &request->args.paths, &run);
		if (!code)
			code = ct_timeline_file_draw(file, &request->args.paths, run);
	}
	if (!code && file->timeline)
		finding = choose(ct_timeline_report(file->timeline), file->bounds, &range);
	*link = code ? NULL : ct_deep_link(memory, request->serve.port, range, finding);
	if (!code && !*link) {
		ct_say("cannot make the link: %s", ct_status_text(CT_NOMEM));
		code = CT_CODE_FAILED;
	}
	ct_timeline_file_forget(file);
	ct_run_close(run);
	return code;
}

static void say_serving(const struct open_request *request)
{
	const struct ct_serve *serve = &request->serve;

	fprintf(stderr, "serving %s on http://127.0.0.1:%u/%s ", ct_prose_bytes(serve->size).s,
		serve->port, serve->name);
	if (serve->keep)
		fputs("until Ctrl-C\n", stderr);
	else
		fputs("until the page has fetched it\n", stderr);
	if (serve->port != CT_DEEP_LINK_PORT)
		ct_warn("ui.perfetto.dev may read from port %u only", CT_DEEP_LINK_PORT);
	if (getenv("SSH_CONNECTION"))
		ct_hint("in a browser of another machine the link works through 'ssh -L "
			"%u:127.0.0.1:%u' to this one",
			serve->port, serve->port);
}

static int serve(struct open_request *request, const char *link)
{
	int status, want_browser = !ct_cli_has(&request->args, CT_OPTION_NO_BROWSER) &&
				   ct_browser_is_there();

	puts(link);
	if (fflush(stdout) != 0)
		return ct_stdout_close();
	say_serving(request);
	if (want_browser && ct_browser_open(link) != 0)
		ct_warn("cannot start a browser: open the link yourself");
	status = ct_serve_run(&request->serve);
	if (status != 0) {
		ct_say("cannot serve the timeline: %s", strerror(-status));
		return CT_CODE_FAILED;
	}
	if (request->serve.fetched)
		return CT_CODE_DONE;
	ct_say("no browser fetched the timeline within %llds", request->idle_s);
	return CT_CODE_FAILED;
}

int ct_cmd_open(int argc, char **argv)
{
	struct open_request request = { .serve = { .name = CT_DEEP_LINK_FILE,
						   .origin = CT_DEEP_LINK_ORIGIN,
						   .listener = -1 } };
	struct ct_timeline_file file = { .fd = -1 };
	struct ct_arena *memory = NULL;
	const char *link = NULL;
	int code = ct_cli_parse(&request.args, CT_COMMAND_open, argc, argv);

	if (code >= 0)
		goto out;
	if (!request.args.paths.n) {
		code = ct_usage("open", "'open' needs a RUN: the directory of a recording, or a "
					"file of 'timeline'");
		goto out;
	}
	request.idle_s = ct_cli_number(&request.args, CT_OPTION_IDLE, 0);
	request.serve.port = (unsigned)ct_cli_number(&request.args, CT_OPTION_PORT, 0);
	request.serve.keep = ct_cli_has(&request.args, CT_OPTION_KEEP);
	memory = ct_arena_new();
	code = memory ? take_port(&request) : CT_CODE_FAILED;
	if (!code)
		code = prepare(&request, &file, memory, &link);
	if (!code) {
		request.serve.fd = file.fd;
		request.serve.size = file.size;
		request.serve.idle_ns = request.serve.keep
						? UINT64_MAX
						: (uint64_t)request.idle_s * CT_SECOND_NS;
		code = serve(&request, link);
	}
out:
	ct_timeline_file_close(&file);
	ct_arena_free(memory);
	ct_cli_fini(&request.args);
	return code;
}
