/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/perfetto_events.h"

#include "analyzer/render/perfetto_append.h"
#include "analyzer/render/perfetto_fields.h"

/* What is open while a packet is written. */
struct marks {
	uint8_t *packet, *event;
};

/* `flags` of the sequence: only what uses interned numbers needs its state. */
static uint8_t *open_packet(uint8_t *at, uint64_t at_ns, unsigned flags, unsigned type,
			    uint32_t track, struct marks *marks)
{
	at = ct_append_open(at, CT_PF_PACKET, &marks->packet);
	at = ct_append_uint(at, CT_PF_TIMESTAMP, at_ns);
	at = ct_append_uint(at, CT_PF_SEQUENCE_ID, CT_PF_SEQUENCE);
	if (flags)
		at = ct_append_uint(at, CT_PF_SEQUENCE_FLAGS, flags);
	at = ct_append_open(at, CT_PF_TRACK_EVENT, &marks->event);
	at = ct_append_uint(at, CT_PF_TYPE, type);
	return ct_append_uint(at, CT_PF_TRACK, track);
}

static uint8_t *close_packet(uint8_t *at, const struct marks *marks)
{
	ct_append_close(at, marks->event);
	ct_append_close(at, marks->packet);
	return at;
}

static uint8_t *put_pair(uint8_t *at, enum ct_timeline_key key, unsigned field, uint64_t value)
{
	uint8_t *mark;

	at = ct_append_open_short(at, CT_PF_DICT, &mark);
	at = ct_append_uint(at, CT_PF_KEY, key + 1u);
	at = ct_append_uint(at, field, value);
	ct_append_close_short(at, mark);
	return at;
}

/* The ops of a group: an array of dictionaries. */
static uint8_t *put_parts(uint8_t *at, const struct ct_timeline_arg *arg)
{
	for (unsigned i = 0; i < arg->n && i < CT_TIMELINE_LIST; i++) {
		const struct ct_timeline_part *part = &arg->parts[i];
		uint8_t *mark;

		at = ct_append_open_short(at, CT_PF_ARRAY, &mark);
		at = put_pair(at, CT_ARG_op, CT_PF_STRING, part->op);
		at = put_pair(at, CT_ARG_seq, CT_PF_UINT, part->seq);
		if (part->bytes != UINT64_MAX)
			at = put_pair(at, CT_ARG_bytes, CT_PF_UINT, part->bytes);
		if (part->peer >= 0)
			at = put_pair(at, CT_ARG_peer, CT_PF_INT, (uint64_t)part->peer);
		ct_append_close_short(at, mark);
	}
	return at;
}

static uint8_t *put_ints(uint8_t *at, const struct ct_timeline_arg *arg)
{
	for (unsigned i = 0; i < arg->n && i < CT_TIMELINE_LIST; i++) {
		uint8_t *mark;

		at = ct_append_open_short(at, CT_PF_ARRAY, &mark);
		at = ct_append_uint(at, CT_PF_INT, (uint64_t)(int64_t)arg->ints[i]);
		ct_append_close_short(at, mark);
	}
	return at;
}

static uint8_t *put_list(uint8_t *at, const struct ct_timeline_arg *arg)
{
	uint8_t *mark;

	at = ct_append_open(at, CT_PF_ANNOTATION, &mark);
	at = ct_append_uint(at, CT_PF_KEY, arg->key + 1u);
	at = arg->type == CT_VALUE_PARTS ? put_parts(at, arg) : put_ints(at, arg);
	ct_append_close(at, mark);
	return at;
}

static uint8_t *put_arg(uint8_t *at, const struct ct_timeline_arg *arg)
{
	uint8_t *mark;

	if (arg->type == CT_VALUE_PARTS || arg->type == CT_VALUE_INTS)
		return put_list(at, arg);
	at = ct_append_open_short(at, CT_PF_ANNOTATION, &mark);
	at = ct_append_uint(at, CT_PF_KEY, arg->key + 1u);
	if (arg->type == CT_VALUE_DOUBLE)
		at = ct_append_double(at, CT_PF_DOUBLE, arg->d);
	else if (arg->type == CT_VALUE_INT)
		at = ct_append_uint(at, CT_PF_INT, (uint64_t)arg->i);
	else if (arg->type == CT_VALUE_TEXT)
		at = ct_append_uint(at, CT_PF_STRING, arg->text);
	else
		at = ct_append_uint(at, CT_PF_UINT, arg->u);
	ct_append_close_short(at, mark);
	return at;
}

static uint8_t *put_text(uint8_t *at, unsigned field, const struct ct_texts *texts, uint32_t text)
{
	return text ? ct_append_text(at, field, ct_texts_get(texts, text), CT_TIMELINE_FRAME_TEXT)
		    : at;
}

static uint8_t *put_frames(uint8_t *at, const struct ct_texts *texts,
			   const struct ct_timeline_slice *slice)
{
	uint8_t *stack, *mark;

	at = ct_append_open(at, CT_PF_CALLSTACK, &stack);
	for (unsigned i = 0; i < slice->n_frames && i < CT_TIMELINE_FRAMES; i++) {
		const struct ct_timeline_frame *frame = &slice->frames[i];

		at = ct_append_open(at, CT_PF_FRAMES, &mark);
		at = put_text(at, CT_PF_FUNCTION, texts, frame->function);
		at = put_text(at, CT_PF_FILE, texts, frame->file);
		if (frame->line)
			at = ct_append_uint(at, CT_PF_LINE, frame->line);
		ct_append_close(at, mark);
	}
	ct_append_close(at, stack);
	return at;
}

uint8_t *ct_event_begin(uint8_t *at, const struct ct_texts *texts,
			const struct ct_timeline_slice *slice)
{
	struct marks marks;

	at = open_packet(at, slice->begin_ns, CT_PF_NEEDS_STATE,
			 slice->instant ? CT_PF_INSTANT : CT_PF_BEGIN, slice->track, &marks);
	at = ct_append_uint(at, CT_PF_NAME, slice->name);
	at = ct_append_uint(at, CT_PF_CATEGORY, slice->category + 1u);
	for (unsigned i = 0; i < slice->n_args; i++)
		at = put_arg(at, &slice->args[i]);
	for (unsigned i = 0; i < 2; i++) {
		if (slice->flows[i])
			at = ct_append_fixed64(at, CT_PF_FLOW, slice->flows[i]);
	}
	for (unsigned i = 0; i < slice->n_ends && i < CT_TIMELINE_LIST; i++)
		at = ct_append_fixed64(at, CT_PF_FLOW_END, slice->ends[i]);
	if (slice->correlation)
		at = ct_append_uint(at, CT_PF_CORRELATION, slice->correlation);
	if (slice->n_frames)
		at = put_frames(at, texts, slice);
	return close_packet(at, &marks);
}

uint8_t *ct_event_end(uint8_t *at, uint32_t track, uint64_t end_ns)
{
	struct marks marks;

	at = open_packet(at, end_ns, 0, CT_PF_END, track, &marks);
	return close_packet(at, &marks);
}

uint8_t *ct_event_counter(uint8_t *at, uint32_t track, uint64_t at_ns, double value)
{
	struct marks marks;

	at = open_packet(at, at_ns, 0, CT_PF_COUNT, track, &marks);
	at = ct_append_double(at, CT_PF_COUNTER, value);
	return close_packet(at, &marks);
}
