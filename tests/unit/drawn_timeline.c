/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/drawn_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fixture.h"

static int on_begin(void *arg, const struct ct_texts *texts, uint64_t begin_unix_ns,
		    const struct ct_timeline_fact *facts, size_t n)
{
	struct drawn_timeline *d = arg;

	(void)begin_unix_ns;
	/* What is not known is left out. */
	for (size_t f = 0; f < n; f++)
		assert_false(facts[f].text && strcmp(facts[f].text, "?") == 0);
	d->texts = texts;
	return 0;
}

static int on_track(void *arg, const struct ct_timeline_track *track)
{
	struct drawn_timeline *d = arg;
	struct drawn_track *t;

	if (!(d->n_tracks & (d->n_tracks - 1)))
		d->tracks = realloc(d->tracks, (2 * d->n_tracks + 1) * sizeof(*d->tracks));
	assert_non_null(d->tracks);
	t = &d->tracks[d->n_tracks++];
	assert_int_equal(track->id, d->n_tracks);
	assert_true(track->parent < track->id);
	*t = (struct drawn_track){ .parent = track->parent, .rank = -1 };
	snprintf(t->name, sizeof(t->name), "%s", track->name);
	snprintf(t->description, sizeof(t->description), "%s",
		 track->description ? track->description : "");
	sscanf(t->name, "rank %d", &t->rank);
	return 0;
}

static void copy_frames(const struct drawn_timeline *d, const struct ct_timeline_slice *slice,
			struct drawn_slice *s)
{
	for (unsigned i = 0; i < slice->n_frames && i < 2; i++) {
		const struct ct_timeline_frame *frame = &slice->frames[i];

		snprintf(s->frames[i].function, sizeof(s->frames[i].function), "%s",
			 frame->function ? ct_texts_get(d->texts, frame->function) : "");
		snprintf(s->frames[i].file, sizeof(s->frames[i].file), "%s",
			 frame->file ? ct_texts_get(d->texts, frame->file) : "");
		s->frames[i].line = frame->line;
	}
}

static int on_slice(void *arg, const struct ct_timeline_slice *slice)
{
	struct drawn_timeline *d = arg;
	struct drawn_slice *s;

	if (!(d->n_slices & (d->n_slices - 1)))
		d->slices = realloc(d->slices, (2 * d->n_slices + 1) * sizeof(*d->slices));
	assert_non_null(d->slices);
	s = &d->slices[d->n_slices++];
	*s = (struct drawn_slice){ .track = slice->track,
				   .begin_ns = slice->begin_ns,
				   .end_ns = slice->end_ns,
				   .flows = { slice->flows[0], slice->flows[1] },
				   .correlation = slice->correlation,
				   .depth = slice->depth,
				   .category = slice->category,
				   .instant = slice->instant,
				   .n_ends = slice->n_ends,
				   .n_frames = slice->n_frames,
				   .n_args = slice->n_args };
	snprintf(s->name, sizeof(s->name), "%s", ct_texts_get(d->texts, slice->name));
	assert_true(slice->n_ends <= CT_TIMELINE_LIST && slice->n_args <= CT_TIMELINE_ARGS);
	if (slice->n_ends)
		memcpy(s->ends, slice->ends, slice->n_ends * sizeof(*s->ends));
	copy_frames(d, slice, s);
	for (unsigned i = 0; i < slice->n_args; i++) {
		s->args[i] = slice->args[i];
		if (slice->args[i].type == CT_VALUE_TEXT)
			snprintf(s->texts[i], sizeof(s->texts[i]), "%s",
				 ct_texts_get(d->texts, slice->args[i].text));
	}
	return 0;
}

static int on_counter(void *arg, uint32_t track, uint64_t at_ns, double gbps)
{
	(void)arg;
	(void)track;
	(void)at_ns;
	(void)gbps;
	return 0;
}

static int on_end(void *arg)
{
	(void)arg;
	return 0;
}

void drawn_timeline(struct ct_timeline *timeline, struct drawn_timeline *drawn)
{
	const struct ct_timeline_sink sink = { on_begin,   on_track, on_slice,
					       on_counter, on_end,   drawn };
	struct ct_err err = { 0 };

	*drawn = (struct drawn_timeline){ 0 };
	if (ct_timeline_draw(timeline, &sink, &drawn->result, &err) != CT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(drawn->result.slices, drawn->n_slices);
}

void drawn_free(struct drawn_timeline *drawn)
{
	free(drawn->tracks);
	free(drawn->slices);
	*drawn = (struct drawn_timeline){ 0 };
}

uint64_t drawn_number(const struct drawn_slice *slice, enum ct_timeline_key key)
{
	for (unsigned i = 0; i < slice->n_args; i++) {
		if (slice->args[i].key == key)
			return slice->args[i].u;
	}
	return UINT64_MAX;
}

const char *drawn_text(const struct drawn_slice *slice, enum ct_timeline_key key)
{
	for (unsigned i = 0; i < slice->n_args; i++) {
		if (slice->args[i].key == key)
			return slice->texts[i];
	}
	return NULL;
}
