/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/port_counters.h"

#include <string.h>

#include "trace/block_model.h"

#define LARGEST(bits) ((bits) == 64 ? UINT64_MAX : (UINT64_C(1) << ((bits)&63)) - 1)

const struct ct_port_counter ct_port_counters[CT_PORT_COUNTER_IDS] = {
#define X(NAME, id, of, file, class, scale, bits, noise)                                           \
	[id] = { #NAME, file, CT_PORT_##of, CT_PORT_##class, scale, LARGEST(bits), noise },
#include "trace/port_counters.def"
#undef X
};

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 128) {
		*p++ = (uint8_t)v | 128;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Is there an entry to write for this counter? It was not there or had another value before; or it
 * is gone. */
static int differs(const struct ct_port_values *now, const struct ct_port_values *before,
		   unsigned id)
{
	uint64_t bit = UINT64_C(1) << id;

	if ((now->present & bit) != (before->present & bit))
		return 1;
	return (now->present & bit) && now->value[id] != before->value[id];
}

static uint8_t *put_port(uint8_t *p, const struct ct_port_values *now,
			 const struct ct_port_values *before)
{
	unsigned n = 0;

	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++)
		n += (unsigned)differs(now, before, id);
	p = put_varint(p, n);
	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
		int gone = !(now->present >> id & 1);

		if (!differs(now, before, id))
			continue;
		p = put_varint(p, id << 1 | (unsigned)gone);
		if (!gone)
			p = put_varint(
				p, ct_zigzag((int64_t)(now->value[id] - (before->present >> id & 1
										 ? before->value[id]
										 : 0))));
	}
	return p;
}

size_t ct_port_sample_encode(const struct ct_port_sample *sample, const struct ct_port_sample *base,
			     uint8_t *to)
{
	static const struct ct_port_values nothing;
	struct ct_counters_rec head = sample->head;
	uint8_t *p = to + sizeof(head);

	head.base = base ? base->head.number : 0;
	memcpy(to, &head, sizeof(head));
	for (unsigned port = 0; port < CT_PORTS_MOST; port++) {
		if (!(sample->ports >> port & 1))
			continue;
		p = put_varint(p, port + 1);
		p = put_port(p, &sample->values[port],
			     base && (base->ports >> port & 1) ? &base->values[port] : &nothing);
	}
	return (size_t)(p - to);
}

struct counter_cursor {
	const uint8_t *p, *end;
	int bad;
};

static uint64_t get_varint(struct counter_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
		uint8_t byte = *c->p++;

		v |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return v;
	}
	c->bad = 1;
	return 0;
}

static void get_port(struct counter_cursor *c, struct ct_port_values *values)
{
	uint64_t n = get_varint(c);

	for (; n && !c->bad; n--) {
		uint64_t what = get_varint(c), id = what >> 1;
		uint64_t by = what & 1 ? 0 : (uint64_t)ct_unzigzag(get_varint(c));

		if (c->bad || id >= CT_PORT_COUNTER_IDS)
			continue;
		if (what & 1) {
			values->present &= ~(UINT64_C(1) << id);
			continue;
		}
		values->value[id] = (values->present >> id & 1 ? values->value[id] : 0) + by;
		values->present |= UINT64_C(1) << id;
	}
}

int ct_port_sample_decode(struct ct_port_sample *sample, const struct ct_port_sample *base,
			  const uint8_t *bytes, size_t len)
{
	struct counter_cursor c = { bytes + sizeof(sample->head), bytes + len, 0 };

	if (len < sizeof(sample->head))
		return 0;
	memcpy(&sample->head, bytes, sizeof(sample->head));
	if (!sample->head.number ||
	    (sample->head.base && (!base || base->head.number != sample->head.base)))
		return 0;
	sample->ports = 0;
	while (c.p < c.end && !c.bad) {
		uint64_t port = get_varint(&c) - 1;
		struct ct_port_values ignored = { 0 };

		if (c.bad || port >= CT_PORTS_MOST || (sample->ports >> port & 1)) {
			get_port(&c, &ignored);
			continue;
		}
		sample->ports |= UINT64_C(1) << port;
		if (sample->head.base && (base->ports >> port & 1))
			sample->values[port] = base->values[port];
		else
			sample->values[port].present = 0;
		get_port(&c, &sample->values[port]);
	}
	return !c.bad;
}
