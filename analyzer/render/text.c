/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/model/names.h"
#include "trace/ops.h"
#include "trace/text.h"

enum { CT_LINE = 4096 };

struct ct_text ct_text_to(FILE *out, const struct ct_text_style *style)
{
	return (struct ct_text){ .out = out,
				 .color = style && style->color,
				 .unwrapped = style && style->unwrapped };
}

struct ct_text ct_text_screen(const struct ct_text *text)
{
	struct ct_text screen = *text;

	screen.unwrapped = 0;
	screen.columns = CT_TEXT_SCREEN;
	return screen;
}

void ct_text_empty(struct ct_text *text)
{
	ct_text_line(text, CT_COLOR_NONE, "%s", "");
}

void ct_text_head(struct ct_text *text, const char *title)
{
	ct_text_empty(text);
	ct_text_line(text, CT_COLOR_BOLD, "%s", title);
}

static int is_first_byte(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

void ct_text_clip(char *to, size_t cap, const char *from, size_t columns)
{
	size_t seen = 0, len = strlen(from), keep = len, dots_at = len;

	for (size_t i = 0; i < len; i++) {
		if (!is_first_byte(from[i]))
			continue;
		if (seen == (columns > 3 ? columns - 3 : 0))
			dots_at = i;
		if (seen++ == columns) {
			keep = dots_at;
			break;
		}
	}
	if (keep > cap - 4)
		keep = cap - 4;
	memmove(to, from, keep);
	strcpy(to + keep, keep < len ? "..." : "");
}

/* Bytes of the first `n` characters. */
static size_t bytes_of(const char *text, size_t n)
{
	size_t at = 0;

	while (text[at] && (!is_first_byte(text[at]) || n-- > 0))
		at++;
	return at;
}

void ct_text_short_name(char *to, size_t cap, const char *name, size_t columns)
{
	static const char prefix[] = "MPI_COMM_";

	if (strncmp(name, prefix, sizeof(prefix) - 1) == 0 && name[sizeof(prefix) - 1])
		name += sizeof(prefix) - 1;
	ct_name_fit(to, cap, name, columns);
}

void ct_text_share(char *to, size_t cap, double pct, const char *about, const char *of,
		   const char *where)
{
	struct ct_unit_text share = ct_prose_pct(pct);

	if (isnan(pct))
		snprintf(to, cap, "n/a %s", where);
	else if (share.s[0] == '<')
		snprintf(to, cap, "less than %s of %s %s", share.s + 1, of, where);
	else
		snprintf(to, cap, "%s%s of %s %s", about, share.s, of, where);
}

static const char *const codes[] = { "", "\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m" };

/* Lines contain names and paths of foreign programs: bytes that are not text are shown as '?', so
 * that they cannot control the terminal. */
static void __attribute__((format(printf, 2, 0)))
format(char line[CT_LINE], const char *fmt, va_list ap)
{
	char raw[CT_LINE];

	vsnprintf(raw, sizeof(raw), fmt, ap);
	ct_text_clean(line, CT_LINE, raw, strlen(raw));
}

/* One line of the output, behind `spaces`. */
static void put(struct ct_text *text, enum ct_color color, unsigned spaces, const char *line,
		size_t len)
{
	int colored = text->color && color != CT_COLOR_NONE;

	while (len > 0 && line[len - 1] == ' ')
		len--;
	if (text->out)
		fprintf(text->out, "%s%*s%.*s%s\n", colored ? codes[color] : "", (int)spaces, "",
			(int)len, line, colored ? "\033[0m" : "");
	text->lines++;
}

static size_t columns_of(const struct ct_text *text)
{
	return text->columns ? text->columns : CT_TEXT_COLUMNS;
}

void ct_text_line(struct ct_text *text, enum ct_color color, const char *fmt, ...)
{
	char line[CT_LINE];
	va_list ap;

	va_start(ap, fmt);
	format(line, fmt, ap);
	va_end(ap);
	if (!text->unwrapped)
		ct_text_clip(line, sizeof(line), line, columns_of(text));
	put(text, color, 0, line, strlen(line));
}

/* Is the space at `at` inside a figure: between a number and its unit, or beside its "±"? */
static int is_in_figure(const char *line, size_t at)
{
	/* those of rates, too: GB/s */
	static const char *const units[] = { "ns", "us", "ms",	"s",   "B",   "kB",  "MB", "GB",
					     "TB", "PB", "KiB", "MiB", "GiB", "TiB", "%" };
	static const char sign[] = "±";
	const size_t len = sizeof(sign) - 1;

	if (strncmp(line + at + 1, sign, len) == 0 ||
	    (at >= len && memcmp(line + at - len, sign, len) == 0))
		return 1;
	if (!at || !strchr("0123456789", line[at - 1]))
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i]);

		if (strncmp(line + at + 1, units[i], n) == 0 &&
		    !isalnum((unsigned char)line[at + 1 + n]))
			return 1;
	}
	return 0;
}

/* Bytes of `line` that fit `columns`: up to a space outside figures, or a word that is longer than
 * all of them is broken. */
static size_t fitting(const char *line, size_t columns)
{
	size_t all = bytes_of(line, columns), n = all;

	if (!line[all] || (line[all] == ' ' && !is_in_figure(line, all)))
		return all;
	while (n > 0 && (line[n - 1] != ' ' || is_in_figure(line, n - 1)))
		n--;
	return n && strspn(line, " ") < n ? n : all;
}

void ct_text_wrap(struct ct_text *text, enum ct_color color, unsigned hanging, const char *fmt, ...)
{
	unsigned indent = 0;
	char line[CT_LINE];
	const char *at = line;
	va_list ap;

	va_start(ap, fmt);
	format(line, fmt, ap);
	va_end(ap);
	do {
		size_t n = text->unwrapped ? strlen(at) : fitting(at, columns_of(text) - indent);

		if (text->end && text->lines + 1 >= text->end && at[n]) {
			ct_text_clip(line, sizeof(line), at, columns_of(text) - indent);
			put(text, color, indent, line, strlen(line));
			return;
		}
		put(text, color, indent, at, n);
		at += n;
		at += strspn(at, " ");
		indent = hanging;
	} while (*at);
}

void ct_text_row(struct ct_text *text, const char *word, const char *what)
{
	if (what && *what)
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_ROW, "  %-*s%s", (int)CT_TEXT_ROW - 2,
			     word, what);
}

void ct_text_rowf(struct ct_text *text, const char *word, const char *fmt, ...)
{
	char what[CT_LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	ct_text_row(text, word, what);
}

void ct_text_command(struct ct_text *text, const char *word, const char *command)
{
	struct ct_text whole = *text;

	whole.unwrapped = 1;
	ct_text_row(&whole, word, command);
	text->lines = whole.lines;
}

void ct_text_dtype(char *to, unsigned dtype)
{
	static const char *const shorter[][2] = { { "float", "f" },
						  { "bfloat", "bf" },
						  { "int", "i" },
						  { "uint", "u" },
						  { "complex", "c" } };
	const char *name = ct_dtype_name(dtype);

	to[0] = '\0';
	/* only its width is known */
	if (name && strncmp(name, "elem", 4) == 0) {
		snprintf(to, 16, "%.2s-byte", name + 4);
		return;
	}
	for (size_t i = 0; name && i < sizeof(shorter) / sizeof(shorter[0]); i++) {
		size_t len = strlen(shorter[i][0]);

		if (strncmp(name, shorter[i][0], len) == 0) {
			snprintf(to, 16, "%s%.8s", shorter[i][1], name + len);
			return;
		}
	}
	if (name)
		snprintf(to, 16, "%.8s", name);
}

int ct_text_runs(char *to, size_t cap, const struct ct_text_style *style, const char *dir)
{
	const char *const *paths = style && style->n_paths ? style->paths : &dir;
	size_t n = style && style->n_paths ? style->n_paths : dir != NULL, at = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = at + 1 < cap ? ct_text_quote(to + at + (i > 0), cap - at - (i > 0),
							  paths[i])
					  : 0;

		if (!len)
			return 0;
		if (i)
			to[at++] = ' ';
		at += len;
	}
	return n > 0;
}
