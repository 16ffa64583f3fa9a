/* SPDX-License-Identifier: Apache-2.0 */
/* lag.h — how far a rank's CPU is ahead of its GPU: marks in the computing stream with the time at
 * which each was put there. One rank's thread.
 */
#ifndef CT_TOOLS_SIM_JOB_LAG_H
#define CT_TOOLS_SIM_JOB_LAG_H

#include <stdint.h>

#include "tools/sim/cudart.h"

enum { SIMJOB_MARKS = 512 };

struct simjob_mark {
	cudaEvent_t event;
	uint64_t put_ns;
	uint64_t step; /* that ends here; UINT64_MAX: none */
};

struct simjob_lag {
	uint64_t limit_ns;
	struct simjob_mark marks[SIMJOB_MARKS];
	uint64_t put, passed; /* marks */
};

struct simjob_rank;

/* Put a mark into the computing stream, and wait until the GPU is within the limit of here again.
 * For every step whose end is passed, simjob_step_over() is called, in order. */
void simjob_lag_mark(struct simjob_rank *r, uint64_t step);

/* Wait until everything is passed. */
void simjob_lag_drain(struct simjob_rank *r);

/* In rank.c. */
void simjob_step_over(struct simjob_rank *r, uint64_t step);

/* Wait for an event: forever, or for as long as the rank waits before it aborts. */
void simjob_wait(struct simjob_rank *r, cudaEvent_t event);

#endif
