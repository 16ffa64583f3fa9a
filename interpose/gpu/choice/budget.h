/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h — COMMTRACE_BUDGET: what the tracer may cost, and how coarse timing must be for that.
 *
 * The tracer measures itself: what a recorded call costs (once, at the start), what timing a launch
 * costs (a few times a second, on the call path, with the driver that is there), and the CPU time
 * of its threads. Where that exceeds its share of wall time, fewer instances are timed, by powers
 * of two (sampling.h); where there is space for twice as many, more again. What timing has no part
 * in cannot be made less. Pure, but for what it keeps; the poll thread.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_BUDGET_H
#define CT_INTERPOSE_GPU_CHOICE_BUDGET_H

#include <stdint.h>

/* All since recording started. */
struct ct_gpu_spent {
	uint64_t now_ns;
	uint64_t fixed_ns;  /* wrappers, threads that have no part in timing */
	uint64_t poll_ns;   /* the poll thread */
	uint64_t launches;  /* that were timed, each of them costing ... */
	uint64_t launch_ns; /* ... as much as measured recently */
};

struct ct_gpu_budget {
	uint32_t limit_millionths; /* of wall time; 0: no limit */
	uint32_t level;		   /* as in ct_gpu_sampling_level() */
	uint32_t coarsest;	   /* that it ever was */
	uint32_t calm;		   /* looks in a row with space for more ... */
	uint32_t patience;	   /* ... and how many it takes */
	uint32_t since_finer;	   /* looks since it was last made finer */
	uint64_t backoffs;	   /* how often timing was made coarser */
	struct ct_gpu_spent last;
};

/* Looks that came sooner than a second after the last are passed over. Returns the level from now
 * on. */
uint32_t ct_gpu_budget_look(struct ct_gpu_budget *budget, const struct ct_gpu_spent *spent);

/* Recent cost of timing a launch: an interrupted launch costs more than it should, so the minimum
 * of the last few counts. Zero-initialised = never measured. Added by one thread at a time. */
#define CT_GPU_PROBES 4u /* tuning: of half a second (PROBE_NS of poll.c) */
struct ct_gpu_probes {
	_Atomic uint64_t ns[CT_GPU_PROBES];
	_Atomic uint32_t n;
};
void ct_gpu_probe_add(struct ct_gpu_probes *probes, uint64_t ns);
uint64_t ct_gpu_probe_cost(struct ct_gpu_probes *probes);

#endif
