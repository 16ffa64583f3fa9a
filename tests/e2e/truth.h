/* SPDX-License-Identifier: Apache-2.0 */
/* truth.h — what the parent of traced processes saw of their ends: one line of text per process,
 * written by kill_ranks.c and held against the trace by check_ends.c. Times are CLOCK_MONOTONIC. */
#ifndef CT_TESTS_E2E_TRUTH_H
#define CT_TESTS_E2E_TRUTH_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct truth {
	int pid;
	int status;		/* as waitpid gave it */
	uint64_t after_ns;	/* it was seen alive then ... */
	uint64_t before_ns;	/* ... and dead then */
	int kill_signal;	/* 0: no kill() of it that the parent knows of ... */
	uint64_t kill_after_ns; /* ... else the call was between these two */
	uint64_t kill_before_ns;
	int killer;	/* who called it */
	int parent;	/* the parent that waited; 0: one that is not traced and leaves no notes */
	int told__exit; /* if it ended with a status of its own choice, then by _exit() */
};

static inline void truth_print(FILE *file, const struct truth *t)
{
	fprintf(file, "%d %d %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %d %d %d\n", t->pid,
		t->status, t->after_ns, t->before_ns, t->kill_signal, t->kill_after_ns,
		t->kill_before_ns, t->killer, t->parent, t->told__exit);
}

/* 1, or 0 at the end of the file. */
static inline int truth_scan(FILE *file, struct truth *t)
{
	return fscanf(file, "%d %d %" SCNu64 " %" SCNu64 " %d %" SCNu64 " %" SCNu64 " %d %d %d",
		      &t->pid, &t->status, &t->after_ns, &t->before_ns, &t->kill_signal,
		      &t->kill_after_ns, &t->kill_before_ns, &t->killer, &t->parent,
		      &t->told__exit) == 10;
}

#endif
