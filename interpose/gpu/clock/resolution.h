/* SPDX-License-Identifier: Apache-2.0 */
/* resolution.h — how coarse the stamps of a device's events are.
 *
 * Documents say about 0.5 us; 32 ns and 1.024 us are on record. All elapsed times are multiples of
 * it: their greatest common divisor is it, or a multiple, which errs on the safe side. Until some
 * are known, and where none comes out (a tick that is not a whole number of ns), the coarsest that
 * is known of any device holds. Pure functions over memory of the caller.
 */
#ifndef CT_INTERPOSE_GPU_CLOCK_RESOLUTION_H
#define CT_INTERPOSE_GPU_CLOCK_RESOLUTION_H

#include <stdint.h>

#define CT_GPU_COARSEST_NS 1024.0 /* fact: the coarsest on record (docs/VERIFIED.md) */
/* tuning: the divisor of so many random multiples is the tick, but once in 100,000 times. */
#define CT_GPU_RESOLUTION_ENOUGH 16u

/* Zero-initialised: nothing is known. */
struct ct_gpu_resolution {
	uint64_t gcd_ns;
	unsigned n; /* of how many elapsed times */
};

/* One more elapsed time from CUDA. Those that float rounds to more than a fraction of a ns are
 * ignored. */
void ct_gpu_resolution_add(struct ct_gpu_resolution *r, float ms);

/* Is enough known? */
static inline int ct_gpu_resolution_is_known(const struct ct_gpu_resolution *r)
{
	return r->n >= CT_GPU_RESOLUTION_ENOUGH;
}

/* In ns, of one stamp. */
double ct_gpu_resolution_ns(const struct ct_gpu_resolution *r);

#endif
