/* SPDX-License-Identifier: Apache-2.0 */
/* What the appender writes is what protobuf-c packs: a reader sees the same fields with the same
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/render/perfetto_events.h"
#include "analyzer/render/perfetto_fields.h"
#include "tests/perfetto/same_event.h"

static uint64_t state = 1;

static uint64_t draw(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	/* Small and large ones, so that every length of a varint comes. */
	return (state >> 8) >> (state >> 58) % 56;
}

/* The bytes of a trace of one packet, as a reader sees them, and the same packed again: without
 * long lengths. */
static uint8_t *normal(const uint8_t *bytes, size_t len, size_t *n)
{
	Ct__Trace *trace = ct__trace__unpack(NULL, len, bytes);
	uint8_t *out;

	assert_non_null(trace);
	assert_int_equal(trace->n_packet, 1);
	out = malloc(ct__trace__get_packed_size(trace));
	*n = ct__trace__pack(trace, out);
	ct__trace__free_unpacked(trace, NULL);
	return out;
}

static void assert_same(const uint8_t *bytes, const uint8_t *end, const struct same_event *same)
{
	Ct__TracePacket *packets[] = { (Ct__TracePacket *)(uintptr_t)&same->packet };
	Ct__Trace trace = CT__TRACE__INIT;
	size_t n, m;
	uint8_t *ours = normal(bytes, (size_t)(end - bytes), &n), *theirs;

	trace.n_packet = 1;
	trace.packet = packets;
	m = ct__trace__get_packed_size(&trace);
	theirs = malloc(m);
	ct__trace__pack(&trace, theirs);
	assert_int_equal(n, m);
	assert_memory_equal(ours, theirs, n);
	free(ours);
	free(theirs);
}

static void random_arg(struct ct_timeline_arg *arg, struct ct_timeline_part *parts, int *ints)
{
	arg->key = (uint8_t)(draw() % CT_ARG_MAX);
	arg->type = (uint8_t)(draw() % (CT_VALUE_INTS + 1));
	arg->n = (uint16_t)(draw() % (CT_TIMELINE_LIST + 1));
	arg->u = draw();
	if (arg->type == CT_VALUE_DOUBLE)
		arg->d = (double)draw() / 7;
	if (arg->type == CT_VALUE_INT)
		arg->i = -(int64_t)draw();
	if (arg->type == CT_VALUE_TEXT)
		arg->text = (uint32_t)draw();
	if (arg->type == CT_VALUE_PARTS)
		arg->parts = parts;
	if (arg->type == CT_VALUE_INTS)
		arg->ints = ints;
	for (unsigned i = 0; i < CT_TIMELINE_LIST; i++) {
		parts[i] = (struct ct_timeline_part){ .op = (uint32_t)draw(),
						      .peer = draw() % 3
								      ? (int32_t)(draw() & 0xfffff)
								      : -1,
						      .seq = draw(),
						      .bytes = draw() };
		ints[i] = (int)draw();
	}
}

/* Texts of any length that is written whole. */
static void make_texts(struct ct_texts *texts, uint32_t n)
{
	char text[CT_TIMELINE_FRAME_TEXT + 1];

	assert_int_equal(ct_texts_init(texts), CT_OK);
	while (texts->n < n) {
		size_t len = draw() % CT_TIMELINE_FRAME_TEXT + 1;

		for (size_t i = 0; i < len; i++)
			text[i] = (char)(draw() % 94 + 33);
		text[len] = '\0';
		assert_true(ct_texts_add(texts, text) > 0);
	}
}

static void slices_are_what_protobuf_c_packs(void **unused)
{
	static struct same_event same;
	struct ct_texts texts;
	uint8_t bytes[CT_EVENT_MAX];
	uint8_t *end;

	(void)unused;
	make_texts(&texts, 100);
	for (int round = 0; round < 20000; round++) {
		struct ct_timeline_part parts[CT_TIMELINE_LIST];
		struct ct_timeline_frame frames[CT_TIMELINE_FRAMES];
		uint64_t ends[CT_TIMELINE_LIST];
		int ints[CT_TIMELINE_LIST];
		struct ct_timeline_arg args[CT_TIMELINE_ARGS];
		struct ct_timeline_slice slice = {
			.track = (uint32_t)draw(),
			.name = (uint32_t)draw(),
			.begin_ns = draw(),
			.flows = { draw() % 2 ? draw() : 0, draw() % 2 ? draw() : 0 },
			.category = (uint8_t)(draw() % CT_CATEGORY_MAX),
			.instant = draw() % 2 != 0,
			.n_args = (uint8_t)(draw() % CT_TIMELINE_ARGS),
			.correlation = draw() % 2 ? draw() : 0,
			.n_ends = (uint8_t)(draw() % (CT_TIMELINE_LIST + 1)),
			.ends = ends,
			.n_frames = (uint8_t)(draw() % (CT_TIMELINE_FRAMES + 1)),
			.frames = frames,
			.args = args
		};
		int lists = 0;

		for (unsigned i = 0; i < CT_TIMELINE_LIST; i++)
			ends[i] = draw();
		for (unsigned i = 0; i < CT_TIMELINE_FRAMES; i++)
			frames[i] = (struct ct_timeline_frame){
				(uint32_t)(draw() % 101), (uint32_t)(draw() % 101),
				(uint32_t)(draw() % 3 ? draw() : 0)
			};

		for (unsigned i = 0; i < slice.n_args; i++) {
			random_arg(&args[i], parts, ints);
			/* same_event has space for one list. */
			if (args[i].type >= CT_VALUE_PARTS && lists++)
				args[i] = (struct ct_timeline_arg){ .type = CT_VALUE_UINT };
		}
		end = ct_event_begin(bytes, &texts, &slice);
		assert_true(end - bytes < CT_EVENT_MAX);
		same_event_begin(&same, &texts, &slice);
		assert_same(bytes, end, &same);
	}
	ct_texts_fini(&texts);
}

/* A long name of a function is cut between characters. */
static void long_names_of_frames_are_cut_between_characters(void **unused)
{
	static struct same_event same;
	uint8_t bytes[CT_EVENT_MAX];
	struct ct_timeline_frame frame = { .function = 1 }, cut = { .function = 2 };
	struct ct_timeline_slice slice = { .track = 1, .name = 1, .n_frames = 1, .frames = &frame };
	struct ct_timeline_slice shorter = { .track = 1, .name = 1, .n_frames = 1, .frames = &cut };
	char text[CT_TIMELINE_FRAME_TEXT + 8];
	struct ct_texts texts;

	(void)unused;
	assert_int_equal(ct_texts_init(&texts), CT_OK);
	memset(text, 'a', sizeof(text));
	memcpy(text + CT_TIMELINE_FRAME_TEXT - 1, "\303\244", 2);
	text[CT_TIMELINE_FRAME_TEXT + 4] = '\0';
	assert_int_equal(ct_texts_add(&texts, text), 1);
	text[CT_TIMELINE_FRAME_TEXT - 1] = '\0';
	assert_int_equal(ct_texts_add(&texts, text), 2);
	same_event_begin(&same, &texts, &shorter);
	assert_same(bytes, ct_event_begin(bytes, &texts, &slice), &same);
	ct_texts_fini(&texts);
}

static void ends_and_values_are_what_protobuf_c_packs(void **unused)
{
	static struct same_event same;
	uint8_t bytes[CT_EVENT_MAX];

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		uint32_t track = (uint32_t)draw();
		uint64_t at = draw();
		double value = (double)draw() / 3;

		same_event_end(&same, track, at);
		assert_same(bytes, ct_event_end(bytes, track, at), &same);
		same_event_counter(&same, track, at, value);
		assert_same(bytes, ct_event_counter(bytes, track, at, value), &same);
	}
}

static void the_largest_slice_has_room(void **unused)
{
	uint8_t bytes[CT_EVENT_MAX];
	struct ct_timeline_part parts[CT_TIMELINE_LIST];
	struct ct_timeline_arg args[CT_TIMELINE_ARGS];
	struct ct_timeline_frame frames[CT_TIMELINE_FRAMES];
	uint64_t ends[CT_TIMELINE_LIST];
	struct ct_timeline_slice slice = { .track = UINT32_MAX,
					   .name = UINT32_MAX,
					   .begin_ns = UINT64_MAX,
					   .flows = { UINT64_MAX, UINT64_MAX },
					   .correlation = UINT64_MAX,
					   .ends = ends,
					   .n_ends = CT_TIMELINE_LIST,
					   .frames = frames,
					   .n_frames = CT_TIMELINE_FRAMES,
					   .n_args = CT_TIMELINE_ARGS,
					   .args = args };
	char text[CT_TIMELINE_FRAME_TEXT + 1];
	struct ct_texts texts;

	(void)unused;
	assert_int_equal(ct_texts_init(&texts), CT_OK);
	memset(text, 'a', CT_TIMELINE_FRAME_TEXT);
	text[CT_TIMELINE_FRAME_TEXT] = '\0';
	for (unsigned i = 0; i < CT_TIMELINE_FRAMES; i++)
		frames[i] = (struct ct_timeline_frame){ ct_texts_add(&texts, text),
							ct_texts_add(&texts, text), UINT32_MAX };
	for (unsigned i = 0; i < CT_TIMELINE_LIST; i++) {
		parts[i] = (struct ct_timeline_part){ UINT32_MAX, INT32_MAX, UINT64_MAX,
						      UINT64_MAX };
		ends[i] = UINT64_MAX;
	}
	for (unsigned i = 0; i < CT_TIMELINE_ARGS; i++)
		args[i] = (struct ct_timeline_arg){ .key = CT_ARG_MAX - 1,
						    .type = i < 4 ? CT_VALUE_PARTS : CT_VALUE_INT,
						    .n = CT_TIMELINE_LIST };
	for (unsigned i = 0; i < CT_TIMELINE_ARGS; i++) {
		if (i < 4)
			args[i].parts = parts;
		else
			args[i].i = -1;
	}
	assert_true(ct_event_begin(bytes, &texts, &slice) - bytes < CT_EVENT_MAX);
	ct_texts_fini(&texts);
}

static unsigned number_of(const ProtobufCMessageDescriptor *message, const char *field)
{
	const ProtobufCFieldDescriptor *d = protobuf_c_message_descriptor_get_field_by_name(message,
											    field);

	assert_non_null(d);
	return d->id;
}

static void numbers_are_those_of_the_proto_file(void **unused)
{
	const ProtobufCMessageDescriptor *packet = &ct__trace_packet__descriptor;
	const ProtobufCMessageDescriptor *event = &ct__track_event__descriptor;
	const ProtobufCMessageDescriptor *note = &ct__debug_annotation__descriptor;
	const ProtobufCMessageDescriptor *stack = &ct__track_event__callstack__descriptor;
	const ProtobufCMessageDescriptor *frame = &ct__track_event__frame__descriptor;

	(void)unused;
	assert_int_equal(number_of(&ct__trace__descriptor, "packet"), CT_PF_PACKET);
	assert_int_equal(number_of(packet, "timestamp"), CT_PF_TIMESTAMP);
	assert_int_equal(number_of(packet, "trusted_packet_sequence_id"), CT_PF_SEQUENCE_ID);
	assert_int_equal(number_of(packet, "track_event"), CT_PF_TRACK_EVENT);
	assert_int_equal(number_of(packet, "sequence_flags"), CT_PF_SEQUENCE_FLAGS);
	assert_int_equal(number_of(packet, "compressed_packets"), CT_PF_COMPRESSED);
	assert_int_equal(number_of(event, "category_iids"), CT_PF_CATEGORY);
	assert_int_equal(number_of(event, "debug_annotations"), CT_PF_ANNOTATION);
	assert_int_equal(number_of(event, "type"), CT_PF_TYPE);
	assert_int_equal(number_of(event, "name_iid"), CT_PF_NAME);
	assert_int_equal(number_of(event, "track_uuid"), CT_PF_TRACK);
	assert_int_equal(number_of(event, "double_counter_value"), CT_PF_COUNTER);
	assert_int_equal(number_of(event, "flow_ids"), CT_PF_FLOW);
	assert_int_equal(number_of(event, "terminating_flow_ids"), CT_PF_FLOW_END);
	assert_int_equal(number_of(event, "correlation_id"), CT_PF_CORRELATION);
	assert_int_equal(number_of(event, "callstack"), CT_PF_CALLSTACK);
	assert_int_equal(number_of(stack, "frames"), CT_PF_FRAMES);
	assert_int_equal(number_of(frame, "function_name"), CT_PF_FUNCTION);
	assert_int_equal(number_of(frame, "source_file"), CT_PF_FILE);
	assert_int_equal(number_of(frame, "line_number"), CT_PF_LINE);
	assert_int_equal(number_of(note, "name_iid"), CT_PF_KEY);
	assert_int_equal(number_of(note, "uint_value"), CT_PF_UINT);
	assert_int_equal(number_of(note, "int_value"), CT_PF_INT);
	assert_int_equal(number_of(note, "double_value"), CT_PF_DOUBLE);
	assert_int_equal(number_of(note, "dict_entries"), CT_PF_DICT);
	assert_int_equal(number_of(note, "array_values"), CT_PF_ARRAY);
	assert_int_equal(number_of(note, "string_value_iid"), CT_PF_STRING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_what_protobuf_c_packs),
		cmocka_unit_test(ends_and_values_are_what_protobuf_c_packs),
		cmocka_unit_test(long_names_of_frames_are_cut_between_characters),
		cmocka_unit_test(the_largest_slice_has_room),
		cmocka_unit_test(numbers_are_those_of_the_proto_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
