/* SPDX-License-Identifier: Apache-2.0 */
/* globaltimer.h — the GPU's globaltimer, as kernels of one communicator read it, on the host's
 * clock.
 *
 * Every NCCL report about a kernel is an anchor (gpu/clock/clock.h): its time is between the call
 * that launched it and the moment of the report. A stream that was idle makes the first bound
 * sharp, a host that was quick the second: of each period the sharpest of either kind is kept. The
 * timer steps by 1024 ns, so its reading is that of the middle of a step. Any thread; a lock that
 * is held for microseconds, by threads of NCCL's own.
 */
#ifndef CT_INTERPOSE_GPU_CLOCK_GLOBALTIMER_H
#define CT_INTERPOSE_GPU_CLOCK_GLOBALTIMER_H

#include <stdatomic.h>

#include "interpose/gpu/clock/clock.h"
#include "interpose/gpu/clock/host_clock.h"

#define CT_GLOBALTIMER_STEP_NS 1024u /* fact: the coarsest on record (docs/VERIFIED.md) */

struct ct_globaltimer_anchor {
	uint64_t timer; /* 0: none */
	uint64_t before_ns, after_ns;
};

struct ct_globaltimer {
	_Atomic uint32_t busy;
	struct ct_gpu_clock clock;
	struct ct_gpu_host_clock host;
	struct ct_globaltimer_anchor low, high; /* of this period, the sharpest by either bound */
	uint64_t last_timer;			/* of the last anchor that the clock has */
	uint64_t first_ns, due_ns;
};

/* What happened at `timer` came after `before_ns` and has been seen at `after_ns`. */
void ct_globaltimer_add(struct ct_globaltimer *clock, uint64_t timer, uint64_t before_ns,
			uint64_t after_ns);

/* When the timer had this reading, with the largest error that it can have. 0 if that is not known.
 */
int ct_globaltimer_at(struct ct_globaltimer *clock, uint64_t timer, uint64_t *ns, double *err_ns);

#endif
