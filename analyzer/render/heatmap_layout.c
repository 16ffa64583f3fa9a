/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/heatmap_layout.h"

#include <stdio.h>
#include <string.h>

#define PAD 12u
#define LINE 13u   /* of text */
#define WIDE 1024u /* the plot, unless it has more columns; and high, unless more rows */
#define HIGH 640u
#define CELL 24u       /* at most */
#define NAME_CHARS 28u /* at most; of a longer name the middle goes */
#define LEAST_WIDTH 560u
#define SCALE_WIDTH 240u
#define SAMPLE 10u

size_t ct_heatmap_length(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Where character number `n` of a text begins. */
static const char *character(const char *text, size_t n)
{
	while (*text && (n || ((unsigned char)*text & 0xc0) == 0x80)) {
		text++;
		n -= ((unsigned char)*text & 0xc0) != 0x80;
	}
	return text;
}

/* The part that fits: both ends of a long name, which distinguish names. NULL: out of memory. */
static const char *shortened(struct ct_arena *memory, const char *name)
{
	size_t n = ct_heatmap_length(name), keep = (NAME_CHARS - 2) / 2;

	if (n <= NAME_CHARS)
		return name;
	return ct_arena_printf(memory, "%.*s..%s", (int)(character(name, keep) - name), name,
			       character(name, n - keep));
}

static int add(struct ct_heatmap_layout *l, struct ct_heatmap_label text)
{
	if (!text.text)
		return CT_NOMEM;
	l->texts[l->n_texts++] = text;
	return CT_OK;
}

/* Length of the longest name, as it is shown. */
static unsigned longest(const struct ct_heatmap_axis *axis)
{
	size_t most = 1;

	for (size_t i = 0; i < axis->n; i++) {
		size_t n = ct_heatmap_length(axis->names[i]);

		most = n > most ? n : most;
	}
	return most < NAME_CHARS ? (unsigned)most : NAME_CHARS;
}

/* Every so many names are shown, so that each has `room`: 1, 2, 5, 10, 20, ... */
static size_t every(unsigned cell, unsigned room)
{
	static const unsigned steps[] = { 1, 2, 5 };
	size_t step = 1, power = 1;

	for (unsigned i = 0; step * cell < room; i++) {
		if (i && i % 3 == 0)
			power *= 10;
		step = steps[i % 3] * power;
	}
	return step;
}

static unsigned within(size_t value, unsigned low, unsigned high)
{
	return value < low ? low : value > high ? high : (unsigned)value;
}

/* Squares if rows and columns show the same; columns wide enough for their names if there is space.
 */
static void size_cells(const struct ct_heatmap *p, struct ct_heatmap_layout *l)
{
	unsigned room = longest(&p->columns) * CT_SVG_CHAR + CT_SVG_CHAR;

	l->cell_width = within(WIDE / p->columns.n, 1, CELL);
	l->cell_height = within(HIGH / p->rows.n, 1, CELL);
	if (p->columns.n == p->rows.n && p->columns.n <= WIDE)
		l->cell_height = l->cell_width;
	if (l->cell_width < room && p->columns.n * room <= WIDE)
		l->cell_width = room;
	l->plot.width = (unsigned)p->columns.n * l->cell_width;
	l->plot.height = (unsigned)p->rows.n * l->cell_height;
}

static int name_rows(const struct ct_heatmap *p, struct ct_arena *memory,
		     struct ct_heatmap_layout *l)
{
	size_t step = every(l->cell_height, LINE);
	int st = CT_OK;

	for (size_t r = 0; r < p->rows.n && st == CT_OK; r += step)
		st = add(l,
			 (struct ct_heatmap_label){ .x = (int)(l->plot.x - 5),
						    .y = (int)(l->plot.y + r * l->cell_height +
							       l->cell_height / 2 + 4),
						    .anchor = 1,
						    .text = shortened(memory, p->rows.names[r]) });
	return st;
}

/* Round values where the axis has them, each with space. */
static int tick_columns(const struct ct_ticks *ticks, struct ct_heatmap_layout *l)
{
	double free = -1e9;
	int st = CT_OK;

	for (size_t i = 0; i < ticks->n && st == CT_OK; i++) {
		double at = (double)l->plot.x + ticks->items[i].at * (double)l->plot.width;
		double half = (double)ct_heatmap_length(ticks->items[i].text) * CT_SVG_CHAR / 2;

		if (at - half < free)
			continue;
		free = at + half + CT_SVG_CHAR;
		st = add(l,
			 (struct ct_heatmap_label){ .x = (int)at,
						    .y = (int)(l->plot.y + l->plot.height + LINE),
						    .text = ticks->items[i].text });
	}
	return st;
}

static int name_columns(const struct ct_heatmap *p, struct ct_arena *memory,
			struct ct_heatmap_layout *l)
{
	size_t step = every(l->cell_width, (longest(&p->columns) + 1) * CT_SVG_CHAR);
	int st = CT_OK;

	if (p->columns.ticks.n)
		return tick_columns(&p->columns.ticks, l);
	for (size_t c = 0; c < p->columns.n && st == CT_OK; c += step)
		st = add(l, (struct ct_heatmap_label){
				    .x = (int)(l->plot.x + c * l->cell_width + l->cell_width / 2),
				    .y = (int)(l->plot.y + l->plot.height + LINE),
				    .text = shortened(memory, p->columns.names[c]) });
	return st;
}

static int add_legend(const struct ct_heatmap *p, struct ct_heatmap_layout *l, unsigned y)
{
	unsigned x = PAD + SCALE_WIDTH + 40;
	int st = add(l, (struct ct_heatmap_label){
				.x = PAD, .y = (int)y + 9, .anchor = -1, .text = p->scale });

	l->scale = (struct ct_heatmap_box){ PAD, y + 15, SCALE_WIDTH, SAMPLE };
	for (size_t i = 0; i < p->n_marks && st == CT_OK; i++) {
		const struct ct_tick *mark = &p->marks[i];
		int wide = (int)(ct_heatmap_length(mark->text) * CT_SVG_CHAR);
		int at = (int)PAD + (int)(mark->at * SCALE_WIDTH), left = at - wide / 2;

		/* the first and the last stay beside the scale */
		if (left < (int)PAD)
			left = PAD;
		st = add(l,
			 (struct ct_heatmap_label){
				 .x = left, .y = (int)y + 38, .anchor = -1, .text = mark->text });
	}
	if (p->has_nothing) {
		l->blank = (struct ct_heatmap_box){ x, y + 15, SAMPLE, SAMPLE };
		if (st == CT_OK)
			st = add(l, (struct ct_heatmap_label){ .x = (int)(x + SAMPLE + 6),
							       .y = (int)y + 24,
							       .anchor = -1,
							       .text = p->nothing });
		x += SAMPLE + 6 + ((unsigned)ct_heatmap_length(p->nothing) + 3) * CT_SVG_CHAR;
	}
	if (p->has_unknown && st == CT_OK) {
		l->unknown = (struct ct_heatmap_box){ x, y + 15, SAMPLE, SAMPLE };
		st = add(l, (struct ct_heatmap_label){ .x = (int)(x + SAMPLE + 6),
						       .y = (int)y + 24,
						       .anchor = -1,
						       .text = "not known" });
	}
	return st;
}

/* The notes, wrapped; *y moves below them. */
static int add_notes(const struct ct_heatmap *p, struct ct_arena *memory,
		     struct ct_heatmap_layout *l, unsigned *y)
{
	size_t wide = (l->width - 2 * PAD) / CT_SVG_CHAR;
	int st = CT_OK;

	for (size_t i = 0; i < p->n_notes; i++) {
		const char *at = p->notes[i];

		while (*at && st == CT_OK) {
			const char *end = character(at, wide), *cut = end;

			while (*end && cut > at && *cut != ' ')
				cut--;
			if (cut == at)
				cut = end;
			st = add(l, (struct ct_heatmap_label){
					    .x = PAD,
					    .y = (int)*y,
					    .anchor = -1,
					    .is_soft = 1,
					    .text = ct_arena_printf(memory, "%.*s", (int)(cut - at),
								    at) });
			*y += LINE;
			at = cut + (*cut == ' ');
		}
	}
	return st;
}

/* Most texts that there can be: names, marks, four titles, notes in lines of 80 characters at
 * least. */
static size_t count_texts(const struct ct_heatmap *p)
{
	size_t n = p->rows.n + p->columns.n + p->columns.ticks.n + CT_HEATMAP_MARKS + 8;

	for (size_t i = 0; i < p->n_notes; i++)
		n += strlen(p->notes[i]) / 20 + 2;
	return n;
}

int ct_heatmap_lay_out(const struct ct_heatmap *p, struct ct_arena *memory,
		       struct ct_heatmap_layout *l)
{
	unsigned half = longest(&p->columns) * CT_SVG_CHAR / 2, y, title;
	int st;

	*l = (struct ct_heatmap_layout){ .n_texts = 0 };
	l->texts = ct_arena_calloc(memory, count_texts(p), sizeof(*l->texts));
	if (!l->texts)
		return CT_NOMEM;
	size_cells(p, l);
	l->plot.x = PAD + longest(&p->rows) * CT_SVG_CHAR + 6;
	l->plot.y = PAD + 16 + 8 + LINE + 6;
	title = (unsigned)ct_heatmap_length(p->title) * CT_SVG_CHAR * 3 / 2 + 2 * PAD;
	l->width = l->plot.x + l->plot.width + (half > PAD ? half : PAD);
	l->width = l->width < LEAST_WIDTH ? LEAST_WIDTH : l->width;
	l->width = l->width < title ? title : l->width;
	y = l->plot.y + l->plot.height + 2 * LINE;
	st = add(l, (struct ct_heatmap_label){ PAD, PAD + 14, -1, 1, 0, p->title });
	if (st == CT_OK)
		st = add(l, (struct ct_heatmap_label){ PAD, (int)l->plot.y - 7, -1, 0, 1,
						       p->rows.title });
	st = st ?: name_rows(p, memory, l);
	st = st ?: name_columns(p, memory, l);
	if (st == CT_OK)
		st = add(l, (struct ct_heatmap_label){ (int)l->plot.x, (int)y, -1, 0, 1,
						       p->columns.title });
	st = st ?: add_legend(p, l, y + 12);
	y += 12 + 38 + 18;
	st = st ?: add_notes(p, memory, l, &y);
	l->height = y;
	return st;
}
