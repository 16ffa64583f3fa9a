/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h — hashes. The results of ct_mix() and ct_fnv() are part of the trace format
 * (order_totals.h, hashes of communicators). Pure. */
#ifndef CT_TRACE_MIX_H
#define CT_TRACE_MIX_H

#include <stddef.h>
#include <stdint.h>

#define CT_GOLDEN 0x9e3779b97f4a7c15ull	   /* fact: 2^64 over the golden ratio, odd */
#define CT_FNV_START 0xcbf29ce484222325ull /* fact: FNV-1a's offset basis */
#define CT_FNV_PRIME 0x100000001b3ull	   /* fact: FNV-1a's multiplier, of 64 bits */

/* splitmix64's finaliser, Stafford variant 13. */
static inline uint64_t ct_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The first of 2^bits slots in which to look for a key: the highest bits of a product, which depend
 * on all bits of the key (Knuth, TAOCP 3, 6.4). */
static inline uint32_t ct_mix_slot(uint64_t key, unsigned bits)
{
	return (uint32_t)(key * CT_GOLDEN >> (64 - bits));
}

/* FNV-1a, continued from `hash`, of bytes or of a text. */
static inline uint64_t ct_fnv(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * CT_FNV_PRIME;
	return hash;
}

static inline uint64_t ct_fnv_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * CT_FNV_PRIME;
	return hash;
}

#endif
