/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/perfetto/same_event.h"

#include "analyzer/render/perfetto_fields.h"

static void set(struct same_event *same, uint64_t at_ns, unsigned type, uint32_t track)
{
	ct__trace_packet__init(&same->packet);
	ct__track_event__init(&same->event);
	same->packet.has_timestamp = 1;
	same->packet.timestamp = at_ns;
	same->packet.has_trusted_packet_sequence_id = 1;
	same->packet.trusted_packet_sequence_id = CT_PF_SEQUENCE;
	same->packet.track_event = &same->event;
	same->event.has_type = same->event.has_track_uuid = 1;
	same->event.type = type;
	same->event.track_uuid = track;
}

static void set_pair(struct same_event *same, unsigned item, Ct__DebugAnnotation **pair,
		     enum ct_timeline_key key)
{
	size_t n = same->items[item].n_dict_entries++;

	*pair = same->pair_list[item][n] = &same->pairs[item][n];
	ct__debug_annotation__init(*pair);
	(*pair)->has_name_iid = 1;
	(*pair)->name_iid = key + 1u;
}

static void set_part(struct same_event *same, unsigned item, const struct ct_timeline_part *part)
{
	Ct__DebugAnnotation *pair;

	same->items[item].dict_entries = same->pair_list[item];
	set_pair(same, item, &pair, CT_ARG_op);
	pair->has_string_value_iid = 1;
	pair->string_value_iid = part->op;
	set_pair(same, item, &pair, CT_ARG_seq);
	pair->has_uint_value = 1;
	pair->uint_value = part->seq;
	set_pair(same, item, &pair, CT_ARG_bytes);
	pair->has_uint_value = 1;
	pair->uint_value = part->bytes;
	if (part->peer < 0)
		return;
	set_pair(same, item, &pair, CT_ARG_peer);
	pair->has_int_value = 1;
	pair->int_value = part->peer;
}

static void set_list(struct same_event *same, Ct__DebugAnnotation *a,
		     const struct ct_timeline_arg *arg)
{
	a->n_array_values = arg->n;
	a->array_values = same->item_list;
	for (unsigned i = 0; i < arg->n; i++) {
		same->item_list[i] = &same->items[i];
		ct__debug_annotation__init(&same->items[i]);
		if (arg->type == CT_VALUE_PARTS) {
			set_part(same, i, &arg->parts[i]);
		} else {
			same->items[i].has_int_value = 1;
			same->items[i].int_value = arg->ints[i];
		}
	}
}

static void set_arg(struct same_event *same, Ct__DebugAnnotation *a,
		    const struct ct_timeline_arg *arg)
{
	ct__debug_annotation__init(a);
	a->has_name_iid = 1;
	a->name_iid = arg->key + 1u;
	switch ((enum ct_timeline_type)arg->type) {
	case CT_VALUE_UINT:
		a->has_uint_value = 1;
		a->uint_value = arg->u;
		break;
	case CT_VALUE_INT:
		a->has_int_value = 1;
		a->int_value = arg->i;
		break;
	case CT_VALUE_DOUBLE:
		a->has_double_value = 1;
		a->double_value = arg->d;
		break;
	case CT_VALUE_TEXT:
		a->has_string_value_iid = 1;
		a->string_value_iid = arg->text;
		break;
	case CT_VALUE_PARTS:
	case CT_VALUE_INTS:
		set_list(same, a, arg);
		break;
	}
}

static char *text_of(const struct ct_texts *texts, uint32_t number)
{
	return number ? (char *)(uintptr_t)ct_texts_get(texts, number) : NULL;
}

static void set_frames(struct same_event *same, const struct ct_texts *texts,
		       const struct ct_timeline_slice *slice)
{
	ct__track_event__callstack__init(&same->callstack);
	same->event.callstack = &same->callstack;
	same->callstack.n_frames = slice->n_frames;
	same->callstack.frames = same->frame_list;
	for (unsigned i = 0; i < slice->n_frames; i++) {
		same->frame_list[i] = &same->frames[i];
		ct__track_event__frame__init(&same->frames[i]);
		same->frames[i].function_name = text_of(texts, slice->frames[i].function);
		same->frames[i].source_file = text_of(texts, slice->frames[i].file);
		same->frames[i].has_line_number = slice->frames[i].line != 0;
		same->frames[i].line_number = slice->frames[i].line;
	}
}

void same_event_begin(struct same_event *same, const struct ct_texts *texts,
		      const struct ct_timeline_slice *slice)
{
	Ct__TrackEvent *event = &same->event;

	set(same, slice->begin_ns, slice->instant ? CT_PF_INSTANT : CT_PF_BEGIN, slice->track);
	same->packet.has_sequence_flags = 1;
	same->packet.sequence_flags = CT_PF_NEEDS_STATE;
	event->has_name_iid = 1;
	event->name_iid = slice->name;
	same->category = slice->category + 1u;
	event->n_category_iids = 1;
	event->category_iids = &same->category;
	event->n_debug_annotations = slice->n_args;
	event->debug_annotations = same->arg_list;
	for (unsigned i = 0; i < slice->n_args; i++) {
		same->arg_list[i] = &same->args[i];
		set_arg(same, &same->args[i], &slice->args[i]);
	}
	event->flow_ids = same->flows;
	for (unsigned i = 0; i < 2; i++) {
		if (slice->flows[i])
			same->flows[event->n_flow_ids++] = slice->flows[i];
	}
	event->terminating_flow_ids = same->ends;
	for (unsigned i = 0; i < slice->n_ends; i++)
		same->ends[event->n_terminating_flow_ids++] = slice->ends[i];
	event->has_correlation_id = slice->correlation != 0;
	event->correlation_id = slice->correlation;
	if (slice->n_frames)
		set_frames(same, texts, slice);
}

void same_event_end(struct same_event *same, uint32_t track, uint64_t end_ns)
{
	set(same, end_ns, CT_PF_END, track);
}

void same_event_counter(struct same_event *same, uint32_t track, uint64_t at_ns, double value)
{
	set(same, at_ns, CT_PF_COUNT, track);
	same->event.has_double_counter_value = 1;
	same->event.double_counter_value = value;
}
