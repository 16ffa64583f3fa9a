/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/show.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/codes.h"
#include "tools/commtrace/expect_file.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/say.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_HTML };

struct request {
	const struct ct_show *show;
	struct ct_paths paths;
	const char *out, *format, *fail_on, *expect;
	struct ct_report_wishes wishes;
	int force, whole;
};

#define OUTPUT_ROWS                                                                                 \
	{ "output",                                                                                 \
	  'o',                                                                                      \
	  "FILE",                                                                                   \
	  0,                                                                                        \
	  "Write to FILE, in the format of its extension (.txt, .json, and .html for report); - "   \
	  "is standard output",                                                                     \
	  0 },                                                                                      \
		{ "format", CT_KEY_FORMAT, "FORMAT", 0, "text (default), json, or html for report", \
		  0 },                                                                              \
		{ "force", CT_KEY_FORCE, 0, 0, "Replace FILE if it is already there", 0 },          \
	{                                                                                           \
		0                                                                                   \
	}

static const struct argp_option outlining[] = {
	{ "whole", CT_KEY_WHOLE, 0, 0,
	  "Read all operations, too: what communicators carried and whether their members agree, "
	  "traffic, clocks",
	  0 },
	OUTPUT_ROWS
};

static const struct argp_option judging[] = {
	{ "fail-on", CT_KEY_FAIL_ON, "KINDS", 0,
	  "Exit with 3 if there is a finding of one of these kinds (comma-separated; any for all, "
	  "and "
	  "for operations that never ended)",
	  0 },
	{ "expect", CT_KEY_EXPECT, "FILE", 0,
	  "Hold the run against the rules in FILE, and exit with 3 if it fails one", 0 },
	{ "cycle-anchor", CT_KEY_CYCLE_ANCHOR, "COMM:OP[:BYTES]", 0,
	  "A cycle begins with this operation (COMM: name, first digits of its key, or *); by "
	  "default, with the one that comes once a cycle",
	  0 },
	{ "traffic-model", CT_KEY_TRAFFIC_MODEL, "MODEL", 0,
	  "How bytes of collectives are laid on pairs of ranks: ring (default), uniform or tree",
	  0 },
	OUTPUT_ROWS
};

/* Every kind that a finding may have, one after the other, and the verdict that is no finding; NULL at the end. */
static const char *each_kind(size_t i)
{
	static const char *const kinds[] = {
#define KIND(name, is_share, title) #name,
		CT_FINDING_MAP(KIND)
#undef KIND
			"HANG",
	};

	return i < sizeof(kinds) / sizeof(kinds[0]) ? kinds[i] : NULL;
}

/* Is `kind` one of the comma-separated words? */
static int is_among(const char *kind, const char *words)
{
	size_t len = strlen(kind);

	for (const char *word = words; *word;) {
		size_t n = strcspn(word, ",");

		if (n == len && strncmp(word, kind, n) == 0)
			return 1;
		word += n + (word[n] == ',');
	}
	return 0;
}

/* Words between commas, one at least; no word is none of them. */
static int check_kinds(const struct ct_show *show, const char *words)
{
	for (const char *word = words;; word++) {
		size_t n = strcspn(word, ","), i = 0;
		const char *kind;

		while ((kind = each_kind(i++)) &&
		       (strlen(kind) != n || strncmp(kind, word, n) != 0))
			;
		if (!kind && !(n == 3 && strncmp(word, "any", n) == 0)) {
			ct_say("bad value '%.*s' of option '--fail-on' of '%s'", (int)n, word,
			       show->command);
			ct_hint("kinds of findings are: any"
#define KIND(name, is_share, title) ", " #name
				CT_FINDING_MAP(KIND)
#undef KIND
					", HANG");
			return CT_CODE_USAGE;
		}
		word += n;
		if (!*word)
			return 0;
	}
}

static int take(void *into, int key, const char *arg)
{
	struct request *request = into;
	int word;

	switch (key) {
	case CT_KEY_FAIL_ON:
		request->fail_on = arg;
		return check_kinds(request->show, arg);
	case CT_KEY_TRAFFIC_MODEL:
		word = ct_option_word(request->show->command, "--traffic-model",
				      "ring uniform tree", arg);
		request->wishes.traffic_model = word < 0 ? CT_TRAFFIC_RING : (unsigned)word;
		return word < 0 ? CT_CODE_USAGE : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int write_html(const struct ct_show *show, const struct ct_report *report, FILE *file)
{
	int st = show->html(report, file);

	if (!st)
		return 0;
	ct_say("cannot write the result: %s", ct_status_text(st));
	return CT_CODE_FAILED;
}

/* Where the first path lies; NULL: there where the run was recorded. */
static const char *place_of(const struct request *request, const struct ct_report *report,
			    char place[PATH_MAX])
{
	const char *path = request->paths.path[0];
	struct stat here, there;

	if (report->run.dir && stat(path, &here) == 0 && stat(report->run.dir, &there) == 0 &&
	    here.st_dev == there.st_dev && here.st_ino == there.st_ino)
		return NULL;
	return realpath(path, place);
}

static int write_report(const struct request *request, const struct ct_report *report, int format)
{
	char place[PATH_MAX];
	struct ct_out out;
	int code = ct_out_open(&out, request->out, request->force);

	if (code)
		return code;
	if (format == FORMAT_JSON) {
		code = ct_out_json(&out, request->show->json(report));
	} else if (format == FORMAT_HTML) {
		code = write_html(request->show, report, out.file);
	} else {
		const struct ct_text_style style = { .color = ct_color_wanted(out.file),
						     .path = request->paths.path[0],
						     .place = place_of(request, report, place),
						     .whole = !isatty(fileno(out.file)) };

		request->show->text(report, &style, out.file);
	}
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

/* Operations that never ended are no finding: they may be of a job that was ended in the middle. But who asks for
 * anything at all must not be told that a job without an end is fine. */
static int is_found(const struct ct_report *report, const char *kinds)
{
	int hangs = report->verdict.code == CT_VERDICT_HANG;

	if (kinds && is_among("any", kinds) && (report->n_findings || report->n_stuck || hangs))
		return 1;
	/* The word that stands first in the report: of several kinds that are one verdict (a rank that stalls, STRAGGLER) whoever
	 * asks for it means them all. */
	if (kinds && (report->n_findings || hangs) &&
	    is_among(ct_verdict_name(report->verdict.code), kinds))
		return 1;
	for (size_t i = 0; kinds && i < report->n_findings; i++) {
		if (is_among(ct_finding_name(report->findings[i].kind), kinds))
			return 1;
	}
	return 0;
}

int ct_show_main(const struct ct_show *show, int argc, char **argv)
{
	struct request request = { .show = show };
	const struct ct_option_put puts[] = {
		{ 'o', .text = &request.out },
		{ CT_KEY_FORMAT, .text = &request.format },
		{ CT_KEY_FORCE, .flag = &request.force },
		{ CT_KEY_WHOLE, .flag = &request.whole },
		{ CT_KEY_EXPECT, .text = &request.expect },
		{ CT_KEY_CYCLE_ANCHOR, .text = &request.wishes.anchor },
		{ 0 },
	};
	const struct ct_options options = {
		.command = show->command,
		.table = show->can_fail ? judging : outlining,
		.puts = puts,
		.paths = &request.paths,
		.take = take,
		.into = &request,
		.example = show->example,
	};
	struct ct_expect *expect = NULL;
	struct ct_report *report = NULL;
	struct ct_run *run = NULL;
	int code = ct_options_parse(&options, argc, argv), format;

	if (code >= 0)
		goto out;
	format = ct_out_format(show->command, show->html ? "text json html" : "text json",
			       show->html ? "txt json html" : "txt json", request.format,
			       request.out);
	code = CT_CODE_USAGE;
	if (format < 0)
		goto out;
	code = request.expect ? ct_expect_open(request.expect, &expect) : 0;
	if (!code)
		code = ct_open_run(show->command, &request.paths, &run);
	if (!code && !show->can_fail && !request.whole)
		code = ct_open_outline(&request.paths, run, &report);
	else if (!code)
		code = ct_open_report_as(show->command, &request.paths, run, &request.wishes,
					 &report);
	if (!code && expect)
		code = ct_expect_hold(expect, report);
	if (!code)
		code = write_report(&request, report, format);
	if (!code && (is_found(report, request.fail_on) || report->expect.failed))
		code = CT_CODE_FINDING;
out:
	ct_expect_free(expect);
	ct_report_free(report);
	ct_run_close(run);
	ct_paths_fini(&request.paths);
	return code;
}
