/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_fields.h — the numbers of Perfetto's format that the appender writes; the rest is in
 * perfetto.proto, and a test holds the two against each other. */
#ifndef CT_ANALYZER_RENDER_PERFETTO_FIELDS_H
#define CT_ANALYZER_RENDER_PERFETTO_FIELDS_H

enum {
	CT_PF_PACKET = 1, /* Trace */

	CT_PF_TIMESTAMP = 8, /* TracePacket */
	CT_PF_SEQUENCE_ID = 10,
	CT_PF_TRACK_EVENT = 11,
	CT_PF_SEQUENCE_FLAGS = 13,
	CT_PF_COMPRESSED = 50,

	CT_PF_CATEGORY = 3, /* TrackEvent */
	CT_PF_ANNOTATION = 4,
	CT_PF_TYPE = 9,
	CT_PF_NAME = 10,
	CT_PF_TRACK = 11,
	CT_PF_COUNTER = 44,
	CT_PF_FLOW = 47,
	CT_PF_FLOW_END = 48,
	CT_PF_CORRELATION = 52,
	CT_PF_CALLSTACK = 55,

	CT_PF_FRAMES = 1, /* TrackEvent.Callstack, and Frame */
	CT_PF_FUNCTION = 1,
	CT_PF_FILE = 2,
	CT_PF_LINE = 3,

	CT_PF_KEY = 1, /* DebugAnnotation */
	CT_PF_UINT = 3,
	CT_PF_INT = 4,
	CT_PF_DOUBLE = 5,
	CT_PF_DICT = 11,
	CT_PF_ARRAY = 12,
	CT_PF_STRING = 17,
};

enum { CT_PF_BEGIN = 1, CT_PF_END = 2, CT_PF_INSTANT = 3, CT_PF_COUNT = 4 }; /* TrackEvent.type */

/* One sequence for the whole file: there is one writer. */
#define CT_PF_SEQUENCE 1u
/* TracePacket.sequence_flags */
#define CT_PF_STATE_CLEARED 1u
#define CT_PF_NEEDS_STATE 2u

#define CT_PF_REALTIME 1u /* clock ids */
#define CT_PF_BOOTTIME 6u

#define CT_PF_ORDER_EXPLICIT 3u /* TrackDescriptor */
#define CT_PF_MERGE_BY_NAME 1u
#define CT_PF_MERGE_NONE 2u

#endif
