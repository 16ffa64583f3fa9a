/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/perfetto.h"
#include "analyzer/render/tuples.h"
#include "analyzer/units.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/progress.h"
#include "tools/commtrace/say.h"

#define FORMATS "pftrace tuples"
enum { FORMAT_PFTRACE, FORMAT_TUPLES };
#define FLOWS "none launch all" /* enum ct_chart_flows */

/* A browser opens 4 million slices in half a minute and 1.3 GB; a file of 1 GB, which takes three times as much
 * memory, is the end. */
#define SLICES "4000000"
#define MAX_SLICES 8000000

/* Timelines compress six-fold at this level, and hardly more at higher ones. */
#define DEFLATE_LEVEL 3

struct merge {
	struct ct_paths paths;
	const char *out_path, *format_word;
	int force, format;
	int *ranks;
	size_t n_ranks, cap_ranks;
	struct ct_chart_options chart;
};

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, in the format of its extension (.pftrace, .tsv); - is standard output",
	  0 },
	{ "format", CT_KEY_FORMAT, "FORMAT", 0,
	  "pftrace (default), or tuples: a line a slice: begin, duration, depth, track, name", 0 },
	{ "force", CT_KEY_FORCE, 0, 0, "Replace FILE if it is already there", 0 },
	{ "window", CT_KEY_WINDOW, "A..B", 0,
	  "Only operations that lie in this part of the run, such as 10s..12.5s, ..500ms or 1m..",
	  0 },
	{ "ranks", CT_KEY_RANKS, "LIST", 0, "Only these ranks, such as 0-7,12", 0 },
	{ "max-slices", CT_KEY_MAX_SLICES, "N", 0,
	  "Most slices (default " SLICES "); where there are more, the end of the run is kept", 0 },
	{ "flows", CT_KEY_FLOWS, "WHICH", 0,
	  "Arrows: launch (default) from calls to their work on the GPU, all: also through the "
	  "ranks "
	  "of each operation, none",
	  0 },
	{ 0 }
};

/* ---- options ---- */

static int bad(const char *option, const char *arg, const char *hint)
{
	ct_say("bad value '%s' of option '%s' of 'merge'", arg, option);
	ct_hint("%s", hint);
	return CT_CODE_USAGE;
}

/* "12.5s" up to `end`; -1 if it is no time. */
static int take_time(const char *text, const char *end, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 },  { "us", 1e3 }, { "ms", 1e6 },
		      { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 } };
	char number[32];
	size_t len = strspn(text, "0123456789.");
	char *rest;
	double value;

	if (len == 0 || len >= sizeof(number) || text + len > end)
		return -1;
	memcpy(number, text, len);
	number[len] = '\0';
	value = strtod(number, &rest);
	if (*rest)
		return -1;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		size_t n = strlen(units[u].name);

		if ((size_t)(end - text) - len != n || memcmp(text + len, units[u].name, n) != 0)
			continue;
		if (value * units[u].ns > 9e18)
			return -1;
		*ns = (uint64_t)llround(value * units[u].ns);
		return 0;
	}
	*ns = 0;
	return text + len == end && value == 0 ? 0 : -1;
}

static int take_window(struct merge *merge, const char *arg)
{
	const char
		*hint = "it reads FROM..TO, times since the run began with their unit: 10s..12.5s, "
			"..500ms, 1m..";
	const char *dots = strstr(arg, ".."), *to = dots ? dots + 2 : NULL;

	merge->chart.from_ns = 0;
	merge->chart.to_ns = UINT64_MAX;
	if (!dots || (dots > arg && take_time(arg, dots, &merge->chart.from_ns) < 0) ||
	    (*to && take_time(to, to + strlen(to), &merge->chart.to_ns) < 0))
		return bad("--window", arg, hint);
	if (merge->chart.from_ns >= merge->chart.to_ns)
		return bad("--window", arg, "it ends before it begins");
	return 0;
}

static int add_rank(struct merge *merge, long rank)
{
	if (merge->n_ranks == merge->cap_ranks) {
		size_t cap = merge->cap_ranks ? 2 * merge->cap_ranks : 64;
		int *ranks = reallocarray(merge->ranks, cap, sizeof(*ranks));

		if (!ranks) {
			ct_say("cannot read the options: %s", ct_status_text(CT_NOMEM));
			return CT_CODE_FAILED;
		}
		merge->ranks = ranks;
		merge->cap_ranks = cap;
	}
	merge->ranks[merge->n_ranks++] = (int)rank;
	return 0;
}

static int take_ranks(struct merge *merge, const char *arg)
{
	const char *hint = "it is a list such as 0-7,12";
	const long most = 1 << 20; /* ranks of a communicator */

	for (const char *at = arg; *at || at == arg;) {
		char *end;
		long from, to;

		if (*at < '0' || *at > '9')
			return bad("--ranks", arg, hint);
		from = to = strtol(at, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return bad("--ranks", arg, hint);
			to = strtol(end + 1, &end, 10);
		}
		if (from > to || to >= most || (*end && (*end != ',' || !end[1])))
			return bad("--ranks", arg, hint);
		for (; from <= to; from++) {
			int code = add_rank(merge, from);

			if (code)
				return code;
		}
		at = end + (*end == ',');
	}
	return 0;
}

static int take(void *into, int key, const char *arg)
{
	struct merge *merge = into;
	long long number;
	int place;

	switch (key) {
	case 'o':
		merge->out_path = arg;
		return 0;
	case CT_KEY_FORMAT:
		merge->format_word = arg;
		return 0;
	case CT_KEY_FORCE:
		merge->force = 1;
		return 0;
	case CT_KEY_WINDOW:
		return take_window(merge, arg);
	case CT_KEY_RANKS:
		return take_ranks(merge, arg);
	case CT_KEY_MAX_SLICES:
		place = ct_option_number("merge", "--max-slices", arg, 1, MAX_SLICES, &number);
		merge->chart.max_slices = (uint64_t)number;
		return place;
	case CT_KEY_FLOWS:
		place = ct_option_word("merge", "--flows", FLOWS, arg);
		merge->chart.flows = (enum ct_chart_flows)place;
		return place < 0 ? CT_CODE_USAGE : 0;
	case ARGP_KEY_ARG:
		return ct_paths_add(&merge->paths, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- the work ---- */

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	int *drawing = arg;

	if (total && !*drawing) {
		ct_progress_end();
		ct_progress_begin("drawing");
		*drawing = 1;
	}
	ct_progress_at(done, total);
}

/* Why nothing came of it, and what to do. */
static int say_failure(const struct merge *merge, int status, const struct ct_chart_result *result,
		       const struct ct_err *err)
{
	ct_say("cannot merge %s: %s", merge->paths.path[0],
	       err->text[0] ? err->text : ct_status_text(status));
	if (result->missing_rank >= 0)
		ct_hint("'commtrace info' lists the ranks");
	else if (status == CT_NOTFOUND && result->duration_ns)
		ct_hint("the run lasts %s", ct_text_ns(result->duration_ns).s);
	else if (status == CT_FULL)
		ct_hint("choose fewer with --window or --ranks");
	return CT_CODE_FAILED;
}

/* Below it nobody sees in the picture that clocks were not one. */
#define CLOCK_ERR_NS 1000000u

static void say_limits(const struct ct_chart_result *result, uint64_t max_slices)
{
	if (result->cut) {
		ct_warn("only the run from %s on is in the file: %" PRIu64 " slices are the limit",
			ct_text_ns(result->from_ns).s, max_slices);
		ct_hint("--window and --ranks choose another part, --max-slices allows more");
	}
	if (result->not_drawn)
		ct_warn("%" PRIu64 " operations have no work drawn: when it began was not measured",
			result->not_drawn);
	if (result->unrelated)
		ct_warn("the clocks of %" PRIu32 " of the %" PRIu32
			" hosts are not related: their times differ from others' by an unknown "
			"error",
			result->unrelated, result->hosts);
	else if (result->clock_err_ns > CLOCK_ERR_NS)
		ct_warn("times of different hosts differ by up to %s more than they should",
			ct_text_ns(result->clock_err_ns).s);
}

static void say_done(const struct merge *merge, const struct ct_chart_result *result,
		     const struct ct_perfetto_size *size)
{
	printf("merged %" PRIu32 " ranks: %" PRIu64 " slices (%" PRIu64 " unfinished), %" PRIu64
	       " arrows, %s into %s\n",
	       result->ranks, result->slices, result->unfinished, result->flows,
	       ct_text_bytes(size->bytes).s, merge->out_path);
	puts("open it at https://ui.perfetto.dev");
}

/* Draw into the open file. 0 or a status. */
static int draw(struct merge *merge, const struct ct_run *run, FILE *file,
		struct ct_chart_result *result, struct ct_perfetto_size *size, struct ct_err *err)
{
	struct ct_perfetto *perfetto = NULL;
	struct ct_tuples *tuples = NULL;
	struct ct_chart_sink sink = { 0 };
	int drawing = 0, status = CT_NOMEM;

	if (merge->format == FORMAT_PFTRACE)
		perfetto = ct_perfetto_new(file, DEFLATE_LEVEL);
	else
		tuples = ct_tuples_new(file);
	if (perfetto)
		sink = ct_perfetto_sink(perfetto);
	else if (tuples)
		sink = ct_tuples_sink(tuples);
	merge->chart.progress = on_progress;
	merge->chart.progress_arg = &drawing;
	ct_progress_begin("analyzing, ops");
	if (perfetto || tuples)
		status = ct_chart_draw(run, &merge->chart, &sink, result, err);
	ct_progress_end();
	if (status == CT_OK && perfetto)
		status = ct_perfetto_check(perfetto, size, err);
	if (status == CT_FULL && !err->text[0])
		ct_fail(err, CT_FULL, "the file would be larger than 1 GB");
	ct_perfetto_free(perfetto);
	ct_tuples_free(tuples);
	return status;
}

static int write_all(struct merge *merge, const struct ct_run *run)
{
	struct ct_perfetto_size size = { 0 };
	struct ct_chart_result result;
	struct ct_err err = { 0 };
	struct ct_out out;
	int code = ct_out_open(&out, merge->out_path, merge->force), status;

	if (code)
		return code;
	errno = 0;
	status = draw(merge, run, out.file, &result, &size, &err);
	if (ferror(out.file)) {
		out.error = errno;
		return ct_out_close(&out);
	}
	if (status != CT_OK) {
		ct_out_drop(&out);
		return say_failure(merge, status, &result, &err);
	}
	say_limits(&result, merge->chart.max_slices);
	code = ct_out_close(&out);
	if (!code && merge->format == FORMAT_PFTRACE && strcmp(merge->out_path, "-") != 0)
		say_done(merge, &result, &size);
	return code;
}

int ct_cmd_merge(int argc, char **argv)
{
	struct merge merge = { .chart = { .attempt = -1,
					  .to_ns = UINT64_MAX,
					  .max_slices = strtoull(SLICES, NULL, 10),
					  .flows = CT_FLOWS_LAUNCH } };
	const struct ct_options options = {
		.command = "merge",
		.table = table,
		.take = take,
		.into = &merge,
		.example = "  commtrace merge run1 -o run1.pftrace\n"
			   "  commtrace merge run1 -o hang.pftrace --window 55s.. --ranks 0-7",
	};
	struct ct_run *run = NULL;
	int code = ct_options_parse(&options, argc, argv);

	if (code >= 0)
		goto out;
	code = CT_CODE_USAGE;
	merge.format = ct_out_format("merge", FORMATS, "pftrace tsv", merge.format_word,
				     merge.out_path);
	if (merge.format < 0)
		goto out;
	if (!merge.out_path && merge.format == FORMAT_PFTRACE) {
		ct_usage("merge", "'merge' needs -o FILE: the timeline to write");
		goto out;
	}
	merge.chart.ranks = merge.ranks;
	merge.chart.n_ranks = merge.n_ranks;
	code = ct_open_run("merge", &merge.paths, &run);
	if (!code)
		code = write_all(&merge, run);
out:
	ct_run_close(run);
	ct_paths_fini(&merge.paths);
	free(merge.ranks);
	return code;
}
