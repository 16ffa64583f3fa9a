/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/top/top_screen.h"
#include "tools/commtrace/top/top_table.h"

/* size: of reading at once, between two frames: keys are answered within it; or without an end. */
#define SLICE_NS 200000000ull
#define WHOLE_NS UINT64_MAX / 4

static int say_failure(const struct ct_top *top, int st, const struct ct_err *err)
{
	ct_say("cannot read the run: %s", err->text[0] ? err->text : ct_status_text(st));
	(void)top;
	return CT_CODE_FAILED;
}

static void print_table(const struct ct_top_table *table, const struct ct_live_view *view)
{
	char line[256];

	ct_top_headline(table, view, line, sizeof(line));
	puts(line);
	for (int c = 0; c < CT_TOP_COLUMNS; c++)
		printf("%-*s ", ct_top_columns[c].width, ct_top_columns[c].heading);
	putchar('\n');
	for (uint32_t i = 0; i < table->n; i++) {
		for (int c = 0; c < CT_TOP_COLUMNS; c++) {
			char text[CT_TOP_CELL];

			ct_top_cell(&table->rows[i], (enum ct_top_column)c, text);
			printf("%-*s ", ct_top_columns[c].width, text);
		}
		putchar('\n');
	}
	if (table->n_stalled)
		puts("who is to blame: commtrace hang RUN");
	if (view->slow_why_not)
		printf("stragglers were not looked for: %s\n", view->slow_why_not);
}

static int print_once(const struct ct_top *top, struct ct_live *live, int as_json)
{
	const struct ct_live_view *view;
	struct ct_top_table table;
	struct ct_err err = { .text = "" };
	int st = ct_live_look(live, WHOLE_NS, &view, &err);

	if (st != CT_OK)
		return say_failure(top, st, &err);
	if (!view) {
		ct_say("nothing recorded in %s yet", top->path);
		return CT_CODE_FAILED;
	}
	if (ct_top_fill(&table, view, top->stall_ns, top->sort, 0, top->filter) != CT_OK)
		return say_failure(top, CT_NOMEM, &err);
	if (as_json) {
		struct ct_out out;
		int code = ct_out_open(&out, NULL, 0);

		code = code ? code : ct_out_json(&out, ct_top_json(&table, view));
		code = code ? code : ct_out_close(&out);
		free(table.rows);
		return code;
	}
	print_table(&table, view);
	free(table.rows);
	return ct_stdout_close();
}

/* Text, one table after the other: where there is no screen. */
static int print_on(const struct ct_top *top, struct ct_live *live)
{
	const struct timespec nap = { .tv_sec = (time_t)(top->interval_ns / 1000000000ull),
				      .tv_nsec = (long)(top->interval_ns % 1000000000ull) };

	for (;;) {
		int code = print_once(top, live, 0);

		if (code)
			return code;
		nanosleep(&nap, NULL);
	}
}

int ct_cmd_top(int argc, char **argv)
{
	struct ct_top top = { 0 };
	struct ct_live_options options = { 0 };
	struct ct_live *live = NULL;
	const char *ring_dirs[4], *sort;
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_top, argc, argv), format;

	if (code >= 0)
		goto out;
	format = ct_cli_format(&args);
	code = CT_CODE_USAGE;
	if (format < 0)
		goto out;
	if (!args.paths.n && getenv("COMMTRACE_DIR")) {
		top.path = getenv("COMMTRACE_DIR");
		options.paths = &top.path;
		options.n_paths = 1;
	} else if (!args.paths.n) {
		code = ct_usage("top", "'top' needs a RUN: the directory of a recording");
		goto out;
	} else {
		top.path = args.paths.path[0];
		options.paths = args.paths.path;
		options.n_paths = args.paths.n;
	}
	sort = ct_cli_text(&args, CT_OPTION_SORT);
	top.sort = ct_top_column_named(sort);
	top.filter = ct_cli_text(&args, CT_OPTION_FILTER);
	top.interval_ns = (uint64_t)ct_cli_number(&args, CT_OPTION_REFRESH, 0) * 1000000000ull;
	top.stall_ns = (uint64_t)ct_cli_number(&args, CT_OPTION_STALL_AFTER, 0) * 1000000000ull;
	top.slice_ns = SLICE_NS;
	ct_host_ring_dirs(NULL, ring_dirs);
	options.ring_dirs = ring_dirs;
	options.boot_id = ct_host_boot_id();
	live = ct_live_open(&options);
	if (!live)
		code = say_failure(&top, CT_NOMEM, &(struct ct_err){ .text = "" });
	else if (format == 1 || ct_cli_has(&args, CT_OPTION_ONCE))
		code = print_once(&top, live, format == 1);
	else if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		code = print_on(&top, live);
	else
		code = ct_top_screen(&top, live);
out:
	ct_live_close(live);
	ct_cli_fini(&args);
	return code;
}
