/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/heatmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/heatmap_layout.h"
#include "analyzer/render/png_image.h"

/* Up to here each cell is an element of its own that tells its value; more make viewers slow, and an image stands for all. */
#define CELLS 4096u
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

static void put_head(const struct ct_picture *p, const struct ct_heatmap_layout *l, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" role=\"img\" "
		"font-family=\"'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, "
		"monospace\" font-size=\"%u\">\n<title>",
		l->width, l->height, l->width, l->height, CT_HEATMAP_FONT);
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
		CT_HEATMAP_UNKNOWN, CT_HEATMAP_HATCH);
	fprintf(out, "<rect width=\"%u\" height=\"%u\" fill=\"#%06x\"/>\n", l->width, l->height,
		CT_HEATMAP_GROUND);
}

/* "from rank 3, to rank 5: 1.23MB" */
static void put_cell_title(const struct ct_picture *p, size_t r, size_t c, FILE *out)
{
	fputs("<title>", out);
	put_text(p->rows.word, out);
	fputc(' ', out);
	put_text(p->rows.names[r], out);
	fputs(", ", out);
	put_text(p->columns.word, out);
	fputc(' ', out);
	put_text(p->columns.names[c], out);
	fputs(": ", out);
	put_text(ct_picture_text(p, p->values[r * p->columns.n + c]).s, out);
	fputs("</title></rect>\n", out);
}

static void put_cells(const struct ct_picture *p, const struct ct_heatmap_layout *l, FILE *out)
{
	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	for (size_t r = 0; r < p->rows.n; r++) {
		for (size_t c = 0; c < p->columns.n; c++) {
			float shade = p->shades[r * p->columns.n + c];
			const struct ct_heatmap_box box = { l->plot.x + (unsigned)c * l->cell_width,
							    l->plot.y +
								    (unsigned)r * l->cell_height,
							    l->cell_width, l->cell_height };

			if (isnan(shade))
				put_unknown(&box, ">", out);
			else
				put_rect(&box,
					 shade < 0 ? CT_HEATMAP_BLANK
						   : ct_picture_colour(p->ramp, shade),
					 ">", out);
			put_cell_title(p, r, c, out);
		}
	}
	fputs("</g>\n", out);
}

static void put_base64(const unsigned char *bytes, size_t n, FILE *out)
{
	static const char
		digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (i + 2 < n ? bytes[i + 2] : 0);

		fputc(digits[three >> 18], out);
		fputc(digits[three >> 12 & 63], out);
		fputc(i + 1 < n ? digits[three >> 6 & 63] : '=', out);
		fputc(i + 2 < n ? digits[three & 63] : '=', out);
	}
}

/* A pixel a cell, which the viewer makes as large as they are. */
static int put_image(const struct ct_picture *p, const struct ct_heatmap_layout *l, FILE *out)
{
	struct ct_png_image image = { (uint32_t)p->columns.n, (uint32_t)p->rows.n,
				      malloc(p->rows.n * p->columns.n) };
	char *bytes = NULL;
	size_t n = 0;
	FILE *file = image.pixels ? open_memstream(&bytes, &n) : NULL;
	int st = CT_NOMEM;

	if (file) {
		for (size_t i = 0; i < p->rows.n * p->columns.n; i++)
			image.pixels[i] = ct_png_shade(p->shades[i]);
		st = ct_png_write(&image, p->ramp, file);
		if (fclose(file) != 0)
			st = CT_NOMEM;
	}
	if (st == CT_OK) {
		fprintf(out,
			"<image x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" "
			"preserveAspectRatio=\"none\" "
			"style=\"image-rendering:crisp-edges;image-rendering:pixelated\" "
			"href=\"data:image/png;base64,",
			l->plot.x, l->plot.y, l->plot.width, l->plot.height);
		put_base64((const unsigned char *)bytes, n, out);
		fputs("\"/>\n", out);
	}
	free(bytes);
	free(image.pixels);
	return st;
}

static void put_legend(const struct ct_picture *p, const struct ct_heatmap_layout *l, FILE *out)
{
	unsigned step = l->scale.width / SCALE_STEPS;

	fputs("<g shape-rendering=\"crispEdges\">\n", out);
	for (unsigned i = 0; i < SCALE_STEPS; i++) {
		const struct ct_heatmap_box box = { l->scale.x + i * step, l->scale.y, step,
						    l->scale.height };

		put_rect(&box, ct_picture_colour(p->ramp, (double)i / (SCALE_STEPS - 1)), "/>\n",
			 out);
	}
	if (l->blank.width)
		put_rect(&l->blank, CT_HEATMAP_BLANK, " stroke=\"#868e98\"/>\n", out);
	if (l->unknown.width)
		put_unknown(&l->unknown, "/>\n", out);
	fprintf(out,
		"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"none\" "
		"stroke=\"#%06x\"/>\n</g>\n",
		l->plot.x, l->plot.y, l->plot.width, l->plot.height, CT_HEATMAP_AXIS);
}

static void put_texts(const struct ct_heatmap_layout *l, FILE *out)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	for (size_t i = 0; i < l->n_texts; i++) {
		const struct ct_heatmap_text *t = &l->texts[i];

		fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"#%06x\"", t->x,
			t->y, anchors[t->anchor + 1],
			t->is_soft ? CT_HEATMAP_SOFT : CT_HEATMAP_INK);
		if (t->is_title)
			fprintf(out, " font-size=\"%u\"", CT_HEATMAP_TITLE);
		fputc('>', out);
		put_text(t->text, out);
		fputs("</text>\n", out);
	}
}

int ct_heatmap_svg(const struct ct_picture *picture, FILE *out)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_heatmap_layout l;
	int st = memory ? ct_heatmap_lay_out(picture, memory, &l) : CT_NOMEM;

	if (st == CT_OK) {
		put_head(picture, &l, out);
		if (picture->rows.n * picture->columns.n <= CELLS)
			put_cells(picture, &l, out);
		else
			st = put_image(picture, &l, out);
		put_legend(picture, &l, out);
		put_texts(&l, out);
		fputs("</svg>\n", out);
	}
	ct_arena_free(memory);
	return st;
}
