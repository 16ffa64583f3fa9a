/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "analyzer/render/hang.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/stacks/attach.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_KV, FORMAT_MARKDOWN };

static void on_progress(void *arg, uint64_t done, uint64_t all)
{
	(void)arg;
	ct_progress_at(done, all);
}

static int write_result(const struct ct_cli *args, int format, const struct ct_hang_run *run)
{
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(args, CT_OPTION_OUTPUT),
			       ct_cli_has(args, CT_OPTION_FORCE));

	if (code)
		return code;
	if (format == FORMAT_JSON) {
		code = ct_out_json(&out, ct_hang_json(run));
	} else {
		const struct ct_text_style style = { .color = ct_color_wanted(out.file),
						     .paths = ct_open_typed(&args->paths)->path,
						     .n_paths = ct_open_typed(&args->paths)->n,
						     .unwrapped = !isatty(fileno(out.file)),
						     .verbose = ct_cli_has(args,
									   CT_OPTION_VERBOSE) };

		(format == FORMAT_KV	     ? ct_hang_kv
		 : format == FORMAT_MARKDOWN ? ct_hang_markdown
					     : ct_hang_text)(run, &style, out.file);
	}
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

/* 0: there are some; 1: there are none. */
static int print_hosts(const struct ct_hang_run *run)
{
	int n = ct_hang_hosts(run, stdout);

	if (n < 0)
		ct_say("cannot list the hosts: %s", ct_status_text(CT_NOMEM));
	return n > 0 ? CT_CODE_DONE : CT_CODE_FAILED;
}

static int judge_run(const struct ct_cli *args, const struct ct_run *run, struct ct_arena *memory,
		     struct ct_hang_run **hang)
{
	long long restart = ct_cli_number(args, CT_OPTION_RESTART, -1); /* -1: the last one */
	const struct ct_hang_options options = { .restart = (int)restart,
						 .whole = ct_cli_has(args, CT_OPTION_WHOLE),
						 .progress = on_progress };
	struct ct_err err = { .text = "" };
	int st;

	ct_progress_begin("reading, processes");
	st = memory ? ct_hang_of_run(run, &options, memory, hang, &err) : CT_NOMEM;
	ct_progress_end();
	if (st == CT_OK)
		return 0;
	if (st == CT_NOTFOUND)
		return ct_cli_bad_value(args, CT_OPTION_RESTART,
					ct_cli_text(args, CT_OPTION_RESTART),
					"the job was not started that often");
	ct_say("cannot %s: %s: %s", st == CT_EMPTY ? "judge" : "read the run", args->paths.path[0],
	       err.text[0] ? err.text : ct_status_text(st));
	if (st == CT_EMPTY)
		ct_hint("parts made with --exact, or with a larger --keep, have it");
	return CT_CODE_FAILED;
}

int ct_cmd_hang(int argc, char **argv)
{
	struct ct_arena *memory = NULL;
	struct ct_hang_run *hang = NULL;
	struct ct_run *run = NULL;
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_hang, argc, argv), format;

	if (code >= 0)
		goto out;
	format = ct_cli_format(&args);
	code = format < 0 ? CT_CODE_USAGE : 0;
	if (!code && ct_cli_has(&args, CT_OPTION_HOSTS) &&
	    (format != FORMAT_TEXT || ct_cli_has(&args, CT_OPTION_OUTPUT)))
		code = ct_usage("hang", "'--hosts' prints one line, and has no format or file");
	code = code ?: ct_open_run("hang", &args.paths, &run);
	if (code)
		goto out;
	memory = ct_arena_new();
	code = judge_run(&args, run, memory, &hang);
	if (!code && ct_cli_has(&args, CT_OPTION_ATTACH))
		json_decref(ct_attach(run, hang, memory, 0));
	if (!code && ct_cli_has(&args, CT_OPTION_HOSTS)) {
		code = print_hosts(hang);
		goto out;
	}
	if (!code)
		code = write_result(&args, format, hang);
	if (!code && (hang->result->n_verdicts || hang->state == CT_JOB_KILLED))
		code = CT_CODE_FINDING;
out:
	ct_arena_free(memory);
	ct_run_close(run);
	ct_cli_fini(&args);
	return code;
}
