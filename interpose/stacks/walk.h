/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h — the frames of another thread of this process, by reading memory alone.
 *
 * Of a thread that sleeps in the kernel two registers are known: where it is, and where its stack
 * is. Most frames need no more. Where one does, its caller is looked for on the stack: a return
 * address behind a call that leads to this function. Of a running thread only the wrapper that it
 * is inside is known, if any: its stack is known from there outwards. */
#ifndef CT_INTERPOSE_STACKS_WALK_H
#define CT_INTERPOSE_STACKS_WALK_H

#include "interpose/stacks/map.h"

#define CT_WALK_FRAMES 64u /* size: from the inner end; those of Python come beside them */

enum {
	CT_WALK_GUESSED = 1 << 0, /* found by looking for it on the stack */
	CT_WALK_GAP = 1 << 1,	  /* frames before this one are missing */
};

struct ct_walk_frame {
	uintptr_t pc;			   /* an address inside the call, or where the thread is */
	const struct ct_mapped_code *code; /* NULL: no file's */
	uint8_t flags;
};

struct ct_walk {
	uint32_t n;
	int is_whole; /* the last one is the thread's first function */
	struct ct_walk_frame frames[CT_WALK_FRAMES];
};

/* From the registers of a sleeping thread on. `wrapper`: where on the stack our frame lies, 0 none;
 * frames of this library itself are left out. */
void ct_walk_sleeping(struct ct_walk *walk, struct ct_code_map *map, uintptr_t pc, uintptr_t sp,
		      uintptr_t wrapper);

/* From a wrapper on. */
void ct_walk_wrapper(struct ct_walk *walk, struct ct_code_map *map, uintptr_t wrapper);

#endif
