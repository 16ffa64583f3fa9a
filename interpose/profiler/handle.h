/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h — what NCCL holds for an event of the profiler plugin: the number of an entry of a fixed
 * pool and which of its lives is meant, never a pointer. NCCL may hand a handle back late, twice,
 * or as the parent of an event of another thread: what does not fit the entry any more is known as
 * such.
 *
 * An entry is taken round by round, so that what it said can still be read long after it was given
 * back. Any thread; nothing waits. Entries whose launch is over count as given back.
 */
#ifndef CT_INTERPOSE_PROFILER_HANDLE_H
#define CT_INTERPOSE_PROFILER_HANDLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/format.h"

enum ct_profiler_kind {
	CT_PROFILER_CALL = 1, /* a call of the program */
	CT_PROFILER_PLAN,     /* before v5, of calls that pass no wrapper: what is launched */
	CT_PROFILER_TASK,     /* an op's work, as launched */
};

/* What an entry says. */
struct ct_profiler_says {
	uint8_t kind;
	uint8_t op;	      /* trace/ops.def, 0 not known */
	uint8_t alone;	      /* it passed no wrapper */
	uint8_t has_seq;      /* seq is known */
	uint32_t comm;	      /* number of its struct ct_profiler_comm */
	uint32_t comm_id;     /* of the records */
	uint32_t launch;      /* id, 0 none */
	uint32_t profiled;    /* number of its launch in gpu/profiled.h + 1, 0 it has none */
	uint32_t left;	      /* a task: channels that have not stopped */
	uint64_t seq;	      /* of the op */
	uint64_t enter_ns;    /* a call's, */
	uint64_t return_ns;   /* 0 not yet */
	struct ct_slot *slot; /* an op record whose end is to be stored, NULL none */
};

/* Map the pool, or empty that of a parent process; 0 or CT_NOMEM. Before the gate opens. */
int ct_profiler_handles_init(void);

/* NULL: no entry is free (a counted loss). */
void *ct_profiler_handle_take(const struct ct_profiler_says *says);

/* 0: it says something else by now, or never was a handle of ours. */
int ct_profiler_handle_read(const void *handle, struct ct_profiler_says *says);

/* It may be taken anew. */
void ct_profiler_handle_give(const void *handle);

/* The record whose end is to be stored now: once. */
struct ct_slot *ct_profiler_handle_slot(const void *handle);
void ct_profiler_handle_returned(const void *handle, uint64_t now_ns);

/* One channel less: how many are left. */
uint32_t ct_profiler_handle_less(const void *handle);

/* A handle without an entry, unlike all others; one for a channel of a task, and back. */
void *ct_profiler_handle_unique(void);
void *ct_profiler_handle_channel(const void *task);
int ct_profiler_handle_is_channel(const void *handle);

#endif
