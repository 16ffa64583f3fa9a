/* SPDX-License-Identifier: Apache-2.0 */
/* period.h — after how many collectives the sequence of a communicator repeats: that is taken for a
 * step.
 *
 * Collectives come in by their numbers, in any order within the window that is kept, and with gaps
 * where some are not seen. Fixed memory. The poll thread. Pure, but for what it keeps.
 */
#ifndef CT_INTERPOSE_GPU_CHOICE_PERIOD_H
#define CT_INTERPOSE_GPU_CHOICE_PERIOD_H

#include <stdint.h>

/* size: so many collectives are kept: a step of half as many is found. Sharded training of 100
 * layers with 4 gradient accumulations has 1,600. */
#define CT_GPU_HISTORY 4096u

struct ct_gpu_period {
	uint64_t end;			  /* highest number seen + 1; 0 none */
	uint64_t what[CT_GPU_HISTORY];	  /* by number */
	uint64_t number[CT_GPU_HISTORY];  /* + 1; of another lap: not seen */
	uint16_t shorter[CT_GPU_HISTORY]; /* ct_gpu_period_find()'s */
};

void ct_gpu_period_reset(struct ct_gpu_period *p);

/* code: what two equal collectives have in common: everything, or only the operation. */
#define CT_GPU_PERIOD_ALL UINT64_MAX
#define CT_GPU_PERIOD_OPERATIONS (0xffull << 56)

/* Operation and a hash of what else they have. */
static inline uint64_t ct_gpu_period_what(uint8_t op, uint64_t hash)
{
	return (uint64_t)op << 56 | hash >> 8;
}

/* `n` collectives from number `seq` on that are alike. */
void ct_gpu_period_add(struct ct_gpu_period *p, uint64_t seq, uint32_t n, uint64_t what);

/* Are so many known without a gap as are kept? */
int ct_gpu_period_is_full(const struct ct_gpu_period *p);

/* The period of the latest collectives, as far as `mask` looks, 0: none that was seen twice without
 * a gap, in at least half of what is kept. *run: how many have it. */
uint32_t ct_gpu_period_find(struct ct_gpu_period *p, uint64_t mask, uint32_t *run);

#endif
