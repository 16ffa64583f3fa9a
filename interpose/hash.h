/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h — 64-bit hashes for keys and tables. Keys that ranks compare are made of these two, so
 * their results are part of what a run contains. Pure functions. */
#ifndef CT_INTERPOSE_HASH_H
#define CT_INTERPOSE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "trace/mix.h"

#define CT_HASH_START 0xcbf29ce484222325ull /* fact: FNV-1a's own, of 64 bits */

/* FNV-1a, continued from `hash`. */
static inline uint64_t ct_hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ull;
	return hash;
}

/* Spread and join: the finalizer of SplitMix64 over both. */
static inline uint64_t ct_hash_mix(uint64_t hash, uint64_t value)
{
	return ct_mix(hash ^ (value + 0x9e3779b97f4a7c15ull));
}

#endif
