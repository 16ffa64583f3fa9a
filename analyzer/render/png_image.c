/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/png_image.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>

#include "analyzer/render/heatmap_layout.h"

uint8_t ct_png_shade(float shade)
{
	if (isnan(shade))
		return CT_PNG_UNKNOWN;
	if (shade < 0)
		return CT_PNG_BLANK;
	return (uint8_t)(CT_PNG_RAMP + lround(fmin(shade, 1) * (CT_PNG_SHADES - 1)));
}

static void put(png_color *to, uint32_t colour)
{
	*to = (png_color){ (uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour };
}

static void fill_palette(png_color palette[256], enum ct_picture_ramp ramp)
{
	static const uint32_t plain[CT_PNG_RAMP] = {
		[CT_PNG_GROUND] = CT_HEATMAP_GROUND, [CT_PNG_INK] = CT_HEATMAP_INK,
		[CT_PNG_SOFT] = CT_HEATMAP_SOFT,     [CT_PNG_AXIS] = CT_HEATMAP_AXIS,
		[CT_PNG_BLANK] = CT_HEATMAP_BLANK,   [CT_PNG_UNKNOWN] = CT_HEATMAP_UNKNOWN,
		[CT_PNG_HATCH] = CT_HEATMAP_HATCH,
	};

	for (unsigned i = 0; i < CT_PNG_RAMP; i++)
		put(&palette[i], plain[i]);
	for (unsigned i = 0; i < CT_PNG_SHADES; i++)
		put(&palette[CT_PNG_RAMP + i],
		    ct_picture_colour(ramp, (double)i / (CT_PNG_SHADES - 1)));
}

/* libpng comes back here with longjmp when memory is out; what it writes to `out` fails later, with the file. */
static int write_rows(png_structp png, png_infop info, const struct ct_png_image *image,
		      png_const_colorp palette)
{
	if (setjmp(png_jmpbuf(png)))
		return CT_NOMEM;
	png_set_IHDR(png, info, image->width, image->height, 8, PNG_COLOR_TYPE_PALETTE,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_PLTE(png, info, palette, 256);
	/* Areas of one colour: no filter, and more effort than this finds no more to save. */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
	png_set_compression_level(png, 6);
	png_write_info(png, info);
	for (uint32_t y = 0; y < image->height; y++)
		png_write_row(png, image->pixels + (size_t)y * image->width);
	png_write_end(png, NULL);
	return CT_OK;
}

/* A full disk is found when the file is closed; libpng need not know. */
static void write_bytes(png_structp png, png_bytep bytes, size_t len)
{
	FILE *out = png_get_io_ptr(png);

	if (!ferror(out))
		fwrite(bytes, 1, len, out);
}

static void flush_bytes(png_structp png)
{
	(void)png;
}

/* Nothing here prints. */
static void on_warning(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

static void on_error(png_structp png, png_const_charp text)
{
	(void)text;
	png_longjmp(png, 1);
}

int ct_png_write(const struct ct_png_image *image, enum ct_picture_ramp ramp, FILE *out)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error,
						  on_warning);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	png_color palette[256];
	int st = CT_NOMEM;

	if (info) {
		png_set_write_fn(png, out, write_bytes, flush_bytes);
		fill_palette(palette, ramp);
		st = write_rows(png, info, image, palette);
	}
	png_destroy_write_struct(&png, &info);
	return st;
}
