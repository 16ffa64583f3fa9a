/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_packets.h — the packets that are rare, by protobuf-c: clock, facts about the whole,
 * tracks, interned texts. Each makes one packet, with the field of the trace that holds it. */
#ifndef CT_ANALYZER_RENDER_PERFETTO_PACKETS_H
#define CT_ANALYZER_RENDER_PERFETTO_PACKETS_H

#include "analyzer/timeline/timeline.h"

/* A packet; its memory is used again by the next one. Zeroed: empty. */
struct ct_packet {
	uint8_t *bytes;
	size_t len, cap;
};
void ct_packet_fini(struct ct_packet *packet);

/* All return 0 or CT_NOMEM. */

/* Time 0 of the file is this moment. */
int ct_packet_clock(struct ct_packet *packet, uint64_t begin_unix_ns);
int ct_packet_facts(struct ct_packet *packet, const struct ct_timeline_fact *facts, size_t n);
int ct_packet_track(struct ct_packet *packet, const struct ct_timeline_track *track);
/* The first of the sequence: categories and keys of arguments. */
int ct_packet_first(struct ct_packet *packet);
enum ct_interned { CT_INTERNED_NAME, CT_INTERNED_VALUE };
int ct_packet_intern(struct ct_packet *packet, enum ct_interned kind, uint32_t number,
		     const char *text);

#endif
