/* SPDX-License-Identifier: Apache-2.0 */
/* frames.h — the bytes of one STACK record: the head, and the frames behind it. Plain memory of the
 * caller's. */
#ifndef CT_INTERPOSE_STACKS_FRAMES_H
#define CT_INTERPOSE_STACKS_FRAMES_H

#include <stddef.h>

#include "trace/format.h"

struct ct_frames {
	uint8_t *bytes;
	size_t room, used; /* `used` begins behind the head */
	struct ct_stack_rec head;
};

void ct_frames_begin(struct ct_frames *frames, uint8_t *bytes, size_t room);

/* One more frame; long names lose their ends, long paths their beginnings. 0, or -1: no space. */
int ct_frames_add(struct ct_frames *frames, const struct ct_stack_frame *frame,
		  const char *function, const char *file);

/* Put the head in front. The length of it all. */
size_t ct_frames_end(struct ct_frames *frames);

#endif
