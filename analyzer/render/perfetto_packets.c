/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/perfetto_packets.h"

#include <perfetto.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/perfetto_append.h"
#include "analyzer/render/perfetto_fields.h"

void ct_packet_fini(struct ct_packet *packet)
{
	free(packet->bytes);
	*packet = (struct ct_packet){ 0 };
}

/* Field and length of the trace, then the packet. */
static int pack(struct ct_packet *packet, const Ct__TracePacket *message)
{
	size_t len = ct__trace_packet__get_packed_size(message);
	uint8_t *at;

	if (len + 16 > packet->cap) {
		at = realloc(packet->bytes, len + 16);
		if (!at)
			return CT_NOMEM;
		packet->bytes = at;
		packet->cap = len + 16;
	}
	at = ct_append_key(packet->bytes, CT_PF_PACKET, CT_WIRE_BYTES);
	at = ct_append_varint(at, len);
	at += ct__trace_packet__pack(message, at);
	packet->len = (size_t)(at - packet->bytes);
	return CT_OK;
}

/* protobuf-c takes no const pointers, and changes nothing. */
static char *borrowed(const char *text)
{
	return (char *)(uintptr_t)text;
}

int ct_packet_clock(struct ct_packet *packet, uint64_t begin_unix_ns)
{
	Ct__ClockSnapshot__Clock boot = CT__CLOCK_SNAPSHOT__CLOCK__INIT;
	Ct__ClockSnapshot__Clock real = CT__CLOCK_SNAPSHOT__CLOCK__INIT;
	Ct__ClockSnapshot__Clock *clocks[] = { &boot, &real };
	Ct__ClockSnapshot snapshot = CT__CLOCK_SNAPSHOT__INIT;
	Ct__TracePacket message = CT__TRACE_PACKET__INIT;

	boot.has_clock_id = boot.has_timestamp = real.has_clock_id = real.has_timestamp = 1;
	boot.clock_id = CT_PF_BOOTTIME;
	real.clock_id = CT_PF_REALTIME;
	real.timestamp = begin_unix_ns;
	snapshot.n_clocks = 2;
	snapshot.clocks = clocks;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = CT_PF_BOOTTIME;
	message.clock_snapshot = &snapshot;
	message.has_trusted_packet_sequence_id = 1;
	message.trusted_packet_sequence_id = CT_PF_SEQUENCE;
	return pack(packet, &message);
}

int ct_packet_facts(struct ct_packet *packet, const struct ct_timeline_fact *facts, size_t n)
{
	Ct__TraceAttributes__Attribute *all = calloc(n + 1, sizeof(*all)), **list;
	Ct__TraceAttributes attributes = CT__TRACE_ATTRIBUTES__INIT;
	Ct__TracePacket message = CT__TRACE_PACKET__INIT;
	int st = CT_NOMEM;

	list = calloc(n + 1, sizeof(Ct__TraceAttributes__Attribute *));
	for (size_t i = 0; all && list && i < n; i++) {
		ct__trace_attributes__attribute__init(&all[i]);
		all[i].key = borrowed(facts[i].name);
		all[i].string_value = borrowed(facts[i].text);
		all[i].has_long_value = !facts[i].text;
		all[i].long_value = (int64_t)facts[i].number;
		list[i] = &all[i];
	}
	attributes.n_attribute = n;
	attributes.attribute = list;
	message.trace_attributes = &attributes;
	if (all && list)
		st = pack(packet, &message);
	free(all);
	free(list);
	return st;
}

int ct_packet_track(struct ct_packet *packet, const struct ct_timeline_track *track)
{
	Ct__CounterDescriptor counter = CT__COUNTER_DESCRIPTOR__INIT;
	Ct__TrackDescriptor descriptor = CT__TRACK_DESCRIPTOR__INIT;
	Ct__TracePacket message = CT__TRACE_PACKET__INIT;

	descriptor.has_uuid = 1;
	descriptor.uuid = track->id;
	descriptor.has_parent_uuid = track->parent != 0;
	descriptor.parent_uuid = track->parent;
	descriptor.name = borrowed(track->name);
	descriptor.description = borrowed(track->description);
	if (track->kind == CT_TRACK_GROUP) {
		descriptor.has_child_ordering = 1;
		descriptor.child_ordering = CT_PF_ORDER_EXPLICIT;
	}
	descriptor.has_sibling_order_rank = track->parent != 0;
	descriptor.sibling_order_rank = track->order;
	descriptor.has_sibling_merge_behavior = 1;
	descriptor.sibling_merge_behavior = track->merged ? CT_PF_MERGE_BY_NAME : CT_PF_MERGE_NONE;
	if (track->kind == CT_TRACK_COUNTER) {
		counter.unit_name = borrowed("GB/s");
		counter.y_axis_share_key = borrowed("busbw");
		descriptor.counter = &counter;
	}
	message.track_descriptor = &descriptor;
	return pack(packet, &message);
}

/* `n` names with the numbers 1..n. */
static int set_names(Ct__InternedName *names, Ct__InternedName **list, size_t n,
		     const char *(*name_of)(unsigned))
{
	for (size_t i = 0; i < n; i++) {
		ct__interned_name__init(&names[i]);
		names[i].has_iid = 1;
		names[i].iid = i + 1;
		names[i].name = borrowed(name_of((unsigned)i));
		list[i] = &names[i];
	}
	return (int)n;
}

static const char *key_name(unsigned key)
{
	return ct_timeline_key_name((enum ct_timeline_key)key);
}

static const char *category_name(unsigned category)
{
	return ct_timeline_category_name((enum ct_timeline_category)category);
}

static void set_sequence(Ct__TracePacket *message, unsigned flags, Ct__InternedData *data)
{
	message->has_trusted_packet_sequence_id = 1;
	message->trusted_packet_sequence_id = CT_PF_SEQUENCE;
	message->has_sequence_flags = 1;
	message->sequence_flags = flags;
	message->interned_data = data;
}

int ct_packet_first(struct ct_packet *packet)
{
	Ct__InternedName keys[CT_ARG_MAX], *key_list[CT_ARG_MAX];
	Ct__InternedName categories[CT_CATEGORY_MAX], *category_list[CT_CATEGORY_MAX];
	Ct__InternedData data = CT__INTERNED_DATA__INIT;
	Ct__TracePacket message = CT__TRACE_PACKET__INIT;

	data.n_debug_annotation_names = (size_t)set_names(keys, key_list, CT_ARG_MAX, key_name);
	data.debug_annotation_names = key_list;
	data.n_event_categories = (size_t)set_names(categories, category_list, CT_CATEGORY_MAX,
						    category_name);
	data.event_categories = category_list;
	set_sequence(&message, CT_PF_STATE_CLEARED | CT_PF_NEEDS_STATE, &data);
	message.has_first_packet_on_sequence = 1;
	message.first_packet_on_sequence = 1;
	return pack(packet, &message);
}

int ct_packet_intern(struct ct_packet *packet, enum ct_interned kind, uint32_t number,
		     const char *text)
{
	Ct__InternedName name = CT__INTERNED_NAME__INIT, *names[] = { &name };
	Ct__InternedString value = CT__INTERNED_STRING__INIT, *values[] = { &value };
	Ct__InternedData data = CT__INTERNED_DATA__INIT;
	Ct__TracePacket message = CT__TRACE_PACKET__INIT;

	if (kind == CT_INTERNED_NAME) {
		name.has_iid = 1;
		name.iid = number;
		name.name = borrowed(text);
		data.n_event_names = 1;
		data.event_names = names;
	} else {
		value.has_iid = value.has_str = 1;
		value.iid = number;
		value.str.data = (uint8_t *)borrowed(text);
		value.str.len = strlen(text);
		data.n_debug_annotation_string_values = 1;
		data.debug_annotation_string_values = values;
	}
	set_sequence(&message, CT_PF_NEEDS_STATE, &data);
	return pack(packet, &message);
}
