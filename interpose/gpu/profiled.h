/* SPDX-License-Identifier: Apache-2.0 */
/* profiled.h — launches whose times NCCL reports (its profiler plugin), beside those that are timed
 * with events.
 *
 * Such a launch has a span and an entry of the open table like any other (span.h), but no events
 * and nothing to do for the poll thread: it is recorded when the call that launches it is over and
 * all channels of all its tasks have stopped, by the thread that sees the last of these. What NCCL
 * never reports the end of ends when it is known to be over: when two later launches of its
 * communicator are done, which run one after the other, or with the communicator. Its end is then
 * unknown.
 *
 * A launch is named by the number of its span + 1 and its id, so that what comes late finds
 * nothing. Any thread, with the guard held; nothing waits or allocates.
 */
#ifndef CT_INTERPOSE_GPU_PROFILED_H
#define CT_INTERPOSE_GPU_PROFILED_H

#include <stdatomic.h>

#include "interpose/gpu/clock/globaltimer.h"
#include "interpose/gpu/span.h"

#define CT_GPU_PROFILED_RECENT 1024u /* size: as many as the largest open table has */

/* The launches of one communicator in their order, and its GPU's clock. Zeroed, unused. */
struct ct_gpu_profiled_order {
	_Atomic uint32_t begun, over; /* so many have had a task; are known to be over */
	_Atomic uint64_t recent[CT_GPU_PROFILED_RECENT]; /* number << 32 | id */
	struct ct_globaltimer clock;
};

/* For the spans of the recorder's ring; 0 or CT_NOMEM. Before the gate opens. */
int ct_gpu_profiled_init(void);

/* The span is one of these from now on; its number + 1. */
uint32_t ct_gpu_profiled_begin(struct ct_gpu_span *span, uint32_t launch);

/* The call that launches is over; the second form is for callers without a span. */
void ct_gpu_profiled_end(struct ct_gpu_span *span, int result);
void ct_gpu_profiled_called(uint32_t number, uint32_t launch);

/* The number + 1 of an open launch, searched for; 0 if there is none. Not on the call path. */
uint32_t ct_gpu_profiled_find(uint32_t launch);
uint32_t ct_gpu_profiled_number(const struct ct_gpu_span *span);
int ct_gpu_profiled_is_open(uint32_t number, uint32_t launch);

/* One op more than at its begin, for launches that were not counted before. */
void ct_gpu_profiled_more(uint32_t number, uint32_t launch);

/* A task of it has been launched. With `ends_call` the last of its ops' tasks ends the call as
 * well. 0: it is not open. */
int ct_gpu_profiled_task(uint32_t number, uint32_t launch, struct ct_gpu_profiled_order *order,
			 int ends_call);

/* One of its kernel's channels has started, stopped at this reading of the GPU's timer. */
void ct_gpu_profiled_started(uint32_t number, uint32_t launch, uint64_t timer);
void ct_gpu_profiled_stopped(uint32_t number, uint32_t launch, uint64_t timer);

/* All channels of one of its tasks have stopped. */
void ct_gpu_profiled_task_done(uint32_t number, uint32_t launch);

/* One of its tasks cannot be followed: its end will not be known. */
void ct_gpu_profiled_unknown(uint32_t number, uint32_t launch);

/* The communicator goes away. */
void ct_gpu_profiled_close(struct ct_gpu_profiled_order *order);

#endif
