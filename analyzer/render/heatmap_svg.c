/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/heatmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/heatmap_layout.h"

/* Up to here each cell is an element with its value; more make viewers slow, so areas of one color
 * replace them. */
#define CELLS 4096u
#define LEVELS 64u /* colours of such areas; and what has none */
#define LEVEL_UNKNOWN LEVELS
#define LEVEL_BLANK (LEVELS + 1)
#define SCALE_STEPS 60u

/* Text as XML may hold it: two characters that are printable elsewhere are none there. */
static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if (strncmp(text, "\xef\xbf\xbe", 3) == 0 ||
			 strncmp(text, "\xef\xbf\xbf", 3) == 0)
			text += 2;
		else
			fputc(*text, out);
	}
}

static void put_rect(const struct ct_heatmap_box *box, uint32_t colour, const char *end, FILE *out)
{
	fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%06x\"%s", box->x,
		box->y, box->width, box->height, colour, end);
}

static void put_unknown(const struct ct_heatmap_box *box, const char *end, FILE *out)
{
	fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"url(#unknown)\"%s",
		box->x, box->y, box->width, box->height, end);
}

static void put_head(const struct ct_heatmap *p, const struct ct_heatmap_layout *l, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" role=\"img\" "
		"font-family=\"'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, "
		"monospace\" font-size=\"%u\">\n<title>",
		l->width, l->height, l->width, l->height, CT_SVG_FONT);
	put_text(p->title, out);
	fputs("</title>\n<desc>", out);
	for (size_t i = 0; i < p->n_notes; i++) {
		put_text(p->notes[i], out);
		fputc(i + 1 < p->n_notes ? ' ' : '\n', out);
	}
	fprintf(out,
		"</desc>\n<defs><pattern id=\"unknown\" width=\"4\" height=\"4\" "
		"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"4\" height=\"4\" fill=\"#%06x\"/>"
		"<rect width=\"1\" height=\"4\" fill=\"#%06x\"/></pattern></defs>\n",
		CT_SVG_UNKNOWN, CT_SVG_HATCH);
	fprintf(out, "<rect width=\"%u\" height=\"%u\" fill=\"#%06x\"/>\n", l->width, l->height,
		CT_SVG_GROUND);
}

static int put_cells(const struct ct_heatmap *p, const struct ct_heatmap_layout *l,
		     struct ct_arena *memory, FILE *out)
{
	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	for (size_t r = 0; r < p->rows.n; r++) {
		for (size_t c = 0; c < p->columns.n; c++) {
			float shade = p->shades[r * p->columns.n + c];
			const struct ct_heatmap_box box = { l->plot.x + (unsigned)c * l->cell_width,
							    l->plot.y +
								    (unsigned)r * l->cell_height,
							    l->cell_width, l->cell_height };
			const char *text;

			if (isnan(shade))
				put_unknown(&box, ">", out);
			else
				put_rect(&box,
					 shade < 0 ? CT_SVG_BLANK
						   : ct_heatmap_colour(p->ramp, shade),
					 ">", out);
			text = ct_heatmap_cell_text(p, memory, r, c);
			if (!text)
				return CT_NOMEM;
			fputs("<title>", out);
			put_text(text, out);
			fputs("</title></rect>\n", out);
		}
	}
	fputs("</g>\n", out);
	return CT_OK;
}

/* Which of the colours of a large heatmap a cell is drawn in. */
static uint8_t level_of(float shade)
{
	if (isnan(shade))
		return LEVEL_UNKNOWN;
	return shade < 0 ? LEVEL_BLANK : (uint8_t)lround(fmin(shade, 1) * (LEVELS - 1));
}

/* Neighbours in a row that look the same are one box, and boxes of one colour one element. */
static void put_level(const struct ct_heatmap *p, const struct ct_heatmap_layout *l,
		      const uint8_t *levels, uint8_t level, FILE *out)
{
	for (size_t r = 0; r < p->rows.n; r++) {
		const uint8_t *row = levels + r * p->columns.n;

		for (size_t c = 0, end; c < p->columns.n; c = end) {
			size_t wide;

			for (end = c + 1; end < p->columns.n && row[end] == row[c];)
				end++;
			wide = (end - c) * l->cell_width;
			if (row[c] == level)
				fprintf(out, "M%zu %zuh%zuv%uh-%zuz", l->plot.x + c * l->cell_width,
					l->plot.y + r * l->cell_height, wide, l->cell_height, wide);
		}
	}
}

static int put_areas(const struct ct_heatmap *p, const struct ct_heatmap_layout *l,
		     struct ct_arena *memory, FILE *out)
{
	size_t n = p->rows.n * p->columns.n;
	uint8_t *levels = ct_arena_calloc(memory, n, 1), is_there[LEVEL_BLANK + 1] = { 0 };

	if (!levels)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++) {
		levels[i] = level_of(p->shades[i]);
		is_there[levels[i]] = 1;
	}
	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	put_rect(&l->plot, CT_SVG_BLANK, "/>\n", out);
	for (uint8_t level = 0; level <= LEVEL_UNKNOWN; level++) {
		if (!is_there[level])
			continue;
		fputs("<path d=\"", out);
		put_level(p, l, levels, level, out);
		if (level == LEVEL_UNKNOWN)
			fputs("\" fill=\"url(#unknown)\"/>\n", out);
		else
			fprintf(out, "\" fill=\"#%06x\"/>\n",
				ct_heatmap_colour(p->ramp, (double)level / (LEVELS - 1)));
	}
	fputs("</g>\n", out);
	return CT_OK;
}

static void put_legend(const struct ct_heatmap *p, const struct ct_heatmap_layout *l, FILE *out)
{
	unsigned step = l->scale.width / SCALE_STEPS;

	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	for (unsigned i = 0; i < SCALE_STEPS; i++) {
		const struct ct_heatmap_box box = { l->scale.x + i * step, l->scale.y, step,
						    l->scale.height };

		put_rect(&box, ct_heatmap_colour(p->ramp, (double)i / (SCALE_STEPS - 1)), "/>\n",
			 out);
	}
	if (l->blank.width)
		put_rect(&l->blank, CT_SVG_BLANK, " stroke=\"#868e98\"/>\n", out);
	if (l->unknown.width)
		put_unknown(&l->unknown, "/>\n", out);
	fprintf(out,
		"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"none\" "
		"stroke=\"#%06x\"/>\n</g>\n",
		l->plot.x, l->plot.y, l->plot.width, l->plot.height, CT_SVG_AXIS);
}

static void put_texts(const struct ct_heatmap_layout *l, FILE *out)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	for (size_t i = 0; i < l->n_texts; i++) {
		const struct ct_heatmap_label *t = &l->texts[i];

		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"#%06x\"", t->x,
			t->y, anchors[t->anchor + 1], t->is_soft ? CT_SVG_SOFT : CT_SVG_INK);
		if (t->is_title)
			fprintf(out, " font-size=\"%u\"", CT_SVG_TITLE);
		fputc('>', out);
		put_text(t->text, out);
		fputs("</text>\n", out);
	}
}

int ct_heatmap_svg(const struct ct_heatmap *heatmap, FILE *out)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_heatmap_layout l;
	int st = memory ? ct_heatmap_lay_out(heatmap, memory, &l) : CT_NOMEM;

	if (st == CT_OK && ct_arena_failed(memory))
		st = CT_NOMEM;
	if (st == CT_OK) {
		put_head(heatmap, &l, out);
		if (heatmap->rows.n * heatmap->columns.n <= CELLS)
			st = put_cells(heatmap, &l, memory, out);
		else
			st = put_areas(heatmap, &l, memory, out);
		put_legend(heatmap, &l, out);
		put_texts(&l, out);
		fputs("</svg>\n", out);
	}
	ct_arena_free(memory);
	return st;
}
