/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/float.h"

#include <math.h>
#include <stdbool.h>

struct float_layout {
	int exponent, mantissa; /* bits */
	bool no_infinity;
};

static struct float_layout shape_of(ncclDataType_t type)
{
	switch (type) {
	case ncclFloat16:
		return (struct float_layout){ 5, 10, false };
	case ncclFloat8e4m3:
		return (struct float_layout){ 4, 3, true };
	case ncclFloat8e5m2:
		return (struct float_layout){ 5, 2, false };
	default:
		return (struct float_layout){ 8, 7, false };
	}
}

float sim_float_decode(ncclDataType_t type, uint16_t bits)
{
	struct float_layout s = shape_of(type);
	unsigned top = (1u << s.exponent) - 1;
	unsigned e = bits >> s.mantissa & top;
	unsigned m = bits & ((1u << s.mantissa) - 1);
	int bias = (int)(top >> 1);
	bool negative = bits >> (s.exponent + s.mantissa) & 1;
	float value;

	if (type == ncclBfloat16) {
		union {
			uint32_t u;
			float f;
		} whole = { .u = (uint32_t)bits << 16 };

		return whole.f;
	}
	if (s.no_infinity ? e == top && m == (1u << s.mantissa) - 1 : e == top && m)
		value = NAN;
	else if (!s.no_infinity && e == top)
		value = INFINITY;
	else if (!e)
		value = ldexpf((float)m, 1 - bias - s.mantissa);
	else
		value = ldexpf((float)(m | 1u << s.mantissa), (int)e - bias - s.mantissa);
	return negative ? -value : value;
}

/* The magnitude's bits, without the sign. */
static unsigned encode_magnitude(struct float_layout s, float value)
{
	unsigned top = (1u << s.exponent) - 1;
	unsigned one = 1u << s.mantissa;
	unsigned infinity = s.no_infinity ? top * one + one - 1 : top * one;
	int bias = (int)(top >> 1);
	int e;
	unsigned bits;

	if (isnan(value))
		return top * one + one - 1;
	if (isinf(value))
		return infinity;
	frexpf(value, &e);
	e -= 1;
	if (value == 0 || e < 1 - bias)
		e = 1 - bias;
	/* In units of the lowest bit; rounding up may carry into the exponent, as it should. */
	bits = (unsigned)nearbyintf(ldexpf(value, s.mantissa - e));
	if (bits >= one)
		bits += (unsigned)(e + bias - 1) * one;
	return bits < infinity ? bits : infinity;
}

uint16_t sim_float_encode(ncclDataType_t type, float value)
{
	struct float_layout s = shape_of(type);
	unsigned sign = signbit(value) ? 1u << (s.exponent + s.mantissa) : 0;

	if (type == ncclBfloat16 && !isnan(value)) {
		union {
			float f;
			uint32_t u;
		} whole = { .f = value };

		return (uint16_t)((whole.u + 0x7fff + (whole.u >> 16 & 1)) >> 16);
	}
	return (uint16_t)(sign | encode_magnitude(s, fabsf(value)));
}
