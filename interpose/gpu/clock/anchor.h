/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.h — deliberate anchors of one context's clock: a private stream, an event on it, the
 * host's clock before and after.
 *
 * The best of a few tries is kept. An anchor that does not come within a fraction of a millisecond
 * is given up until the next one is due: the clock's errors grow meanwhile, nothing waits. At the
 * start anchors come fast, so that the rate is known soon, then once a second. Everything by the
 * poll thread, with the context current.
 */
#ifndef CT_INTERPOSE_GPU_CLOCK_ANCHOR_H
#define CT_INTERPOSE_GPU_CLOCK_ANCHOR_H

#include "interpose/gpu/clock/clock.h"
#include "interpose/gpu/clock/resolution.h"
#include "interpose/gpu/driver/cuda.h"

struct ct_gpu_anchoring {
	CUstream stream;
	CUevent events[3]; /* [last] is the clock's last anchor, if the clock has one */
	unsigned last;
	unsigned before;       /* [before] is the one before it, if the clock has two */
	int is_check_due;      /* no event was timed against both yet */
	int is_distrusted;     /* both contradicted each other: nothing is timed any more */
	uint64_t narrowest_ns; /* between the two looks at the host's clock, 0 not known */
	struct ct_gpu_resolution resolution;
	uint64_t first_ns; /* when the clock got its first anchor */
	uint64_t due_ns;
	unsigned failed;   /* tries in a row for a first anchor */
	uint64_t recorded; /* events, for the ledger */
	struct ct_gpu_clock clock;
};

/* Stream and events. CUDA's error if there are none; what was made stays. */
CUresult ct_gpu_anchoring_init(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda);

/* Take one and say when the next is due. CUDA_ERROR_NOT_READY if it was given up; other errors are
 * CUDA's. */
CUresult ct_gpu_anchor_take(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda);

/* From one completed event to another, negative if that one was earlier. For the latter, drivers
 * may return 0 or an error: then the reverse order counts. 0 if CUDA does not report it. */
int ct_gpu_elapsed(const struct ct_cuda *cuda, CUevent from, CUevent to, float *ms);

/* An elapsed time from CUDA, to find the resolution of its timestamps. */
void ct_gpu_anchor_learn(struct ct_gpu_anchoring *a, float ms);

/* The host's time (CLOCK_MONOTONIC_RAW) of a completed event; 0 without an anchor, or if CUDA does
 * not report it. The first event after an anchor is also timed by the anchor before: if the two
 * differ by more than their errors, this says 0 for good. */
int ct_gpu_anchor_time(struct ct_gpu_anchoring *a, const struct ct_cuda *cuda, CUevent event,
		       uint64_t *raw_ns, double *err_ns);

/* What the anchors said turned out wrong: begin anew. */
void ct_gpu_anchor_reset(struct ct_gpu_anchoring *a);

/* CLOCK_MONOTONIC_RAW, which ticks evenly while CLOCK_MONOTONIC is slewed. */
uint64_t ct_gpu_raw_ns(void);

#endif
