/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/python_stack.h"

#include "interpose/python/python.h"

#define MOST_THREADS 256u /* size: of Python; of those beyond the frames of C are known */
#define MOST_FRAMES 64u	  /* size: from the inner end, as many as of C (walk.h) */

/* Owned by the sampling thread. */
static struct ct_python_thread threads[MOST_THREADS];
static uint32_t n_threads;

void ct_python_stack_begin(void)
{
	const struct ct_python *py = ct_python_here();

	n_threads = py ? ct_python_threads(py, ct_python_read_safely, threads, MOST_THREADS) : 0;
}

static void add(struct ct_frames *frames, const struct ct_python *py, uintptr_t state)
{
	struct ct_python_cursor cursor;
	struct ct_python_frame at;
	int got = 1;

	ct_python_first(py, ct_python_read_safely, state, &cursor);
	for (unsigned i = 0; i < MOST_FRAMES; i++) {
		struct ct_stack_frame frame = { .kind = CT_FRAME_PYTHON };

		got = ct_python_next(py, ct_python_read_safely, &cursor, &at);
		if (got <= 0)
			break;
		frame.line = at.line;
		got = ct_frames_add(frames, &frame, at.func, at.file) == 0 ? 1 : -1;
		if (got < 0)
			break;
	}
	/* there were more of them, or they cannot be read */
	if (got)
		frames->head.flags |= CT_STACK_CUT;
}

void ct_python_stack(struct ct_frames *frames, uint32_t tid)
{
	const struct ct_python *py = ct_python_here();

	for (uint32_t i = 0; py && i < n_threads; i++)
		if (threads[i].tid == tid)
			add(frames, py, threads[i].state);
}
