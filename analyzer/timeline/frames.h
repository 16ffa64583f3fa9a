/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h — a call site, as the recorder and other tools write it, as a frame of a call stack. Pure except for the
 * texts, which note a lack of memory. */
#ifndef CT_ANALYZER_TIMELINE_FRAMES_H
#define CT_ANALYZER_TIMELINE_FRAMES_H

#include "analyzer/timeline/timeline.h"

/* "FILE:LINE FUNCTION", "FILE:LINE", or anything else, which becomes the function (an offset in an object). `whose` NULL, or
 * stands before the function. Of several that are separated by " < " the first, which is the innermost. */
void ct_frame_of(struct ct_texts *texts, const char *whose, const char *site,
		 struct ct_chart_frame *frame);

/* All of them, the outermost first; `frames` has room for CT_CHART_FRAMES. Returns how many there are. */
uint8_t ct_frames_of(struct ct_texts *texts, const char *site, struct ct_chart_frame *frames);

#endif
