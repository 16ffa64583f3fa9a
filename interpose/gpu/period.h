/* SPDX-License-Identifier: Apache-2.0 */
/* period.h — after how many collectives the sequence of a communicator repeats: that is taken for a step.
 *
 * Collectives come in by their numbers, in any order within the window that is kept, and with gaps where some are not seen.
 * Fixed memory. The poll thread. Pure, but for what it keeps.
 */
#ifndef CT_GPUPERIOD_H
#define CT_GPUPERIOD_H

#include <stdint.h>

/* So many collectives are kept: a step of half as many is found. Sharded training of 100 layers with 4 gradient accumulations
 * has 1,600. */
#define CT_GPU_HISTORY 4096u

struct ct_gpu_period {
	uint64_t end;			  /* highest number seen + 1; 0 none */
	uint64_t what[CT_GPU_HISTORY];	  /* by number */
	uint64_t number[CT_GPU_HISTORY];  /* + 1; of another lap: not seen */
	uint16_t shorter[CT_GPU_HISTORY]; /* ct_gpu_period_find()'s */
};

void ct_gpu_period_reset(struct ct_gpu_period *p);

/* `n` collectives from number `seq` on that are alike: `what` is a hash of operation and size. */
void ct_gpu_period_add(struct ct_gpu_period *p, uint64_t seq, uint32_t n, uint64_t what);

/* The period of the latest collectives, 0: none that was seen twice without a gap, in at least half of what is kept. *run: how many
 * have it. */
uint32_t ct_gpu_period_find(struct ct_gpu_period *p, uint32_t *run);

#endif
