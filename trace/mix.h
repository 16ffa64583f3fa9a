/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h — spread the bits of a number. The result is part of the trace format (order_totals.h,
 * hashes of communicators). Pure. */
#ifndef CT_TRACE_MIX_H
#define CT_TRACE_MIX_H

#include <stdint.h>

/* splitmix64's finaliser, Stafford variant 13. */
static inline uint64_t ct_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

#endif
