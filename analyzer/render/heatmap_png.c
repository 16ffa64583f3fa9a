/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/heatmap.h"

#include <math.h>
#include <string.h>

#include "analyzer/render/bitmap_font.h"
#include "analyzer/render/heatmap_layout.h"
#include "analyzer/render/png_image.h"

#define SCALE 2u /* pixels of a unit */
#define HATCH 4u /* units between the lines of what is not known */

/* All of it in pixels. What lies outside of the image is left out. */
static void fill(struct ct_png_image *image, struct ct_heatmap_box box, uint8_t colour)
{
	for (unsigned y = box.y; y < box.y + box.height && y < image->height; y++)
		for (unsigned x = box.x; x < box.x + box.width && x < image->width; x++)
			image->pixels[(size_t)y * image->width + x] = colour;
}

static struct ct_heatmap_box pixels(struct ct_heatmap_box box)
{
	return (struct ct_heatmap_box){ box.x * SCALE, box.y * SCALE, box.width * SCALE,
					box.height * SCALE };
}

/* Lines from the lower left to the upper right. */
static void hatch(struct ct_png_image *image, struct ct_heatmap_box box)
{
	for (unsigned y = box.y; y < box.y + box.height; y++)
		for (unsigned x = box.x; x < box.x + box.width; x++) {
			if ((x + y) % (HATCH * SCALE) < SCALE)
				fill(image, (struct ct_heatmap_box){ x, y, 1, 1 }, CT_PNG_HATCH);
		}
}

static void frame(struct ct_png_image *image, struct ct_heatmap_box box)
{
	const struct ct_heatmap_box sides[] = {
		{ box.x - 1, box.y - 1, box.width + 2, 1 },
		{ box.x - 1, box.y + box.height, box.width + 2, 1 },
		{ box.x - 1, box.y - 1, 1, box.height + 2 },
		{ box.x + box.width, box.y - 1, 1, box.height + 2 },
	};

	for (int i = 0; i < 4; i++)
		fill(image, sides[i], CT_PNG_AXIS);
}

static void draw_cells(struct ct_png_image *image, const struct ct_picture *p,
		       const struct ct_heatmap_layout *l)
{
	for (size_t r = 0; r < p->rows.n; r++) {
		for (size_t c = 0; c < p->columns.n; c++) {
			float shade = p->shades[r * p->columns.n + c];
			const struct ct_heatmap_box box = pixels(
				(struct ct_heatmap_box){ l->plot.x + (unsigned)c * l->cell_width,
							 l->plot.y + (unsigned)r * l->cell_height,
							 l->cell_width, l->cell_height });

			fill(image, box, ct_png_shade(shade));
			if (isnan(shade))
				hatch(image, box);
		}
	}
}

static void draw_legend(struct ct_png_image *image, const struct ct_heatmap_layout *l)
{
	struct ct_heatmap_box box = pixels(l->scale);

	for (unsigned x = 0; x < box.width; x++)
		fill(image, (struct ct_heatmap_box){ box.x + x, box.y, 1, box.height },
		     ct_png_shade((float)x / (float)(box.width - 1)));
	if (l->blank.width) {
		box = pixels(l->blank);
		fill(image, box, CT_PNG_BLANK);
		frame(image, box);
	}
	if (l->unknown.width) {
		box = pixels(l->unknown);
		fill(image, box, CT_PNG_UNKNOWN);
		hatch(image, box);
	}
}

static void draw_text(struct ct_png_image *image, const struct ct_heatmap_text *text)
{
	unsigned dot = text->is_title ? SCALE * 3 / 2 : SCALE, step = (CT_GLYPH_WIDTH + 1) * dot;
	int wide = (int)(ct_heatmap_length(text->text) * step);
	int x = text->x * (int)SCALE - (text->anchor + 1) * wide / 2;
	int y = text->y * (int)SCALE - (int)(CT_GLYPH_HEIGHT * dot);
	uint8_t colour = text->is_soft ? CT_PNG_SOFT : CT_PNG_INK;

	for (const char *at = text->text; *at; x += (int)step) {
		const uint8_t *glyph = ct_glyph_next(&at);

		for (unsigned row = 0; row < CT_GLYPH_HEIGHT; row++) {
			for (unsigned i = 0; i < CT_GLYPH_WIDTH; i++) {
				int left = x + (int)(i * dot), top = y + (int)(row * dot);

				if (glyph[row] >> (CT_GLYPH_WIDTH - 1 - i) & 1 && left >= 0 &&
				    top >= 0)
					fill(image,
					     (struct ct_heatmap_box){ (unsigned)left, (unsigned)top,
								      dot, dot },
					     colour);
			}
		}
	}
}

int ct_heatmap_png(const struct ct_picture *picture, FILE *out)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_heatmap_layout l;
	struct ct_png_image image;
	int st = memory ? ct_heatmap_lay_out(picture, memory, &l) : CT_NOMEM;

	if (st == CT_OK) {
		image = (struct ct_png_image){ l.width * SCALE, l.height * SCALE, NULL };
		image.pixels = ct_arena_calloc(memory, image.height, image.width);
		st = image.pixels ? CT_OK : CT_NOMEM;
	}
	if (st == CT_OK) {
		draw_cells(&image, picture, &l);
		frame(&image, pixels(l.plot));
		draw_legend(&image, &l);
		for (size_t i = 0; i < l.n_texts; i++)
			draw_text(&image, &l.texts[i]);
		st = ct_png_write(&image, picture->ramp, out);
	}
	ct_arena_free(memory);
	return st;
}
