/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h — each text once, under a number from 1, and call sites as frames of a stack. Memory
 * follows the number of different texts. One thread. */
#ifndef CT_ANALYZER_TIMELINE_TEXTS_H
#define CT_ANALYZER_TIMELINE_TEXTS_H

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"

struct ct_texts {
	struct ct_arena *memory;
	struct ct_table by_hash;
	const char **all; /* by number - 1 */
	uint32_t n, cap;
	int failed; /* one was not added for lack of memory */
};

int ct_texts_init(struct ct_texts *texts); /* 0 or CT_NOMEM */
void ct_texts_fini(struct ct_texts *texts);

/* The number of a text, which is copied; 0: it is NULL, or out of memory, which texts->failed then
 * records for all of them. */
uint32_t ct_texts_add(struct ct_texts *texts, const char *text);

/* Valid until ct_texts_fini(). */
static inline const char *ct_texts_get(const struct ct_texts *texts, uint32_t number)
{
	return texts->all[number - 1];
}

#define CT_TIMELINE_FRAMES 8u
/* Longer names of functions and files are cut. */
#define CT_TIMELINE_FRAME_TEXT 255u

/* Where in the program a call was made; texts, 0 unknown. */
struct ct_timeline_frame {
	uint32_t function, file;
	uint32_t line;
};

/* "FILE:LINE FUNCTION", "FILE:LINE", or anything else, which becomes the function (an offset in an
 * object). `whose` NULL, or stands before the function. Of several that are separated by " < " the
 * first, which is the innermost. */
void ct_frame_of(struct ct_texts *texts, const char *whose, const char *site,
		 struct ct_timeline_frame *frame);

/* All of them, the outermost first; `frames` has space for CT_TIMELINE_FRAMES. Returns how many
 * there are. */
uint8_t ct_frames_of(struct ct_texts *texts, const char *site, struct ct_timeline_frame *frames);

#endif
