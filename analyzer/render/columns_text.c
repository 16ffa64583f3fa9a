/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/model/comm_spec.h"
#include "analyzer/model/names.h"
#include "analyzer/render/columns.h"

static struct ct_unit_text number(const struct ct_report_column *c, uint64_t value)
{
	struct ct_unit_text text;

	switch (c->unit) {
	case CT_UNIT_ns:
		return ct_prose_ns(value);
	case CT_UNIT_bytes:
		return ct_prose_bytes(value);
	case CT_UNIT_Bps:
		text = ct_prose_Bps(value);
		/* fields of the head are not repeated */
		if (value != CT_UNKNOWN && c->head && strstr(c->head, "/s"))
			*strchr(text.s, '/') = '\0';
		return text;
	case CT_UNIT_comm:
		if (!value)
			return ct_text_count(CT_UNKNOWN);
		snprintf(text.s, sizeof(text.s), "%016" PRIx64, value);
		return text;
	default:
		return ct_text_count(value);
	}
}

static void write_cell(char *to, size_t cap, const struct ct_report_column *c, const void *row)
{
	const char *at = (const char *)row + c->at, *text;
	double real;

	if (!ct_column_is_known(c, row)) {
		snprintf(to, cap, "n/a");
		return;
	}
	if (c->cell) {
		c->cell(to, cap, row);
		return;
	}
	switch (c->store) {
	case CT_STORE_U64:
		snprintf(to, cap, "%s", number(c, *(const uint64_t *)at).s);
		return;
	case CT_STORE_DOUBLE:
		real = *(const double *)at;
		if (c->unit == CT_UNIT_pct)
			snprintf(to, cap, "%s", ct_prose_pct(real).s);
		else
			snprintf(to, cap,
				 isnan(real)		      ? "n/a"
				 : c->unit == CT_UNIT_integer ? "%.0f"
							      : "%.3g",
				 real);
		return;
	case CT_STORE_INT:
	case CT_STORE_U32:
		if (!c->name) {
			snprintf(to, cap, c->store == CT_STORE_INT ? "%d" : "%u",
				 *(const unsigned *)at);
			return;
		}
		text = c->name(*(const unsigned *)at);
		break;
	default:
		text = *(const char *const *)at;
	}
	snprintf(to, cap, "%s", text ? text : c->none ? c->none : "n/a");
}

/* A line: heads, where `row` is NULL, or its cells; names are cut to their columns. */
static void write_line(char *line, size_t cap, const struct ct_columns *columns, const char *keys,
		       const void *row)
{
	const struct ct_report_column *c;
	size_t at = 0;

	while ((c = ct_columns_next(columns, &keys)) && at < cap) {
		char cell[256], whole[256];

		if (row)
			write_cell(cell, sizeof(cell), c, row);
		else
			snprintf(cell, sizeof(cell), "%s", c->head);
		if (row && c->unit == CT_UNIT_host && c->width <= -4) {
			memcpy(whole, cell, sizeof(whole));
			ct_host_fit(cell, sizeof(cell), whole, (size_t)-c->width);
		} else if (c->width < 0) {
			ct_text_clip(cell, sizeof(cell), cell, (size_t)-c->width);
		}
		at += (size_t)snprintf(line + at, cap - at, "%s%*s", at ? " " : "", c->width, cell);
	}
}

void ct_columns_head(struct ct_text *text, const struct ct_columns *columns, const char *keys)
{
	char line[1024];

	write_line(line, sizeof(line), columns, keys, NULL);
	ct_text_line(text, CT_COLOR_BOLD, "%s", line);
}

void ct_columns_row(struct ct_text *text, enum ct_color color, const struct ct_columns *columns,
		    const char *keys, const void *row)
{
	char line[1024];

	write_line(line, sizeof(line), columns, keys, row);
	ct_text_line(text, color, "%s", line);
}

void ct_columns_pairs(char *to, size_t cap, const struct ct_columns *columns, const char *keys,
		      const void *row)
{
	const struct ct_report_column *c;
	size_t at = 0;

	while ((c = ct_columns_next(columns, &keys)) && at < cap) {
		char cell[256];

		write_cell(cell, sizeof(cell), c, row);
		at += (size_t)snprintf(to + at, cap - at, "%s%s %s", at ? ", " : "", c->head, cell);
	}
}

/* 0: it is not known, not one value, or does not hold. */
static int fact(char *to, size_t cap, const struct ct_report_column *c, const void *row)
{
	if (c->n_at || (c->json && !c->cell) || c->rows)
		return 0;
	write_cell(to, cap, c, row);
	if (c->unit == CT_UNIT_comm && strcmp(to, "n/a") != 0)
		snprintf(to, cap, "%s",
			 ct_comm_digits(*(const uint64_t *)((const char *)row + c->at)).s);
	if (c->unit == CT_UNIT_yes && to[0] != '1')
		return 0;
	if (c->unit == CT_UNIT_yes)
		to[0] = '\0'; /* the title says it */
	return strcmp(to, "n/a") != 0 && to[0] != '-';
}

/* "29.9 ± 0.004 ms", in one unit; of others than times, bandwidths and percent as written. */
static void add_error(char *to, size_t cap, const struct ct_report_column *c,
		      const struct ct_report_column *err, const void *row)
{
	const char *value = (const char *)row + c->at, *of = (const char *)row + err->at;
	char text[64];

	if (!fact(text, sizeof(text), err, row))
		return;
	if (c->store == CT_STORE_DOUBLE && c->unit == CT_UNIT_pct)
		snprintf(to, cap, "%s",
			 ct_prose_pct_err(*(const double *)value, *(const double *)of).s);
	else if (c->store == CT_STORE_U64 && c->unit == CT_UNIT_ns)
		snprintf(to, cap, "%s",
			 ct_prose_ns_err((double)*(const uint64_t *)value,
					 (double)*(const uint64_t *)of)
				 .s);
	else if (c->store == CT_STORE_U64 && c->unit == CT_UNIT_Bps)
		snprintf(to, cap, "%s",
			 ct_prose_Bps_err((double)*(const uint64_t *)value,
					  (double)*(const uint64_t *)of)
				 .s);
	else
		snprintf(to + strlen(to), cap - strlen(to), " ± %s", text);
}

/* The values of an object inside another one: "4c8161ed ReduceScatter 40.0 MB". */
static void add_inside(char *to, size_t cap, const struct ct_report_column *c, const void *row)
{
	const struct ct_columns *columns = c->rows();
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < columns->n && at < cap; i++) {
		char cell[256];

		if (fact(cell, sizeof(cell), &columns->all[i], (const char *)row + c->at))
			at += (size_t)snprintf(to + at, cap - at, "%s%s", at ? " " : "", cell);
	}
}

static const struct ct_report_column *column(const struct ct_columns *columns, const char *key)
{
	return key ? ct_columns_next(columns, &key) : NULL;
}

/* The word that the line begins with needs no title: "steps     99", "links     edge". */
static const char *title_after(const char *word, const char *title)
{
	return strncmp(word, title, strlen(title)) == 0 ? "" : title;
}

void ct_columns_facts(struct ct_text *text, const char *word, const struct ct_columns *columns,
		      const char *keys, const char *key, const void *row)
{
	const struct ct_report_column *why = column(columns, "why") ?: column(columns, "why_not");
	const struct ct_report_column *c = column(columns, key);
	char line[1024] = "", cell[256];

	keys = keys ? keys : columns->page;
	if (why && fact(cell, sizeof(cell), why, row)) {
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "%-9s n/a: %s", word, cell);
		return;
	}
	if (c && !fact(cell, sizeof(cell), c, row))
		return;
	while ((c = ct_columns_next(columns, &keys))) {
		const struct ct_report_column *of = column(columns, c->err);
		const char *title = line[0] ? c->title : title_after(word, c->title);

		cell[0] = '\0';
		if (c->store == CT_STORE_ROW && ct_column_is_known(c, row)) {
			add_inside(cell, sizeof(cell), c, row);
			if (!cell[0])
				continue;
		} else if (!fact(cell, sizeof(cell), c, row)) {
			continue;
		}
		if (of)
			add_error(cell, sizeof(cell), c, of, row);
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s%s%s",
			 line[0] ? "; " : "", title, title[0] && cell[0] ? " " : "", cell);
	}
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "%-9s %s", word, line);
}

void ct_columns_most(struct ct_text *text, const char *word, const struct ct_columns *columns,
		     const char *keys, const char *key, const void *rows, size_t n)
{
	const struct ct_report_column *c = column(columns, key);
	const char *row = rows, *most = rows;
	uint64_t value, best = CT_UNKNOWN;

	for (size_t i = 0; c && i < n; i++, row += columns->size) {
		memcpy(&value, row + c->at, sizeof(value));
		if (value != CT_UNKNOWN && (best == CT_UNKNOWN || value > best)) {
			best = value;
			most = row;
		}
	}
	if (n)
		ct_columns_facts(text, word, columns, keys, key, most);
}
