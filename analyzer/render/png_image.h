/* SPDX-License-Identifier: Apache-2.0 */
/* png_image.h — an image of up to 256 colours, written as PNG. The same image gives the same bytes. One thread each. */
#ifndef CT_PNG_IMAGE_H
#define CT_PNG_IMAGE_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/charts/chart.h"

/* The colours of every image: those that are no scale, then the ramp of the picture. */
enum ct_png_colour {
	CT_PNG_GROUND,
	CT_PNG_INK,
	CT_PNG_SOFT,
	CT_PNG_AXIS,
	CT_PNG_BLANK,
	CT_PNG_UNKNOWN,
	CT_PNG_HATCH,
	CT_PNG_RAMP, /* the first of CT_PNG_SHADES */
};
#define CT_PNG_SHADES (256u - CT_PNG_RAMP)

struct ct_png_image {
	uint32_t width, height;
	uint8_t *pixels; /* a byte each */
};

/* The colour of a cell with this shade (picture.h). */
uint8_t ct_png_shade(float shade);

/* 0 or CT_NOMEM; errors of `out` are the caller's to look for. */
int ct_png_write(const struct ct_png_image *image, enum ct_picture_ramp ramp, FILE *out);

#endif
