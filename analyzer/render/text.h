/* SPDX-License-Identifier: Apache-2.0 */
/* text.h — lines that fit a terminal. Columns are counted in characters, not bytes. */
#ifndef CT_ANALYZER_RENDER_TEXT_H
#define CT_ANALYZER_RENDER_TEXT_H

#include <stdio.h>

#include "analyzer/render/render.h"

#define CT_TEXT_COLUMNS 100
#define CT_TEXT_SCREEN 80
#define CT_TEXT_ROW                                                                                \
	15u /* columns of the word of a row below a headline, and of the spaces around it */
#define CT_TEXT_LABEL 10u /* columns of the word that a line of facts begins with */

enum ct_color {
	CT_COLOR_NONE,
	CT_COLOR_BOLD,
	CT_COLOR_DIM,
	CT_COLOR_RED,
	CT_COLOR_YELLOW,
	CT_COLOR_GREEN
};

struct ct_text {
	FILE *out; /* NULL: lines are only counted */
	int color;
	int unwrapped;	/* 1: nothing is cut */
	size_t columns; /* 0: CT_TEXT_COLUMNS */
	int lines;
	int end; /* the line that wrapped text ends before, cut with "..."; 0: it goes on */
};

struct ct_text ct_text_to(FILE *out, const struct ct_text_style *style); /* style NULL: plain */

/* The same for what is read as prose, or pasted into a ticket: wrapped at CT_TEXT_SCREEN also in a
 * file. */
struct ct_text ct_text_screen(const struct ct_text *text);

void ct_text_empty(struct ct_text *text); /* a line */
/* An empty line, and a title. */
void ct_text_head(struct ct_text *text, const char *title);

/* One line, cut at CT_TEXT_COLUMNS with "..." at its end, unless lines are to be whole. */
void ct_text_line(struct ct_text *text, enum ct_color color, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same without cutting: text continues in further lines, broken at spaces, after `hanging`
 * columns. For text that must be read to its end: verdicts, findings, advice. */
void ct_text_wrap(struct ct_text *text, enum ct_color color, unsigned hanging, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Below a headline: a word, and behind it what is said, wrapped. NULL, "": nothing. */
void ct_text_row(struct ct_text *text, const char *word, const char *what);
void ct_text_rowf(struct ct_text *text, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A row whose command is to be pasted: in one line, however long. */
void ct_text_command(struct ct_text *text, const char *word, const char *command);

/* The run as words of a shell: as it was typed, or `dir`. 0: not known, or too long. */
int ct_text_runs(char *to, size_t cap, const struct ct_text_style *style, const char *dir);

/* Cut `from` to `columns` characters in `to` (4 * columns + 4 bytes are enough), dots where
 * something is gone. */
void ct_text_clip(char *to, size_t cap, const char *from, size_t columns);

/* A name in `columns` characters (at least 4; `to` as above): without "MPI_COMM_", and cut in the
 * middle, since names differ at their ends. */
void ct_text_short_name(char *to, size_t cap, const char *name, size_t columns);

/* "about 1.20% of the run in wrappers", "less than 0.01% of the run in wrappers", "n/a in wrappers"
 * (about: "about ", of: "the run", where: "in wrappers"). */
void ct_text_share(char *to, size_t cap, double pct, const char *about, const char *of,
		   const char *where);

/* "f32" for float32, "4-byte" for elem4, "" for none. `to` has space for 16 bytes. */
void ct_text_dtype(char *to, unsigned dtype);

#endif
