/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <unistd.h>

#include "analyzer/render/hang.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/progress.h"
#include "tools/commtrace/say.h"

#define FORMATS "text json"
enum { FORMAT_TEXT, FORMAT_JSON };

struct request {
	struct ct_paths paths;
	const char *out, *format_word;
	int force, format, check, whole;
	long long attempt; /* from 1, 0: the last one */
};

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, in the format of its extension (.txt, .json); - is standard output", 0 },
	{ "format", CT_KEY_FORMAT, "FORMAT", 0, "text (default) or json", 0 },
	{ "json", CT_KEY_JSON, 0, 0, "The same as --format=json", 0 },
	{ "check", CT_KEY_CHECK, 0, 0,
	  "Also compare what the ranks called: the same up to where, or the first difference (then "
	  "exit with 3)",
	  0 },
	{ "whole", CT_KEY_WHOLE, 0, 0,
	  "Read all records, also where the last ones are enough (slower)", 0 },
	{ "force", CT_KEY_FORCE, 0, 0, "Replace FILE if it is already there", 0 },
	{ "attempt", CT_KEY_ATTEMPT, "N", 0,
	  "Of a job that was started again: which start, from 1 (default: the last one)", 0 },
	{ 0 }
};

static void on_progress(void *arg, uint64_t done, uint64_t all)
{
	(void)arg;
	ct_progress_at(done, all);
}

static int write_result(const struct request *request, const struct ct_hang_run *run)
{
	struct ct_out out;
	int code = ct_out_open(&out, request->out, request->force);

	if (code)
		return code;
	if (request->format == FORMAT_JSON) {
		code = ct_out_json(&out, ct_hang_json(run));
	} else {
		const struct ct_text_style style = { .color = ct_color_wanted(out.file),
						     .path = request->paths.path[0],
						     .whole = !isatty(fileno(out.file)) };

		ct_hang_text(run, &style, out.file);
	}
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

static int judge(const struct request *request, const struct ct_run *run, struct ct_arena *memory,
		 struct ct_hang_run **hang)
{
	const struct ct_hang_options options = { .attempt = (int)request->attempt - 1,
						 .check = request->check,
						 .whole = request->whole,
						 .progress = on_progress };
	struct ct_err err = { .text = "" };
	int st;

	ct_progress_begin("reading, processes");
	st = memory ? ct_hang_of_run(run, &options, memory, hang, &err) : CT_NOMEM;
	ct_progress_end();
	if (st == CT_OK)
		return 0;
	if (st == CT_NOTFOUND) {
		ct_say("bad value '%lld' of option '--attempt' of 'hang': the job was not started "
		       "that often",
		       request->attempt);
		return CT_CODE_USAGE;
	}
	ct_say("cannot read the run: %s: %s", request->paths.path[0],
	       err.text[0] ? err.text : ct_status_text(st));
	return CT_CODE_FAILED;
}

int ct_cmd_hang(int argc, char **argv)
{
	struct request request = { 0 };
	const struct ct_option_put puts[] = {
		{ 'o', .text = &request.out },
		{ CT_KEY_FORMAT, .text = &request.format_word },
		{ CT_KEY_JSON, .text = &request.format_word, .constant = "json" },
		{ CT_KEY_CHECK, .flag = &request.check },
		{ CT_KEY_WHOLE, .flag = &request.whole },
		{ CT_KEY_FORCE, .flag = &request.force },
		{ CT_KEY_ATTEMPT, .number = &request.attempt, .least = 1, .most = INT_MAX },
		{ 0 },
	};
	const struct ct_options options = {
		.command = "hang",
		.table = table,
		.puts = puts,
		.paths = &request.paths,
		.example = "  commtrace hang run1\n"
			   "  commtrace hang node1/run node2/run -o hang.json\n"
			   "  watch commtrace hang run1",
	};
	struct ct_arena *memory = NULL;
	struct ct_hang_run *hang = NULL;
	struct ct_run *run = NULL;
	int code = ct_options_parse(&options, argc, argv);

	if (code >= 0)
		goto out;
	request.format = ct_out_format("hang", FORMATS, "txt json", request.format_word,
				       request.out);
	code = CT_CODE_USAGE;
	if (request.format < 0)
		goto out;
	code = ct_open_run("hang", &request.paths, &run);
	if (code)
		goto out;
	memory = ct_arena_new();
	code = judge(&request, run, memory, &hang);
	if (!code)
		code = write_result(&request, hang);
	if (!code && (hang->result->n_verdicts || ct_hang_differs(hang)))
		code = CT_CODE_FINDING;
out:
	ct_arena_free(memory);
	ct_run_close(run);
	ct_paths_fini(&request.paths);
	return code;
}
