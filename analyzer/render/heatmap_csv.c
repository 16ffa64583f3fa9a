/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/heatmap.h"

#include <inttypes.h>
#include <string.h>

/* As RFC 4180 has it. Names come from foreign programs: one that a spreadsheet would take for a
 * formula gets a ' before it. */
static void put_field(const char *text, FILE *out)
{
	int is_formula = text[0] && strchr("=+-@", text[0]),
	    is_quoted = strpbrk(text, "\",") != NULL;

	if (is_quoted)
		fputc('"', out);
	if (is_formula)
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (is_quoted)
		fputc('"', out);
}

static void put_cell(const struct ct_heatmap *p, uint64_t value, FILE *out)
{
	if (value == CT_HEATMAP_NOTHING)
		fputc('-', out);
	else if (value != CT_HEATMAP_UNKNOWN && p->unit == CT_HEATMAP_RATIO)
		fprintf(out, "%" PRIu64 ".%06" PRIu64, value / CT_HEATMAP_PARTS,
			value % CT_HEATMAP_PARTS);
	else if (value != CT_HEATMAP_UNKNOWN)
		fprintf(out, "%" PRIu64, value);
}

int ct_heatmap_csv(const struct ct_heatmap *p, FILE *out)
{
	fprintf(out, "# %s\n# unit: %s; rows: %s; columns: %s; empty: not known; -: %s\n", p->title,
		ct_heatmap_unit(p), p->rows.title, p->columns.title, p->nothing);
	for (size_t i = 0; i < p->n_notes; i++)
		fprintf(out, "# %s\n", p->notes[i]);
	put_field(p->rows.title, out);
	for (size_t c = 0; c < p->columns.n; c++) {
		fputc(',', out);
		put_field(p->columns.keys[c], out);
	}
	for (size_t r = 0; r < p->rows.n; r++) {
		fputc('\n', out);
		put_field(p->rows.keys[r], out);
		for (size_t c = 0; c < p->columns.n; c++) {
			fputc(',', out);
			put_cell(p, p->values[r * p->columns.n + c], out);
		}
	}
	fputc('\n', out);
	return CT_OK;
}
