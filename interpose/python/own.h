/* SPDX-License-Identifier: Apache-2.0 */
/* own.h — which frames of the calling thread are the program's own, by plain loads.
 *
 * Only after ct_python_own_check() found that all numbers are right. A thread's frames are its own
 * and do not change while it is inside a call, with the GIL or without. Code objects may go and
 * others take their addresses: each is known by its address, file, name, first line and table of
 * lines together. Frames of libraries that pass calls on (PASSED_OVER in own.c) are passed over,
 * unless there is nothing else. Any thread; no lock, nothing allocates. */
#ifndef CT_INTERPOSE_PYTHON_OWN_H
#define CT_INTERPOSE_PYTHON_OWN_H

#include "interpose/python/python.h"

#define CT_PYTHON_OWN_FRAMES                                                                       \
	3u /* tuning: the line, and the two calls that distinguish it from others */

struct ct_python_own {
	uint64_t key; /* of the frames below and where they are in their code; never 0 */
	uint32_t n;
	uintptr_t frames[CT_PYTHON_OWN_FRAMES]; /* innermost first, as in a cursor */
};

/* 1; 0: the thread has no frames. */
int ct_python_own(const struct ct_python *py, uintptr_t state, struct ct_python_own *own);

/* Walks over all frames of a thread's state through the kernel. 1: all is consistent; 0: there are
 * no frames to check; -1: inconsistent. */
int ct_python_own_check(const struct ct_python *py, uintptr_t state);

/* Is this a file whose frames are passed over? */
int ct_python_passes_over(const char *file);

/* Forget what is known of code objects. Before the gate opens. */
void ct_python_own_clear(void);

#endif
