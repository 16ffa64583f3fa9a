/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/top/top_screen.h"

#include <curses.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/base/units.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "trace/clock.h"

#define KEY_OF_ESCAPE 27 /* fact: of ASCII, which curses has no name for */
#define TICK_MS 100	 /* size: for a key; a person does not notice the delay */

enum { PLAIN, BAD, WARN }; /* pairs of colors */

struct screen {
	const struct ct_top *top;
	struct ct_live *live;
	const struct ct_live_view *view; /* NULL: nothing recorded yet */
	struct ct_top_table table;
	enum ct_top_column sort;
	int reverse, is_frozen, is_detailed, is_typing;
	char filter[64];
	uint32_t first, at; /* row at the top, and the selected one */
	int selected_rank;  /* that it is of, as rows move */
};

/* One line, cut where the terminal ends. */
static void put(int y, int x, const char *text)
{
	if (y >= 0 && y < LINES && x < COLS)
		mvaddnstr(y, x, text, COLS - x);
}

static int attribute_of(const struct ct_top_row *row)
{
	switch (row->state) {
	case CT_TOP_IS_STALLED:
		return A_BOLD | COLOR_PAIR(BAD);
	case CT_TOP_IS_NOT_ENTERED:
		return A_BOLD | A_UNDERLINE | COLOR_PAIR(BAD);
	case CT_TOP_IS_SLOW:
		return A_BOLD | COLOR_PAIR(WARN);
	case CT_TOP_IS_ENDED:
		return A_DIM;
	case CT_TOP_IS_RUNNING:
		break;
	}
	return A_NORMAL;
}

static void draw_row(int y, const struct ct_top_row *row)
{
	int x = 0;

	for (int c = 0; c < CT_TOP_COLUMNS && x < COLS; c++) {
		const int width = ct_top_columns[c].width;
		char text[CT_TOP_CELL];

		ct_top_cell(row, (enum ct_top_column)c, text);
		mvprintw(y, x, "%-*.*s", COLS - x < width ? COLS - x : width, width, text);
		x += width + 1;
	}
}

static void draw_headings(int y, const struct screen *s)
{
	int x = 0;

	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	for (int c = 0; c < CT_TOP_COLUMNS && x < COLS; c++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%s", ct_top_columns[c].heading,
			 c == (int)s->sort ? (s->reverse ? "^" : "v") : "");
		put(y, x, text);
		x += ct_top_columns[c].width + 1;
	}
	attroff(A_REVERSE);
}

/* The selected rank's communicators. */
static void draw_detail(const struct screen *s, int y)
{
	const struct ct_top_row *row = s->table.n ? &s->table.rows[s->at] : NULL;
	char line[256];

	if (!row)
		return;
	snprintf(line, sizeof(line),
		 "rank %s, pid %" PRIu32 ", %s: heartbeat %s ago, last call %s ago",
		 ct_text_rank(row->rank->rank).s, row->rank->pid, row->rank->host,
		 ct_prose_ns(row->rank->beat_ns).s, ct_prose_ns(row->rank->idle_ns).s);
	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	put(y++, 0, line);
	attroff(A_REVERSE);
	snprintf(line, sizeof(line), "%-24s %-9s %6s %12s %8s  %-16s %s", "COMMUNICATOR", "ROLE",
		 "RANKS", "LATEST", "BEHIND", "OPERATION", "AGE");
	put(y++, 0, line);
	for (uint32_t c = 0; c < row->rank->n_comms && y < LINES; c++) {
		const struct ct_live_comm *comm = &row->rank->comms[c];

		snprintf(line, sizeof(line),
			 "%-24.24s %-9s %6" PRIu32 " %12" PRIu64 " %8" PRIu64 "  %-16s %s",
			 comm->name, comm->role, comm->nranks,
			 comm->next_seq ? comm->next_seq - 1 : 0, comm->behind,
			 comm->op ? comm->op : "", ct_prose_ns(comm->age_ns).s);
		put(y++, 0, line);
	}
}

static void draw(struct screen *s)
{
	const int detail = s->is_detailed && LINES > 8 ? LINES / 2 : 0;
	const int rows = LINES - 2 - detail > 0 ? LINES - 2 - detail : 0;
	char line[256] = "";

	erase();
	if (!s->view) {
		snprintf(line, sizeof(line), "nothing recorded in %s yet", s->top->path);
		put(0, 0, line);
		refresh();
		return;
	}
	ct_top_headline(&s->table, s->view, line, sizeof(line));
	if (s->is_frozen)
		strncat(line, " [frozen]", sizeof(line) - strlen(line) - 1);
	put(0, 0, line);
	if (s->is_typing || s->filter[0]) {
		snprintf(line, sizeof(line), " filter: %s%s", s->filter, s->is_typing ? "_" : "");
		put(0, COLS > (int)strlen(line) ? COLS - (int)strlen(line) : 0, line);
	}
	if (LINES > 1)
		draw_headings(1, s);
	if (s->at < s->first)
		s->first = s->at;
	if (rows && s->at >= s->first + (uint32_t)rows)
		s->first = s->at - (uint32_t)rows + 1;
	for (int i = 0; i < rows && s->first + (uint32_t)i < s->table.n; i++) {
		const struct ct_top_row *row = &s->table.rows[s->first + (uint32_t)i];
		const int attribute = attribute_of(row) |
				      (s->first + (uint32_t)i == s->at ? A_STANDOUT : 0);

		attron(attribute);
		draw_row(2 + i, row);
		attroff(attribute);
	}
	if (detail)
		draw_detail(s, LINES - detail);
	refresh();
}

/* Put the rows in order again, with the selection where its rank is. */
static int arrange(struct screen *s)
{
	struct ct_top_table table;

	if (!s->view)
		return CT_OK;
	if (ct_top_fill(&table, s->view, s->top->stall_ns, s->sort, s->reverse, s->filter) != CT_OK)
		return CT_NOMEM;
	free(s->table.rows);
	s->table = table;
	for (uint32_t i = 0; i < table.n; i++) {
		if (table.rows[i].rank->rank == s->selected_rank)
			s->at = i;
	}
	if (s->at >= table.n)
		s->at = table.n ? table.n - 1 : 0;
	return CT_OK;
}

static void select_row(struct screen *s, int64_t at)
{
	if (!s->table.n)
		return;
	s->at = at < 0 ? 0 : at >= s->table.n ? s->table.n - 1 : (uint32_t)at;
	s->selected_rank = s->table.rows[s->at].rank->rank;
}

static void type(struct screen *s, int key)
{
	size_t n = strlen(s->filter);

	if (key == '\n' || key == KEY_ENTER || key == KEY_OF_ESCAPE)
		s->is_typing = 0;
	if (key == KEY_OF_ESCAPE)
		s->filter[0] = '\0';
	else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n)
		s->filter[n - 1] = '\0';
	else if (key >= ' ' && key < 127 && n + 1 < sizeof(s->filter))
		s->filter[n] = (char)key, s->filter[n + 1] = '\0';
}

/* 1: the end. */
static int press(struct screen *s, int key)
{
	if (s->is_typing) {
		type(s, key);
		return 0;
	}
	switch (key) {
	case 'q':
		return 1;
	case 's':
		s->sort = (enum ct_top_column)((s->sort + 1) % CT_TOP_COLUMNS);
		break;
	case 'S':
		s->sort = (enum ct_top_column)((s->sort + CT_TOP_COLUMNS - 1) % CT_TOP_COLUMNS);
		break;
	case 'r':
		s->reverse = !s->reverse;
		break;
	case ' ':
	case 'f':
		s->is_frozen = !s->is_frozen;
		break;
	case '/':
		s->is_typing = 1;
		break;
	case KEY_OF_ESCAPE:
		s->filter[0] = '\0';
		break;
	case '\n':
	case KEY_ENTER:
		s->is_detailed = !s->is_detailed;
		break;
	case KEY_UP:
	case 'k':
		select_row(s, (int64_t)s->at - 1);
		break;
	case KEY_DOWN:
	case 'j':
		select_row(s, (int64_t)s->at + 1);
		break;
	case KEY_PPAGE:
		select_row(s, (int64_t)s->at - LINES / 2);
		break;
	case KEY_NPAGE:
		select_row(s, (int64_t)s->at + LINES / 2);
		break;
	default:
		break;
	}
	return 0;
}

/* Returns 0 at the end, or a failure. */
static int run(struct screen *s, struct ct_err *err)
{
	uint64_t due_ns = 0;

	for (;;) {
		int st = CT_OK, key;

		if (!s->is_frozen && ct_clock_ns(CLOCK_MONOTONIC) >= due_ns) {
			/* rows point into the view */
			s->table.n = 0;
			st = ct_live_look(s->live, s->top->slice_ns, &s->view, err);
			due_ns = s->view && s->view->is_behind
					 ? 0
					 : ct_clock_ns(CLOCK_MONOTONIC) + s->top->interval_ns;
		}
		if (st != CT_OK)
			return st;
		if (arrange(s) != CT_OK)
			return CT_NOMEM;
		draw(s);
		key = getch();
		if (ct_signals_deferred() || (key != ERR && press(s, key)))
			return CT_OK;
	}
}

/* Of a terminal that it knows, ncurses has the size, even where it found no space for a screen. */
static int say_no_screen(void)
{
	int rows = tigetnum("lines"), columns = tigetnum("cols");

	if (rows > 0 && columns > 0)
		ct_say("a terminal of %d rows and %d columns is too large", rows, columns);
	else
		ct_say("this terminal (TERM=%s) is not known",
		       getenv("TERM") ? getenv("TERM") : "");
	ct_hint("'commtrace top --once' needs none");
	return CT_CODE_FAILED;
}

int ct_top_screen(const struct ct_top *top, struct ct_live *live)
{
	struct screen s = { .top = top, .live = live, .sort = top->sort, .selected_rank = -2 };
	struct ct_err err = { .text = "" };
	SCREEN *terminal = newterm(NULL, stdout, stdin);
	int st;

	if (!terminal)
		return say_no_screen();
	ct_signals_defer();
	signal(SIGQUIT, SIG_IGN);
	if (top->filter)
		snprintf(s.filter, sizeof(s.filter), "%s", top->filter);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	set_escdelay(50);
	timeout(TICK_MS);
	if (has_colors() && ct_color_wanted(stdout)) {
		start_color();
		use_default_colors();
		init_pair(BAD, COLOR_RED, -1);
		init_pair(WARN, COLOR_YELLOW, -1);
	}
	st = run(&s, &err);
	endwin();
	delscreen(terminal);
	free(s.table.rows);
	if (st == CT_OK)
		return ct_signals_deferred();
	ct_say("cannot read the run: %s", err.text[0] ? err.text : ct_status_text(st));
	return CT_CODE_FAILED;
}
