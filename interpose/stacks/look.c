/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/look.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/recorder.h"
#include "interpose/stacks/callers.h"
#include "interpose/stacks/frames.h"
#include "interpose/stacks/map.h"
#include "interpose/stacks/names.h"
#include "interpose/stacks/python_stack.h"
#include "interpose/stacks/task.h"
#include "interpose/stacks/walk.h"

#define TRIES 10u /* size: a millisecond apart, to catch a thread that runs in a system call */

/* All of the one thread that looks. */
static struct ct_code_map map;
static struct ct_caller callers[CT_CALLERS];

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 1000000 };

	nanosleep(&t, NULL);
}

/* The threads to look at, most useful first; how many. */
static uint32_t choose(struct ct_caller chosen[CT_LOOK_THREADS])
{
	uint32_t n_callers = ct_callers_read(callers, CT_CALLERS), n = 0;
	uint32_t main_tid = (uint32_t)getpid();
	int has_main = 0;

	for (uint32_t i = 0; i < n_callers && n < CT_LOOK_THREADS - 1; i++) {
		if (!callers[i].depth)
			continue;
		has_main |= callers[i].tid == main_tid;
		chosen[n++] = callers[i];
	}
	if (!has_main)
		chosen[n++] = (struct ct_caller){ .tid = main_tid };
	for (uint32_t i = 0; i < n_callers && n < CT_LOOK_THREADS; i++)
		if (!callers[i].depth && callers[i].tid != main_tid)
			chosen[n++] = callers[i];
	return n;
}

/* Where the thread sleeps; a running one is polled for a while. -1: it has ended. */
static int find_task(struct ct_proc_task *task, uint32_t tid)
{
	for (unsigned i = 0;; i++) {
		if (ct_task_read(task, tid) != 0)
			return -1;
		if (task->where != CT_TASK_RUNNING || i == TRIES)
			return 0;
		nap();
	}
}

static uint16_t walk_task(struct ct_walk *walk, const struct ct_proc_task *task, uintptr_t wrapper)
{
	uint16_t flags = 0;

	walk->n = 0;
	walk->is_whole = 0;
	if (task->where == CT_TASK_SLEEPS) {
		ct_walk_sleeping(walk, &map, task->pc, task->sp, wrapper);
		if (!ct_task_is_still(task))
			flags |= CT_STACK_MOVED;
	} else {
		flags |= task->where == CT_TASK_RUNNING ? CT_STACK_RUNNING : CT_STACK_HIDDEN;
		if (wrapper)
			ct_walk_wrapper(walk, &map, wrapper);
	}
	return walk->is_whole ? flags : flags | CT_STACK_CUT;
}

static void add_native(struct ct_frames *frames, const struct ct_walk *walk, int with_names)
{
	for (uint32_t i = 0; i < walk->n; i++) {
		const struct ct_walk_frame *at = &walk->frames[i];
		struct ct_stack_frame frame = {
			.kind = CT_FRAME_NATIVE,
			.flags = (uint8_t)((at->flags & CT_WALK_GUESSED ? CT_FRAME_GUESSED : 0) |
					   (at->flags & CT_WALK_GAP ? CT_FRAME_GAP : 0)),
			.offset = at->code ? at->pc - at->code->bias : 0,
		};
		char name[192];

		name[0] = '\0';
		if (with_names)
			ct_name_of(&map, at->code, at->pc, name, sizeof(name));
		if (ct_frames_add(frames, &frame, name,
				  at->code ? ct_code_path(&map, at->code) : "") != 0) {
			frames->head.flags |= CT_STACK_CUT;
			return;
		}
	}
}

/* The length of the record, 0: the thread has ended. */
static size_t look_at(const struct ct_look *look, const struct ct_caller *caller, uint8_t *bytes,
		      size_t room)
{
	struct ct_frames frames;
	struct ct_proc_task task;
	struct ct_walk walk;

	if (find_task(&task, caller->tid) != 0)
		return 0;
	ct_frames_begin(&frames, bytes, room);
	frames.head.taken_ns = ct_now_ns();
	frames.head.since_ns = look->since_ns;
	frames.head.cpu_ns = task.cpu_ns;
	frames.head.tid = task.tid;
	frames.head.take = look->take;
	frames.head.n_threads = look->n_threads;
	frames.head.why = (uint8_t)look->why;
	frames.head.state = task.state;
	frames.head.call = task.call;
	memcpy(frames.head.thread, task.name, sizeof(frames.head.thread));
	frames.head.flags = walk_task(&walk, &task, caller->wrapper);
	if (task.tid == (uint32_t)getpid())
		frames.head.flags |= CT_STACK_MAIN;
	if (caller->depth)
		frames.head.flags |= CT_STACK_IN_CALL;
	add_native(&frames, &walk, look->with_names);
	if (look->with_python)
		ct_python_stack(&frames, task.tid);
	return ct_frames_end(&frames);
}

void ct_look_take(struct ct_look *look)
{
	struct ct_caller chosen[CT_LOOK_THREADS];
	uint32_t n = choose(chosen), threads;
	size_t used = 0;

	look->n = 0;
	threads = ct_task_count();
	look->n_threads = (uint16_t)(threads < UINT16_MAX ? threads : UINT16_MAX);
	ct_code_read(&map);
	if (look->with_python)
		ct_python_stack_begin();
	for (uint32_t i = 0; i < n && CT_LOOK_BYTES - used > sizeof(struct ct_stack_rec); i++) {
		size_t room = CT_LOOK_BYTES - used;
		size_t len = look_at(look, &chosen[i], look->bytes + used,
				     room < CT_LOOK_RECORD ? room : CT_LOOK_RECORD);

		if (!len)
			continue;
		look->len[look->n++] = (uint32_t)len;
		used += len;
	}
}
