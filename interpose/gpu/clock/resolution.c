/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/clock/resolution.h"

/* fact: up to here a float in ms is right to a quarter of a ns: 24 bits. */
#define LONGEST_MS 4.0f
/* tuning: no device is known to tick faster. A remainder is smaller where a tick is not a whole
 * number of ns. */
#define FINEST_NS 16u

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

void ct_gpu_resolution_add(struct ct_gpu_resolution *r, float ms)
{
	float size = ms < 0 ? -ms : ms;

	if (ct_gpu_resolution_is_known(r) || !(size > 0 && size <= LONGEST_MS))
		return;
	r->gcd_ns = gcd(r->gcd_ns, (uint64_t)((double)size * 1e6 + 0.5));
	r->n++;
}

double ct_gpu_resolution_ns(const struct ct_gpu_resolution *r)
{
	return ct_gpu_resolution_is_known(r) && r->gcd_ns >= FINEST_NS ? (double)r->gcd_ns
								       : CT_GPU_COARSEST_NS;
}
