/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/merge_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/codes.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/say.h"

#define FORMATS "pftrace tuples"
#define COLORS "op instance"	      /* enum ct_chart_color */
#define FLOWS "none launch blame all" /* enum ct_chart_flows */

/* A browser opens 4 million slices in half a minute and 1.3 GB; a file of 1 GB, which takes three times as much
 * memory, is the end. */
#define SLICES "4000000"
#define MAX_SLICES 8000000

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
	  "Most slices of a file (default " SLICES
	  "). A run with more gets an overview in FILE, and "
	  "details around the worst findings beside it; of what --window and --ranks choose, the "
	  "end "
	  "is kept",
	  0 },
	{ "flows", CT_KEY_FLOWS, "WHICH", 0,
	  "Arrows: launch from calls to their work on the GPU; blame (default): also from those "
	  "who "
	  "waited longest to whom they waited for, where a finding tells of it; all: also through "
	  "the ranks of each operation; none",
	  0 },
	{ "--color=op|instance", 0, 0, OPTION_DOC,
	  "Colours of slices: by operation (default), or one for each collective on all its ranks",
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

static int take_window(struct ct_merge *merge, const char *arg)
{
	const char
		*hint = "it reads FROM..TO, times since the run began with their unit: 10s..12.5s, "
			"..500ms, 1m..";
	const char *dots = strstr(arg, ".."), *to = dots ? dots + 2 : NULL;

	merge->has_window = 1;
	merge->chart.from_ns = 0;
	merge->chart.to_ns = UINT64_MAX;
	if (!dots || (dots > arg && take_time(arg, dots, &merge->chart.from_ns) < 0) ||
	    (*to && take_time(to, to + strlen(to), &merge->chart.to_ns) < 0))
		return bad("--window", arg, hint);
	if (merge->chart.from_ns >= merge->chart.to_ns)
		return bad("--window", arg, "it ends before it begins");
	return 0;
}

static int add_rank(struct ct_merge *merge, long rank)
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

static int take_ranks(struct ct_merge *merge, const char *arg)
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
	struct ct_merge *merge = into;
	long long number;
	int place;

	switch (key) {
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
	case CT_KEY_COLOR:
		place = ct_option_word("merge", "--color", COLORS, arg);
		merge->chart.color = (enum ct_chart_color)place;
		return place < 0 ? CT_CODE_USAGE : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int ct_merge_options(struct ct_merge *merge, int argc, char **argv)
{
	const struct ct_option_put puts[] = {
		{ 'o', .text = &merge->out_path },
		{ CT_KEY_FORMAT, .text = &merge->format_word },
		{ CT_KEY_FORCE, .flag = &merge->force },
		{ 0 },
	};
	const struct ct_options options = {
		.command = "merge",
		.table = table,
		.puts = puts,
		.paths = &merge->paths,
		.take = take,
		.into = merge,
		.colors = COLORS,
		.example = "  commtrace merge run1 -o run1.pftrace\n"
			   "  commtrace merge run1 -o hang.pftrace --window 55s.. --ranks 0-7",
	};
	int code;

	*merge = (struct ct_merge){ .chart = { .attempt = -1,
					       .to_ns = UINT64_MAX,
					       .max_slices = strtoull(SLICES, NULL, 10),
					       .split = CT_SPLIT_DETAILS,
					       .flows = CT_FLOWS_BLAME } };
	code = ct_options_parse(&options, argc, argv);
	if (code >= 0)
		return code;
	merge->format = ct_out_format("merge", FORMATS, "pftrace tsv", merge->format_word,
				      merge->out_path);
	if (merge->format < 0)
		return CT_CODE_USAGE;
	if (!merge->out_path && merge->format == CT_MERGE_PFTRACE)
		return ct_usage("merge", "'merge' needs -o FILE: the timeline to write");
	merge->chart.ranks = merge->ranks;
	merge->chart.n_ranks = merge->n_ranks;
	if (merge->has_window || merge->ranks)
		merge->chart.split = CT_SPLIT_END;
	return -1;
}

void ct_merge_options_fini(struct ct_merge *merge)
{
	ct_paths_fini(&merge->paths);
	free(merge->ranks);
}
