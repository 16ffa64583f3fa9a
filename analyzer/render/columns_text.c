/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"

/* A pair is one word, a cell of a table is read as prose. */
static struct ct_unit_text number(const struct ct_report_column *c, int is_pair, uint64_t value)
{
	struct ct_unit_text text;

	switch (c->unit) {
	case CT_UNIT_ns:
		return is_pair ? ct_text_ns(value) : ct_prose_ns(value);
	case CT_UNIT_bytes:
		return is_pair ? ct_text_bytes(value) : ct_prose_bytes(value);
	case CT_UNIT_size:
		return ct_text_size(value);
	case CT_UNIT_Bps:
		text = is_pair ? ct_text_Bps(value) : ct_prose_Bps(value);
		/* fields of the head are not repeated */
		if (value != CT_UNKNOWN && strstr(c->head, "/s"))
			*strchr(text.s, '/') = '\0';
		return text;
	case CT_UNIT_comm:
		snprintf(text.s, sizeof(text.s), "%016" PRIx64, value);
		return text;
	default:
		return ct_text_count(value);
	}
}

static void write_cell(char *to, size_t cap, const struct ct_report_column *c, int is_pair,
		       const void *row)
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
		snprintf(to, cap, "%s", number(c, is_pair, *(const uint64_t *)at).s);
		return;
	case CT_STORE_DOUBLE:
		real = *(const double *)at;
		if (c->unit == CT_UNIT_pct)
			snprintf(to, cap, "%s",
				 is_pair ? ct_text_pct(real).s : ct_prose_pct(real).s);
		else
			snprintf(to, cap, isnan(real) ? "n/a" : "%.0f", real);
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
		char cell[256];

		if (row)
			write_cell(cell, sizeof(cell), c, 0, row);
		else
			snprintf(cell, sizeof(cell), "%s", c->head);
		if (c->width < 0)
			ct_text_clip(cell, sizeof(cell), cell, (size_t)-c->width);
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

		write_cell(cell, sizeof(cell), c, 1, row);
		at += (size_t)snprintf(to + at, cap - at, "%s%s%s%s", at ? " " : "", c->head,
				       strchr(c->head, '~') ? "" : "=", cell);
	}
}
