/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_events.h — slices and counters as packets of Perfetto's format, by the appender. Interned
 * numbers: those of a category and of a key are its index + 1, a text has its own. Pure. */
#ifndef CT_ANALYZER_RENDER_PERFETTO_EVENTS_H
#define CT_ANALYZER_RENDER_PERFETTO_EVENTS_H

#include "analyzer/timeline/timeline.h"

/* No packet below takes more. */
#define CT_EVENT_MAX 14336u

/* Each writes one packet at `at`, with the field of the trace that holds it, and returns its end.
 * Frames are not interned texts: they come from `texts`. */
uint8_t *ct_event_begin(uint8_t *at, const struct ct_texts *texts,
			const struct ct_timeline_slice *slice); /* also an instant */
uint8_t *ct_event_end(uint8_t *at, uint32_t track, uint64_t end_ns);
uint8_t *ct_event_counter(uint8_t *at, uint32_t track, uint64_t at_ns, double value);

#endif
