/* SPDX-License-Identifier: Apache-2.0 */
/* drawn_timeline.h — a timeline as a test sees it: every slice, with the track that it lies on.
 * Main thread only; everything fails the test that calls it. */
#ifndef CT_TESTS_UNIT_DRAWN_TIMELINE_H
#define CT_TESTS_UNIT_DRAWN_TIMELINE_H

#include "analyzer/timeline/timeline.h"

struct drawn_track {
	uint32_t parent;
	char name[96], description[384];
	int rank; /* of a rank's own track; -1: none */
};

struct drawn_slice {
	uint32_t track;
	char name[48];
	uint64_t begin_ns, end_ns, flows[2], correlation, ends[CT_TIMELINE_LIST];
	unsigned depth, category, instant, n_ends, n_frames;
	struct drawn_frame {
		char function[64], file[64];
		uint32_t line;
	} frames[2];
	struct ct_timeline_arg args[CT_TIMELINE_ARGS]; /* lists point nowhere */
	char texts[CT_TIMELINE_ARGS][64];	       /* of those that are texts */
	unsigned n_args;
};

struct drawn_timeline {
	struct drawn_track *tracks; /* by id - 1 */
	size_t n_tracks;
	struct drawn_slice *slices;
	size_t n_slices;
	struct ct_timeline_result result;
	const struct ct_texts *texts;
};

/* Draw a view of an open timeline. drawn_free() it. */
void drawn_timeline(struct ct_timeline *timeline, struct drawn_timeline *drawn);
void drawn_free(struct drawn_timeline *drawn);

/* UINT64_MAX and NULL: it has no such argument. */
uint64_t drawn_number(const struct drawn_slice *slice, enum ct_timeline_key key);
const char *drawn_text(const struct drawn_slice *slice, enum ct_timeline_key key);

#endif
