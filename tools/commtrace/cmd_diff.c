/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/base/units.h"
#include "analyzer/diff/diff.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/html/diff_page.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/render.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "trace/status.h"

enum { TEXT, JSON, HTML };

/* One of the runs. */
struct diff_run {
	struct ct_run *run;
	struct ct_report *report;
	struct ct_diff_samples samples;
};

struct diff_request {
	struct ct_cli args;
	int format;
	size_t bases;		/* the first runs are repetitions of the base */
	struct diff_run *sides; /* by path */
	struct ct_diff *diffs;	/* by path; none of the bases */
	struct ct_arena *memory;
};

static int say_no_memory(void)
{
	ct_say("cannot compare the runs: %s", ct_status_text(CT_NOMEM));
	return CT_CODE_FAILED;
}

static int read_side(const struct diff_request *request, size_t i)
{
	const struct ct_cli *args = &request->args;
	const struct ct_paths one = { .path = &args->paths.path[i], .n = 1 };
	struct diff_run *side = &request->sides[i];
	struct ct_observer observer;
	const struct ct_report_wishes wishes = {
		.anchor = ct_cli_text(args, CT_OPTION_STEP_ANCHOR),
		.skip_steps = (uint32_t)ct_cli_number(args, CT_OPTION_SKIP_STEPS, 0),
		.threads = ct_open_threads(args),
		.observer = &observer,
	};
	int code = ct_open_run("diff", &one, &side->run);

	ct_diff_samples_observe(&side->samples, &observer);
	if (!code)
		code = ct_open_report_as("diff", &one, side->run, &wishes, &side->report);
	for (size_t s = 0; !code && s < side->report->steps.n_items; s++) {
		const struct ct_report_step *step = &side->report->steps.items[s];

		if (ct_diff_samples_add_step(&side->samples, step->begin_at_ns, step->time_ns,
					     side->report->steps.err_ns) != CT_OK)
			code = say_no_memory();
	}
	for (size_t b = 0; !code && b < side->report->throughput.n_blocks; b++) {
		if (ct_diff_samples_add_rate(&side->samples, b,
					     side->report->throughput.blocks[b]) != CT_OK)
			code = say_no_memory();
	}
	return code;
}

static int compare(struct diff_request *request)
{
	size_t n = request->args.paths.n;
	struct ct_diff_run *runs = calloc(n, sizeof(*runs));
	int st = runs ? CT_OK : CT_NOMEM;

	for (size_t i = 0; i < n && runs; i++)
		runs[i] = (struct ct_diff_run){ &request->sides[i].samples,
						request->sides[i].report };
	for (size_t i = request->bases; i < n && st == CT_OK; i++)
		st = ct_diff_make(runs, request->bases, &runs[i], request->memory,
				  &request->diffs[i]);
	free(runs);
	return st == CT_OK ? 0 : say_no_memory();
}

static json_t *one_json(const struct diff_request *request, size_t i)
{
	json_t *value = ct_columns_json(ct_columns_diff(), &request->diffs[i], NULL);
	int failed = !value;

	ct_json_set(value, "run", ct_json_text(request->args.paths.path[i]), &failed);
	return ct_json_done(value, failed);
}

static json_t *to_json(const struct diff_request *request)
{
	const struct ct_paths *paths = &request->args.paths;
	size_t bases = request->bases;

	return CT_JSON({ "schema", json_string("commtrace.diff/1") },
		       { "bases", ct_json_texts(paths->path, bases) },
		       { "runs",
			 CT_JSON_ARRAY(i, paths->n - bases, one_json(request, i + bases)) });
}

static void to_text(const struct diff_request *request, FILE *out)
{
	const struct ct_text_style style = {
		.color = ct_color_wanted(out),
		.unwrapped = !isatty(fileno(out)),
		.verbose = ct_cli_has(&request->args, CT_OPTION_ALL_ROWS),
	};

	for (size_t i = request->bases; i < request->args.paths.n; i++) {
		if (i > request->bases)
			fputc('\n', out);
		ct_diff_text(&request->diffs[i], request->args.paths.path[0], request->bases,
			     request->args.paths.path[i], &style, out);
	}
}

/* What the text says of a run, in full; to be freed. NULL: out of memory. */
static char *text_of(const struct diff_request *request, size_t i)
{
	const struct ct_text_style style = { .unwrapped = 1, .verbose = 1 };
	const struct ct_paths *paths = &request->args.paths;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	ct_diff_text(&request->diffs[i], paths->path[0], request->bases, paths->path[i], &style,
		     out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int to_html(const struct diff_request *request, FILE *out)
{
	size_t n = request->args.paths.n;
	struct ct_diff_page_run *runs = calloc(n, sizeof(*runs));
	char **texts = calloc(n, sizeof(*texts));
	int st = runs && texts ? CT_OK : CT_NOMEM;

	for (size_t i = 0; i < n && st == CT_OK; i++) {
		if (i >= request->bases && !(texts[i] = text_of(request, i)))
			st = CT_NOMEM;
		runs[i] = (struct ct_diff_page_run){ request->args.paths.path[i], texts[i],
						     request->sides[i].report };
	}
	if (st == CT_OK)
		st = ct_diff_page(runs, n, request->memory, out);
	for (size_t i = 0; i < n && texts; i++)
		free(texts[i]);
	free(texts);
	free(runs);
	return st == CT_OK ? 0 : say_no_memory();
}

static int write_result(const struct diff_request *request)
{
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(&request->args, CT_OPTION_OUTPUT),
			       ct_cli_has(&request->args, CT_OPTION_FORCE));

	if (code)
		return code;
	if (request->format == JSON)
		code = ct_out_json(&out, to_json(request));
	else if (request->format == HTML)
		code = to_html(request, out.file);
	else
		to_text(request, out.file);
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

/* --fail-on-regression */
static int is_regression(const struct diff_request *request)
{
	double pct = (double)ct_cli_number(&request->args, CT_OPTION_FAIL_ON_REGRESSION, -1);
	int found = 0;

	for (size_t i = request->bases; pct >= 0 && i < request->args.paths.n; i++) {
		const struct ct_diff_row *row = ct_diff_regression(&request->diffs[i], pct);

		if (!row)
			continue;
		found = 1;
		ct_say("%s: %s is slower by more than %g %%: by at least %s",
		       request->args.paths.path[i], row->op, pct, ct_prose_pct(row->low_pct).s);
	}
	return found;
}

static int run_diff(struct diff_request *request)
{
	size_t n = request->args.paths.n;
	int code = 0;

	request->format = ct_cli_format(&request->args);
	if (request->format < 0)
		return CT_CODE_USAGE;
	request->bases = (size_t)ct_cli_number(&request->args, CT_OPTION_BASES, 1);
	if (n <= request->bases)
		return ct_usage("diff",
				"'diff' needs a run beside the base: commtrace diff BASE RUN");
	request->memory = ct_arena_new();
	request->sides = calloc(n, sizeof(*request->sides));
	request->diffs = calloc(n, sizeof(*request->diffs));
	if (!request->memory || !request->sides || !request->diffs)
		return say_no_memory();
	for (size_t i = 0; i < n && !code; i++)
		code = read_side(request, i);
	if (!code)
		code = compare(request);
	if (!code)
		code = write_result(request);
	return !code && is_regression(request) ? CT_CODE_FINDING : code;
}

int ct_cmd_diff(int argc, char **argv)
{
	struct diff_request request = { .format = -1 };
	int code = ct_cli_parse(&request.args, CT_COMMAND_diff, argc, argv);

	if (code < 0)
		code = run_diff(&request);
	for (size_t i = 0; request.sides && i < request.args.paths.n; i++) {
		ct_diff_samples_fini(&request.sides[i].samples);
		ct_report_free(request.sides[i].report);
		ct_run_close(request.sides[i].run);
	}
	free(request.sides);
	free(request.diffs);
	ct_arena_free(request.memory);
	ct_cli_fini(&request.args);
	return code;
}
