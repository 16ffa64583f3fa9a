/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/tuples.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"

struct ct_tuples {
	FILE *out;
	const struct ct_texts *texts;
	struct ct_arena *memory;
	const char **paths; /* by track - 1 */
	uint32_t n, cap;
};

struct ct_tuples *ct_tuples_new(FILE *out)
{
	struct ct_tuples *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->out = out;
	t->memory = ct_arena_new();
	if (t->memory)
		return t;
	free(t);
	return NULL;
}

void ct_tuples_free(struct ct_tuples *t)
{
	if (!t)
		return;
	ct_arena_free(t->memory);
	free(t->paths);
	free(t);
}

static int on_begin(void *arg, const struct ct_texts *texts, uint64_t begin_unix_ns,
		    const struct ct_timeline_fact *facts, size_t n)
{
	struct ct_tuples *t = arg;

	(void)begin_unix_ns;
	(void)facts;
	(void)n;
	t->texts = texts;
	return CT_OK;
}

static int on_track(void *arg, const struct ct_timeline_track *track)
{
	struct ct_tuples *t = arg;
	const char *path;

	if (track->id != t->n + 1 || track->parent > t->n)
		return CT_RANGE;
	if (ct_grow(&t->paths, &t->cap, t->n + 1, sizeof(*t->paths)))
		return CT_NOMEM;
	path = track->parent ? ct_arena_printf(t->memory, "%s > %s", t->paths[track->parent - 1],
					       track->name)
			     : ct_arena_printf(t->memory, "%s", track->name);
	if (ct_arena_failed(t->memory))
		return CT_NOMEM;
	t->paths[t->n++] = path;
	return CT_OK;
}

/* Something that a slice has, by number; 0: it has not. */
static void write_number(struct ct_tuples *t, const struct ct_timeline_slice *s, const char *kind,
			 uint64_t number)
{
	if (number)
		fprintf(t->out, "%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%s\n", s->begin_ns, number, kind,
			t->paths[s->track - 1], ct_texts_get(t->texts, s->name));
}

static void write_stack(struct ct_tuples *t, const struct ct_timeline_slice *s)
{
	fprintf(t->out, "%" PRIu64 "\t", s->begin_ns);
	for (size_t f = 0; f < s->n_frames; f++) {
		const struct ct_timeline_frame *frame = &s->frames[f];

		fprintf(t->out, "%s%s (%s:%" PRIu32 ")", f ? " > " : "",
			frame->function ? ct_texts_get(t->texts, frame->function) : "",
			frame->file ? ct_texts_get(t->texts, frame->file) : "", frame->line);
	}
	fprintf(t->out, "\tstack\t%s\t%s\n", t->paths[s->track - 1],
		ct_texts_get(t->texts, s->name));
}

static int on_slice(void *arg, const struct ct_timeline_slice *s)
{
	struct ct_tuples *t = arg;
	int64_t duration = s->end_ns == CT_TIMELINE_OPEN ? -1 : (int64_t)(s->end_ns - s->begin_ns);

	fprintf(t->out, "%" PRIu64 "\t%" PRId64 "\t%u\t%s\t%s\n", s->begin_ns, duration, s->depth,
		t->paths[s->track - 1], ct_texts_get(t->texts, s->name));
	for (size_t f = 0; f < sizeof(s->flows) / sizeof(s->flows[0]); f++)
		write_number(t, s, "arrow", s->flows[f]);
	for (size_t e = 0; e < s->n_ends; e++)
		write_number(t, s, "end", s->ends[e]);
	write_number(t, s, "colour", s->correlation);
	if (s->n_frames)
		write_stack(t, s);
	return ferror(t->out) ? CT_IO : CT_OK;
}

static int on_counter(void *arg, uint32_t track, uint64_t at_ns, double gbps)
{
	struct ct_tuples *t = arg;

	fprintf(t->out, "%" PRIu64 "\t%.6f\tcounter\t%s\n", at_ns, gbps, t->paths[track - 1]);
	return ferror(t->out) ? CT_IO : CT_OK;
}

static int on_end(void *arg)
{
	(void)arg;
	return CT_OK;
}

struct ct_timeline_sink ct_tuples_sink(struct ct_tuples *tuples)
{
	return (struct ct_timeline_sink){ .begin = on_begin,
					  .track = on_track,
					  .slice = on_slice,
					  .counter = on_counter,
					  .end = on_end,
					  .arg = tuples };
}
