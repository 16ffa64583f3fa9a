/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/bench/bench.h"
#include "analyzer/bench/printed.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/render.h"
#include "tools/commtrace/base/child.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/recording.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "trace/path.h"
#include "trace/status.h"

enum { TEXT, JSON };

struct bench_request {
	struct ct_cli args;
	int format;
	struct ct_bench_samples *samples; /* by path */
	struct ct_bench_run *runs;	  /* the same */
	struct ct_arena *memory;
	struct ct_bench bench;
};

static int say_no_memory(void)
{
	ct_say("cannot compare the runs: %s", ct_status_text(CT_NOMEM));
	return CT_CODE_FAILED;
}

/* "gloo=results/run1": gloo, results/run1. "results/run1": run1, the whole. A path that exists is
 * one. */
static const char *split(struct bench_request *request, const char *argument, const char **series)
{
	const char *equals = strchr(argument, '='), *slash;
	size_t len = ct_path_len(argument);

	if (equals && equals > argument && !memchr(argument, '/', (size_t)(equals - argument)) &&
	    access(argument, F_OK) != 0) {
		*series = ct_arena_printf(request->memory, "%.*s", (int)(equals - argument),
					  argument);
		return equals + 1;
	}
	slash = memrchr(argument, '/', len);
	slash = len > 1 && slash ? slash + 1 : argument;
	*series = ct_arena_printf(request->memory, "%.*s", (int)(argument + len - slash), slash);
	return argument;
}

/* ---- PROGRAM, recorded into the last RUN ---- */

/* What it prints is not a result of ours. */
static int print_on_stderr(void *unused)
{
	(void)unused;
	return dup2(STDERR_FILENO, STDOUT_FILENO) < 0;
}

static int record(struct bench_request *request)
{
	static const char *const no_rings[] = { NULL };
	const struct ct_paths *paths = &request->args.paths;
	char **program = request->args.program;
	const char *series, *path = split(request, paths->path[paths->n - 1], &series);
	const char *run[] = { "/proc/self/exe", "run", "--quiet", "-o", path, "--" };
	const size_t n_run = sizeof(run) / sizeof(run[0]);
	struct ct_child child = { .prepare = print_on_stderr, .ring_dirs = no_rings };
	size_t n = 0;
	int code = CT_CODE_FAILED;

	while (program[n])
		n++;
	child.argv = calloc(n_run + n + 1, sizeof(*child.argv));
	if (!child.argv)
		return say_no_memory();
	memcpy(child.argv, run, sizeof(run));
	memcpy(child.argv + n_run, program, n * sizeof(*program));
	if (ct_child_run(&child) == 0)
		code = child.exec_error ? CT_CODE_FAILED : ct_child_code(child.status);
	if (code)
		ct_say("not compared: %s ended with exit status %d", program[0], code);
	free(child.argv);
	return code ? CT_CODE_FAILED : 0;
}

static int is_printed(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode) &&
	       ct_recording_kind(path) == CT_RECORDING_NONE;
}

static int read_printed(struct bench_request *request, const char *path, size_t i)
{
	uint32_t ranks = (uint32_t)ct_cli_number(&request->args, CT_OPTION_PRINTED_RANKS, 0);
	FILE *file = fopen(path, "re");
	struct ct_err err = { 0 };
	int st;

	if (!file) {
		ct_say("cannot read the results: %s: %s", path, strerror(errno));
		return CT_CODE_FAILED;
	}
	st = ct_bench_read_printed(file, ranks, &request->samples[i], &err);
	fclose(file);
	if (st != CT_OK)
		ct_say("cannot read the results: %s: %s", path,
		       err.text[0] ? err.text : ct_status_text(st));
	return st == CT_OK ? 0 : CT_CODE_FAILED;
}

static int read_run(struct bench_request *request, size_t i)
{
	struct ct_bench_run *run = &request->runs[i];
	const char *path = split(request, request->args.paths.path[i], &run->series);
	const struct ct_paths one = { .path = &path, .n = 1 };
	struct ct_observer observer;
	const struct ct_report_wishes wishes = { .threads = ct_open_threads(&request->args),
						 .observer = &observer };
	struct ct_run *opened = NULL;
	struct ct_report *report = NULL;
	int code;

	run->samples = &request->samples[i];
	if (is_printed(path))
		return read_printed(request, path, i);
	code = ct_open_run("bench", &one, &opened);
	ct_bench_samples_observe(&request->samples[i], &observer);
	if (!code)
		code = ct_open_report_as("bench", &one, opened, &wishes, &report);
	ct_report_free(report);
	ct_run_close(opened);
	return code;
}

static int write_result(struct bench_request *request)
{
	const struct ct_cli *args = &request->args;
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(args, CT_OPTION_OUTPUT),
			       ct_cli_has(args, CT_OPTION_FORCE));

	if (code)
		return code;
	if (request->format == JSON) {
		code = ct_out_json(&out,
				   ct_columns_json(ct_columns_bench(), &request->bench, NULL));
	} else {
		const struct ct_text_style style = { .color = ct_color_wanted(out.file),
						     .unwrapped = !isatty(fileno(out.file)) };

		ct_bench_text(&request->bench, &style, out.file);
	}
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

static int run_bench(struct bench_request *request)
{
	size_t n = request->args.paths.n;
	int code = 0;

	request->format = ct_cli_format(&request->args);
	if (request->format < 0)
		return CT_CODE_USAGE;
	if (!n)
		return ct_usage("bench", request->args.program
						 ? "'bench' needs a run to record into: commtrace "
						   "bench RUN -- PROGRAM"
						 : "'bench' needs a run: commtrace bench RUN...");
	request->memory = ct_arena_new();
	request->samples = calloc(n, sizeof(*request->samples));
	request->runs = calloc(n, sizeof(*request->runs));
	if (!request->memory || !request->samples || !request->runs)
		return say_no_memory();
	if (request->args.program)
		code = record(request);
	for (size_t i = 0; i < n && !code; i++)
		code = read_run(request, i);
	if (!code && ct_bench_make(request->runs, n, request->memory, &request->bench) != CT_OK)
		code = say_no_memory();
	if (!code && !request->bench.n_rows) {
		ct_say("nothing to compare: no operation was called several times in a row");
		code = CT_CODE_FAILED;
	}
	return code ? code : write_result(request);
}

int ct_cmd_bench(int argc, char **argv)
{
	struct bench_request request = { .format = -1 };
	int code = ct_cli_parse(&request.args, CT_COMMAND_bench, argc, argv);

	if (code < 0)
		code = run_bench(&request);
	for (size_t i = 0; request.samples && i < request.args.paths.n; i++)
		ct_bench_samples_fini(&request.samples[i]);
	free(request.samples);
	free(request.runs);
	ct_arena_free(request.memory);
	ct_cli_fini(&request.args);
	return code;
}
