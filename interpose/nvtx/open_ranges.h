/* SPDX-License-Identifier: Apache-2.0 */
/* open_ranges.h — NVTX ranges that mark steps, from their begin to their end, when they are
 * recorded.
 *
 * Pushed ranges are in a fixed table of threads. A thread owns an entry while it has ranges open,
 * and only that thread reads and writes it. Started ranges, which any thread may end, are in a
 * fixed table of ranges. Ranges for which there is no space are counted (NVTX_FULL). Nothing here
 * allocates or waits. While the process does not record, these functions do nothing: a range that
 * is open when recording begins, ends or continues in a forked child is not recorded. */
#ifndef CT_INTERPOSE_NVTX_OPEN_RANGES_H
#define CT_INTERPOSE_NVTX_OPEN_RANGES_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"

/* Forgets all ranges. Called before the gate opens. */
void ct_ranges_reset(void);

/* Number of pushed step ranges in all threads: while it is 0, other pushes and all pops do nothing.
 */
extern _Atomic uint32_t ct_ranges_pushed CT_NEAR;

/* A range that marks a step is pushed. `domain`: NVTX keeps a stack for each. */
void ct_range_push(const void *domain, const char *name);

/* Any other range is pushed, or one is popped, while ct_ranges_pushed is not 0. */
void ct_range_push_other(const void *domain);
void ct_range_pop(const void *domain);

/* A range is started. Returns its id, unique in this process; 0 if it will not be recorded. */
uint64_t ct_range_start(const char *name);
void ct_range_end(uint64_t id); /* any number */

void ct_range_mark(const char *name);

/* The program marks a step: no range, but recorded like one. */
void ct_range_mark_step(uint64_t step, uint64_t samples);

/* The calling thread ends: its pushed ranges are forgotten. */
void ct_ranges_thread_end(void);

/* Counts one more range for which there was no space. */
void ct_ranges_lose(void);

#endif
