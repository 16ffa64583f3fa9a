/* SPDX-License-Identifier: Apache-2.0 */
/* open_ranges.h — NVTX ranges that mark cycles, from where they begin to where they end and go on record.
 *
 * Pushed ranges lie in a fixed table of threads, each filled and read by its thread alone, in an entry that is its own as
 * long as it has ranges open; started ones, which any thread may end, in a fixed table of ranges. What finds no room is
 * counted (NVTX_FULL). Nothing here allocates or waits, and nothing does anything while the process does not record: a
 * range that is open when recording begins, ends or goes on in a forked child is not on record. */
#ifndef CT_OPEN_RANGES_H
#define CT_OPEN_RANGES_H

#include <stdatomic.h>
#include <stdint.h>

#include "interpose/guard.h"

/* Forget all. Before the gate opens. */
void ct_ranges_reset(void);

/* Pushed ranges of all threads: while there are none, other pushes and all pops do nothing. */
extern _Atomic uint32_t ct_ranges_pushed CT_NEAR;

/* A range that marks a cycle is pushed. `domain`: whose stack it is on. */
void ct_range_push(const void *domain, const char *name);

/* Another one is, while ct_ranges_pushed is not 0; or one is popped. */
void ct_range_push_other(const void *domain);
void ct_range_pop(const void *domain);

/* One is started: its id, which no other range ever has in this process; 0: it will not be recorded. */
uint64_t ct_range_start(const char *name);
void ct_range_end(uint64_t id); /* any number */

void ct_range_mark(const char *name);

/* The calling thread ends, and with it what it had pushed. */
void ct_ranges_thread_end(void);

/* One more range that there was no room for. */
void ct_ranges_lose(void);

#endif
