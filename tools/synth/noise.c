/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/noise.h"

#include <math.h>

#include "trace/mix.h"

/* splitmix64 of both. */
uint64_t ct_noise_mix(uint64_t a, uint64_t b)
{
	return ct_mix(a * CT_GOLDEN + b + 0x632be59bd9b4e019ull);
}

static uint64_t draw(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b)
{
	return ct_noise_mix(ct_noise_mix(ct_noise_mix(seed, (uint64_t)what), a), b);
}

static double unit(uint64_t bits)
{
	return (double)(bits >> 11) / 9007199254740992.0;
}

double ct_noise_uniform(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b)
{
	return unit(draw(seed, what, a, b));
}

double ct_noise_normal(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b)
{
	const uint64_t bits = draw(seed, what, a, b);

	return sqrt(-2 * log(1 - unit(bits))) * cos(2 * M_PI * unit(ct_noise_mix(bits, 1)));
}

double ct_noise_exponential(uint64_t seed, enum ct_noise what, uint64_t a, uint64_t b)
{
	return -log(1 - unit(draw(seed, what, a, b)));
}
