/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/show.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/expect_file.h"
#include "trace/path.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML, FORMAT_KV };

struct show_request {
	const struct ct_show *show;
	struct ct_cli args;
	struct ct_report_wishes wishes;
};

/* Every kind of finding in turn, and the verdicts that are no findings; NULL at the end. */
static const char *each_kind(size_t i)
{
	static const char *const kinds[] = {
#define KIND(name, is_share, title) #name,
		CT_FINDING_MAP(KIND)
#undef KIND
			"HANG",
		"NOT_ENOUGH_EVIDENCE",
	};

	return i < sizeof(kinds) / sizeof(kinds[0]) ? kinds[i] : NULL;
}

/* Is `kind` one of the comma-separated words, in either case? */
static int is_among(const char *kind, const char *words)
{
	size_t len = strlen(kind);

	for (const char *word = words; *word;) {
		size_t n = strcspn(word, ",");

		if (n == len && strncasecmp(word, kind, n) == 0)
			return 1;
		word += n + (word[n] == ',');
	}
	return 0;
}

/* Words between commas, one at least; no word is none of them. */
static int check_kinds(const struct ct_cli *args, const char *words)
{
	for (const char *word = words;; word++) {
		size_t n = strcspn(word, ","), i = 0;
		const char *kind;

		while ((kind = each_kind(i++)) &&
		       (strlen(kind) != n || strncasecmp(kind, word, n) != 0))
			;
		if (!kind && !(n == 3 && strncasecmp(word, "any", n) == 0)) {
			ct_say("bad value '%.*s' of option '--fail-on' of '%s'", (int)n, word,
			       args->command->name);
			ct_hint("kinds of findings are: any"
#define KIND(name, is_share, title) ", " #name
				CT_FINDING_MAP(KIND)
#undef KIND
					", HANG, NOT_ENOUGH_EVIDENCE");
			return CT_CODE_USAGE;
		}
		word += n;
		if (!*word)
			break;
	}
	return 0;
}

static int write_html(const struct ct_show *show, const struct ct_report *report, FILE *file)
{
	int st = show->html(report, file);

	if (!st)
		return 0;
	ct_say("cannot write the result: %s", ct_status_text(st));
	return CT_CODE_FAILED;
}

/* The directory of the first path; NULL: where the run was recorded. */
static const char *moved_path(const struct show_request *request, const struct ct_report *report,
			      char resolved[PATH_MAX])
{
	const char *path = request->args.paths.path[0];

	if (report->run.dir && ct_path_is_same(path, report->run.dir))
		return NULL;
	return realpath(path, resolved);
}

static int write_report(const struct show_request *request, const struct ct_report *report,
			int format)
{
	char resolved[PATH_MAX];
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(&request->args, CT_OPTION_OUTPUT),
			       ct_cli_has(&request->args, CT_OPTION_FORCE));

	if (code)
		return code;
	if (format == FORMAT_JSON) {
		code = ct_out_json(&out, request->show->json(report));
	} else if (format == FORMAT_HTML) {
		code = write_html(request->show, report, out.file);
	} else {
		const struct ct_text_style style = {
			.color = ct_color_wanted(out.file),
			.paths = ct_open_typed(&request->args.paths)->path,
			.n_paths = ct_open_typed(&request->args.paths)->n,
			.anchor = request->wishes.anchor,
			.read_path = moved_path(request, report, resolved),
			.unwrapped = !isatty(fileno(out.file)),
			.verbose = ct_cli_has(&request->args, CT_OPTION_VERBOSE),
			.top = (size_t)ct_cli_number(&request->args, CT_OPTION_TOP, 0)
		};

		(format == FORMAT_KV ? request->show->kv : request->show->text)(report, &style,
										out.file);
	}
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

/* More than information. */
static int is_alarming(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++)
		if (report->findings[i].severity != CT_SEVERITY_INFO)
			return 1;
	return 0;
}

/* Also where it is not known whether the job hangs. */
static int is_unjudged(const struct ct_report *report)
{
	return report->verdict.code == CT_VERDICT_NOT_ENOUGH_EVIDENCE || report->run.hang_why;
}

/* Of several --fail-on, each counts. */
static int check_all_kinds(const struct ct_cli *args)
{
	int code = 0;

	for (size_t i = 0; i < args->n_given && !code; i++)
		if (args->given[i].option->key == CT_OPTION_FAIL_ON)
			code = check_kinds(args, args->given[i].value);
	return code;
}

/* Operations that never ended are not a finding: the job may have been stopped. But `any` must not
 * pass a job without an end. */
static int is_found(const struct ct_report *report, const char *kinds)
{
	int hangs = report->verdict.code == CT_VERDICT_HANG;

	if (is_among("any", kinds) && (is_alarming(report) || report->n_stuck || hangs))
		return 1;
	/* The verdict in the report: if several kinds give one verdict (a rank that stalls,
	 * STRAGGLER), asking for it means all of them. */
	if (is_unjudged(report) && is_among("NOT_ENOUGH_EVIDENCE", kinds))
		return 1;
	if ((report->n_findings || hangs) && is_among(ct_verdict_name(report->verdict.code), kinds))
		return 1;
	for (size_t i = 0; i < report->n_findings; i++) {
		if (is_among(ct_finding_name(report->findings[i].kind), kinds))
			return 1;
	}
	return 0;
}

static int is_any_found(const struct ct_report *report, const struct ct_cli *args)
{
	for (size_t i = 0; i < args->n_given; i++)
		if (args->given[i].option->key == CT_OPTION_FAIL_ON &&
		    is_found(report, args->given[i].value))
			return 1;
	return 0;
}

/* 0, or an exit status. */
static int open_report(struct show_request *request, struct ct_run **run, struct ct_report **report)
{
	const struct ct_show *show = request->show;
	const char *command = request->args.command->name;
	int code = ct_open_run(command, &request->args.paths, run);

	if (code)
		return code;
	if (!show->judges && !ct_cli_has(&request->args, CT_OPTION_WHOLE_INFO))
		return ct_open_outline(&request->args.paths, *run, report);
	request->wishes.anchor = ct_cli_text(&request->args, CT_OPTION_STEP_ANCHOR);
	request->wishes.skip_steps = (uint32_t)ct_cli_number(&request->args, CT_OPTION_SKIP_STEPS,
							     0);
	request->wishes.last_ns = (uint64_t)ct_cli_number(&request->args, CT_OPTION_LAST, 0) *
				  1000000000ull;
	if (request->wishes.last_ns && request->wishes.skip_steps)
		return ct_usage(command, "'--last' and '--skip-steps' exclude each other");
	request->wishes.threads = ct_open_threads(&request->args);
	return ct_open_report_as(command, &request->args.paths, *run, &request->wishes, report);
}

int ct_show_main(const struct ct_show *show, int argc, char **argv)
{
	struct show_request request = { .show = show };
	struct ct_expect *expect = NULL;
	struct ct_report *report = NULL;
	struct ct_run *run = NULL;
	const char *expect_path;
	int code = ct_cli_parse(&request.args, show->command, argc, argv), format;

	if (code >= 0)
		goto out;
	expect_path = ct_cli_text(&request.args, CT_OPTION_EXPECT);
	format = ct_cli_format(&request.args);
	code = format < 0 ? CT_CODE_USAGE : check_all_kinds(&request.args);
	if (!code && ct_cli_has(&request.args, CT_OPTION_TOP) && format != FORMAT_TEXT)
		code = ct_usage(request.args.command->name, "'--top' belongs to --format=text");
	if (!code && expect_path)
		code = ct_expect_open(expect_path, &expect);
	request.wishes.expect = expect;
	if (!code)
		code = open_report(&request, &run, &report);
	if (!code && expect)
		code = ct_expect_hold(expect, report);
	if (!code)
		code = write_report(&request, report, format);
	if (!code && (is_any_found(report, &request.args) || report->expect.failed))
		code = CT_CODE_FINDING;
out:
	ct_expect_free(expect);
	ct_report_free(report);
	ct_run_close(run);
	ct_cli_fini(&request.args);
	return code;
}
