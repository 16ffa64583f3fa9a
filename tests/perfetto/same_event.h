/* SPDX-License-Identifier: Apache-2.0 */
/* same_event.h — a slice as a message of protobuf-c, field by field as the appender writes it: what
 * the test compares and the benchmark races. One thread. */
#ifndef CT_TESTS_PERFETTO_SAME_EVENT_H
#define CT_TESTS_PERFETTO_SAME_EVENT_H

#include <perfetto.pb-c.h>

#include "analyzer/timeline/timeline.h"

/* All that one message is made of; its pointers are into itself. */
struct same_event {
	Ct__TracePacket packet;
	Ct__TrackEvent event;
	Ct__DebugAnnotation args[CT_TIMELINE_ARGS], *arg_list[CT_TIMELINE_ARGS];
	Ct__DebugAnnotation items[CT_TIMELINE_LIST], *item_list[CT_TIMELINE_LIST];
	Ct__DebugAnnotation pairs[CT_TIMELINE_LIST][4], *pair_list[CT_TIMELINE_LIST][4];
	Ct__TrackEvent__Callstack callstack;
	Ct__TrackEvent__Frame frames[CT_TIMELINE_FRAMES], *frame_list[CT_TIMELINE_FRAMES];
	uint64_t category, flows[2], ends[CT_TIMELINE_LIST];
};

/* `texts`: of the frames; may be NULL where there are none. */
void same_event_begin(struct same_event *same, const struct ct_texts *texts,
		      const struct ct_timeline_slice *slice);
void same_event_end(struct same_event *same, uint32_t track, uint64_t end_ns);
void same_event_counter(struct same_event *same, uint32_t track, uint64_t at_ns, double value);

#endif
