/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h — 64-bit hashes for keys and tables. Keys that ranks compare are made with it and
 * ct_fnv(), so their results are part of what a run contains. Pure functions. */
#ifndef CT_INTERPOSE_HASH_H
#define CT_INTERPOSE_HASH_H

#include <stdint.h>

#include "trace/mix.h"

#define CT_HASH_START CT_FNV_START

/* Spread and join: the finalizer of SplitMix64 over both. */
static inline uint64_t ct_hash_mix(uint64_t hash, uint64_t value)
{
	return ct_mix(hash ^ (value + CT_GOLDEN));
}

#endif
