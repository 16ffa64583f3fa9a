/* SPDX-License-Identifier: Apache-2.0 */
/* broken.c — broken FAULT TRACE TUPLES: a small timeline, right in TUPLES and with one mistake in
 * TRACE, each of which the engine takes without an error. FAULT none: no mistake. For bites.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/perfetto_events.h"
#include "analyzer/render/perfetto_packets.h"
#include "analyzer/render/tuples.h"

/* A parent with two children that touch, and one that follows at once; an arrow leads to it from
 * the first child. */
enum { OUTER, FIRST, SECOND, NEXT, N };
static struct ct_timeline_slice slices[N] = {
	[OUTER] = { .track = 2, .begin_ns = 100, .end_ns = 200 },
	[FIRST] = { .track = 2, .begin_ns = 100, .end_ns = 150, .depth = 1, .flows = { 7 } },
	[SECOND] = { .track = 2, .begin_ns = 150, .end_ns = 200, .depth = 1 },
	[NEXT] = { .track = 2, .begin_ns = 200, .end_ns = 300, .flows = { 7 } },
};
static const char *const names[] = { "outer", "first", "second", "next" };

static const struct ct_timeline_track tracks[] = {
	{ .id = 1, .name = "rank 0000", .kind = CT_TRACK_GROUP },
	{ .id = 2, .parent = 1, .name = "stream", .kind = CT_TRACK_SLICES },
	{ .id = 3, .parent = 1, .name = "busbw", .kind = CT_TRACK_COUNTER },
};

static FILE *trace;

static void put(const uint8_t *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, trace) != len)
		exit(1);
}

static void begin(int slice)
{
	uint8_t bytes[CT_EVENT_MAX];

	put(bytes, (size_t)(ct_event_begin(bytes, NULL, &slices[slice]) - bytes));
}

static void end(uint64_t end_ns)
{
	uint8_t bytes[CT_EVENT_MAX];

	put(bytes, (size_t)(ct_event_end(bytes, 2, end_ns) - bytes));
}

static void count(uint64_t at_ns, double value)
{
	uint8_t bytes[CT_EVENT_MAX];

	put(bytes, (size_t)(ct_event_counter(bytes, 3, at_ns, value) - bytes));
}

static void packet(struct ct_packet *p, int status)
{
	if (status != CT_OK)
		exit(1);
	put(p->bytes, p->len);
}

static void write_tuples(const struct ct_texts *texts, const char *path)
{
	FILE *file = fopen(path, "we");
	struct ct_tuples *tuples = file ? ct_tuples_new(file) : NULL;
	struct ct_timeline_sink sink;

	if (!tuples)
		exit(1);
	sink = ct_tuples_sink(tuples);
	sink.begin(sink.arg, texts, 0, NULL, 0);
	for (size_t t = 0; t < sizeof(tracks) / sizeof(tracks[0]); t++)
		sink.track(sink.arg, &tracks[t]);
	for (int s = 0; s < N; s++)
		sink.slice(sink.arg, &slices[s]);
	sink.counter(sink.arg, 3, 100, 42.5);
	sink.counter(sink.arg, 3, 200, 0);
	ct_tuples_free(tuples);
	fclose(file);
}

static int is(const char *fault, const char *what)
{
	return strcmp(fault, what) == 0;
}

static void write_events(const char *fault)
{
	begin(is(fault, "child-first") ? FIRST : OUTER);
	begin(is(fault, "child-first") ? OUTER : FIRST);
	if (is(fault, "begin-before-end")) {
		begin(SECOND);
		end(150);
	} else {
		end(is(fault, "late-end") ? 160 : 150);
		begin(SECOND);
	}
	end(200);
	if (is(fault, "next-before-end")) {
		begin(NEXT);
		end(200);
	} else {
		if (!is(fault, "no-end"))
			end(200);
		begin(NEXT);
	}
	end(300);
	count(100, is(fault, "value") ? 42.4 : 42.5);
	count(200, 0);
}

int main(int argc, char **argv)
{
	struct ct_packet p = { 0 };
	struct ct_texts texts;
	const char *fault = argc == 4 ? argv[1] : "";

	if (argc != 4 || ct_texts_init(&texts) != CT_OK)
		return 2;
	for (int s = 0; s < N; s++)
		slices[s].name = ct_texts_add(&texts, names[s]);
	write_tuples(&texts, argv[3]);
	if (is(fault, "arrow"))
		slices[OUTER].flows[0] = 7;
	if (is(fault, "no-arrow"))
		slices[NEXT].flows[0] = 0;
	trace = fopen(argv[2], "we");
	if (!trace)
		return 1;
	packet(&p, ct_packet_clock(&p, 1700000000000000000ull));
	packet(&p, ct_packet_first(&p));
	for (int s = 0; s < N - is(fault, "unknown-name"); s++)
		packet(&p, ct_packet_intern(&p, CT_INTERNED_NAME, slices[s].name, names[s]));
	for (size_t t = is(fault, "no-parent"); t < sizeof(tracks) / sizeof(tracks[0]); t++)
		packet(&p, ct_packet_track(&p, &tracks[t]));
	write_events(fault);
	ct_packet_fini(&p);
	ct_texts_fini(&texts);
	return fclose(trace) == 0 ? 0 : 1;
}
