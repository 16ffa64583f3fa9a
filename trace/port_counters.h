/* SPDX-License-Identifier: Apache-2.0 */
/* port_counters.h — the counters of a host's network ports at one moment, and the COUNTERS record
 * that holds them.
 *
 * A sample is whole, or says how it differs from the whole one before it
 * (docs/dev/TRACE_FORMAT.md): counters that do not move cost nothing. Values are the kernel's own,
 * before `scale` of port_counters.def. Pure, no memory of its own. */
#ifndef CT_TRACE_PORT_COUNTERS_H
#define CT_TRACE_PORT_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define CT_PORT_COUNTER_IDS 64u /* fact: of the format, whose ids are below it */
#define CT_PORTS_MOST 64u	/* fact: of the format: the ids of a process are 1..64 */

enum ct_port_counter_class {
	CT_PORT_RX,
	CT_PORT_TX,
	CT_PORT_DOWN,
	CT_PORT_ERROR,
	CT_PORT_RETRY,
	CT_PORT_NOTE
};

struct ct_port_counter {
	const char *name, *file;
	enum ct_port_kind of; /* CT_PORT_UNKNOWN: there is no counter of this id */
	enum ct_port_counter_class class;
	uint32_t scale;
	uint64_t largest; /* it stops here; UINT64_MAX: it does not stop */
	uint32_t noise;
};

/* By id. */
extern const struct ct_port_counter ct_port_counters[CT_PORT_COUNTER_IDS];

/* Ids in use by this version, as enumeration: CT_PORT_COUNTER_rx_bytes, ... */
enum ct_port_counter_id {
#define X(NAME, id, of, file, class, scale, bits, noise) CT_PORT_COUNTER_##NAME = id,
#include "trace/port_counters.def"
#undef X
};

struct ct_port_values {
	uint64_t present; /* bit of each counter that was read */
	uint64_t value[CT_PORT_COUNTER_IDS];
};

struct ct_port_sample {
	struct ct_counters_rec head;
	uint64_t ports;				     /* bit id - 1 of each port present */
	struct ct_port_values values[CT_PORTS_MOST]; /* by id - 1 */
};

/* A whole sample never needs more bytes. */
#define CT_PORT_SAMPLE_BYTES (sizeof(struct ct_counters_rec) + CT_PORTS_MOST * (4 + 64 * 12))

/* The record's payload in to[CT_PORT_SAMPLE_BYTES]: against `base`, or whole (NULL). Returns its
 * length. */
size_t ct_port_sample_encode(const struct ct_port_sample *sample, const struct ct_port_sample *base,
			     uint8_t *to);

/* Decodes untrusted bytes. base: the latest complete sample, NULL if none was seen. 1: *sample is
 * filled; 0: it is a difference to another base, or not such a record. Unknown ids are skipped.
 * sample == base is not allowed. */
int ct_port_sample_decode(struct ct_port_sample *sample, const struct ct_port_sample *base,
			  const uint8_t *bytes, size_t len);

#endif
