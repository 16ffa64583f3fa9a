/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/period.h"

void ct_gpu_period_reset(struct ct_gpu_period *p)
{
	p->end = 0;
	/* the rest is of no number that comes again, or of one that was seen */
	for (uint32_t i = 0; i < CT_GPU_HISTORY; i++)
		p->number[i] = 0;
}

void ct_gpu_period_add(struct ct_gpu_period *p, uint64_t seq, uint32_t n, uint64_t what)
{
	for (uint32_t i = n > CT_GPU_HISTORY ? n - CT_GPU_HISTORY : 0; i < n; i++) {
		p->what[(seq + i) % CT_GPU_HISTORY] = what;
		p->number[(seq + i) % CT_GPU_HISTORY] = seq + i + 1;
	}
	p->end = seq + n > p->end ? seq + n : p->end;
}

/* Backwards from the latest. */
static int is_alike(const struct ct_gpu_period *p, uint64_t mask, uint32_t i, uint32_t k)
{
	uint64_t a = p->what[(p->end - 1 - i) % CT_GPU_HISTORY];
	uint64_t b = p->what[(p->end - 1 - k) % CT_GPU_HISTORY];

	return !((a ^ b) & mask);
}

/* Those before the latest that were seen, without a gap. */
static uint32_t count(const struct ct_gpu_period *p)
{
	uint32_t n = 0;

	while (n < CT_GPU_HISTORY && n < p->end &&
	       p->number[(p->end - 1 - n) % CT_GPU_HISTORY] == p->end - n)
		n++;
	return n;
}

int ct_gpu_period_is_full(const struct ct_gpu_period *p)
{
	return count(p) == CT_GPU_HISTORY;
}

/* Knuth, Morris, Pratt: shorter[i] is the length of the longest proper prefix of the first i + 1
 * that is also their suffix, so that i + 1 - shorter[i] is their period. */
uint32_t ct_gpu_period_find(struct ct_gpu_period *p, uint64_t mask, uint32_t *run)
{
	uint32_t n = count(p), same = 0, period = 0;

	*run = 0;
	for (uint32_t i = 1; i < n; i++) {
		while (same && !is_alike(p, mask, same, i))
			same = p->shorter[same - 1];
		same += (uint32_t)is_alike(p, mask, same, i);
		p->shorter[i] = (uint16_t)same;
		if (i + 1 >= 2 * (i + 1 - same)) {
			*run = i + 1;
			period = *run - same;
		}
	}
	return 2 * *run >= n ? period : 0;
}
