/* SPDX-License-Identifier: Apache-2.0 */
/* heatmap_layout.h — where the parts of a chart are. Lengths are units: a pixel of an SVG at its
 * own size. Text is in a font of fixed width. Pure. */
#ifndef CT_ANALYZER_RENDER_HEATMAP_LAYOUT_H
#define CT_ANALYZER_RENDER_HEATMAP_LAYOUT_H

#include "analyzer/charts/heatmap.h"

#define CT_SVG_FONT 10u	 /* size of a text */
#define CT_SVG_CHAR 6u	 /* its width, a character's */
#define CT_SVG_TITLE 15u /* size of the title, half as much again */

/* The colours that are not a scale: those of the report's page (html/chart_look.js) on a light
 * ground, which prints. */
#define CT_SVG_GROUND 0xffffffu
#define CT_SVG_INK 0x1c2127u
#define CT_SVG_SOFT 0x4f5862u
#define CT_SVG_AXIS 0x868e98u
#define CT_SVG_BLANK 0xf3f4f6u
#define CT_SVG_UNKNOWN 0xd5d9deu
#define CT_SVG_HATCH 0x8b939du

struct ct_heatmap_label {
	int x, y;   /* of its base line */
	int anchor; /* -1: x is its left end, 0: its middle, 1: its right end */
	int is_title, is_soft;
	const char *text;
};

struct ct_heatmap_box {
	unsigned x, y, width, height;
};

struct ct_heatmap_layout {
	unsigned width, height;
	struct ct_heatmap_box plot, scale, blank, unknown; /* width 0: there is none */
	unsigned cell_width, cell_height;
	struct ct_heatmap_label *texts;
	size_t n_texts;
};

/* In `memory`. 0 or CT_NOMEM. */
int ct_heatmap_lay_out(const struct ct_heatmap *heatmap, struct ct_arena *memory,
		       struct ct_heatmap_layout *layout);

/* Characters of a UTF-8 text. */
size_t ct_heatmap_length(const char *text);

#endif
