/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h — stacks of the threads of one process during a stall: its STACK records from all
 * blocks. For each thread the latest sample counts, and whether the one before it, in the same
 * stall, had the same stack. Strings are printable UTF-8 and live, with all else, as long as the
 * arena. One thread per list. */
#ifndef CT_ANALYZER_LOAD_STACKS_H
#define CT_ANALYZER_LOAD_STACKS_H

#include <stddef.h>

#include "analyzer/base/arena.h"
#include "trace/format.h"

/* size: bounds on sizes in a damaged file. */
#define CT_STACK_THREADS 64u
#define CT_STACK_FRAMES 512u

struct ct_stack_line {
	enum ct_frame_kind kind;
	unsigned flags;	      /* enum ct_frame_flag */
	const char *function; /* "" not known */
	const char *file;     /* likewise */
	uint64_t offset;      /* in the file; native frames only */
	uint32_t line;	      /* 0 not known */
};

struct ct_stack {
	struct ct_stack_rec rec;     /* `thread` is printable and ends in NUL */
	struct ct_stack_line *lines; /* innermost first: native ones, then Python's */
	uint32_t n;
	/* The look before at the same standstill: 0 there was none. Then has the thread been in the
	 * same frames, and how much CPU time has it used since? */
	uint64_t before_ns;
	int is_same;
	uint64_t cpu_since_ns; /* UINT64_MAX: not known */
	/* Not of a record: taken just now by attaching to the process, for which the thread was
	 * paused so long, 0 not at all. Then `rec` has no times. */
	int is_taken_now;
	uint64_t paused_ns;
};

/* All of them: of the latest look first, those inside a recorded call first, then the main thread. */
struct ct_stack_list {
	struct ct_arena *memory;
	struct ct_stack stacks[CT_STACK_THREADS];
	uint32_t n;
	uint32_t damaged; /* records that make no sense */
};

/* Take one record. Records may come twice, in any order of looks. 0 or CT_NOMEM. */
int ct_stack_list_take(struct ct_stack_list *list, const uint8_t *bytes, size_t len);

/* Put them in order. Once, when the process has been read. */
void ct_stack_list_sort(struct ct_stack_list *list);

#endif
