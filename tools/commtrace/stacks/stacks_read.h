/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_read.h — one process of "commtrace.stacks/1" as values: the stacks in the form in which
 * recorded ones are. Texts are the arena's. Pure. */
#ifndef CT_TOOLS_COMMTRACE_STACKS_STACKS_READ_H
#define CT_TOOLS_COMMTRACE_STACKS_STACKS_READ_H

#include <jansson.h>

#include "analyzer/load/stacks.h"

struct ct_taken_thread {
	struct ct_stack stack;
	const char *not_taken;	/* why it has no frames; NULL: it has */
	const char *not_paused; /* why it was only read; NULL: it was paused, or is in a core */
	int died;		/* of the signal that ended the core's process */
	int is_python_cut;
};

struct ct_taken {
	uint32_t pid; /* 0 not known */
	const char *core, *program, *python;
	const char *error, *hint; /* why there are no stacks; NULL: there are */
	int signal;
	uint64_t signal_address;
	const char **missing;
	size_t n_missing;
	struct ct_taken_thread *threads;
	size_t n_threads;
	uint64_t longest_pause_ns; /* of a thread; 0: none was paused */
};

/* 0, or CT_NOMEM. What is not as it should be is left out. */
int ct_stacks_read(const json_t *process, struct ct_arena *memory, struct ct_taken *taken);

#endif
