/* SPDX-License-Identifier: Apache-2.0 */
/* block_map.h — numbers of keys within one block: open addressing over a power of two, at most half full. What was
 * filled in for an earlier block is free: emptying a map is counting its fillings, and touches no memory. A zeroed map is valid, but
 * has no room before its first reset. One thread. */
#ifndef CT_TRACE_BLOCK_MAP_H
#define CT_TRACE_BLOCK_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ct_block_map {
	uint64_t *keys; /* filling << 33 | key + 1 */
	uint32_t *values;
	uint32_t mask, size; /* slots in use - 1, slots allocated */
	uint64_t filling;    /* 1 .. 2^31 - 1 */
};

/* Room for n keys; all free. 0 or CT_NOMEM. */
int ct_block_map_reset(struct ct_block_map *map, uint32_t n);
void ct_block_map_fini(struct ct_block_map *map);

static inline uint64_t ct_block_map_mix(uint64_t h)
{
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull; /* splitmix64's first multiplier */
	return h ^ h >> 32;
}

uint64_t ct_block_map_hash(const void *data, size_t len); /* a multiple of 8 bytes */

/* Inline, where the length is known: a multiple of 8 bytes. */
__attribute__((always_inline)) static inline int ct_block_map_are_equal(const void *a,
									const void *b, size_t len)
{
	uint64_t differ = 0;

#pragma GCC unroll 8
	for (size_t i = 0; i < len; i += 8) {
		uint64_t x, y;

		memcpy(&x, (const char *)a + i, 8);
		memcpy(&y, (const char *)b + i, 8);
		differ |= x ^ y;
	}
	return !differ;
}

static inline int ct_block_map_is_free(const struct ct_block_map *map, uint32_t slot)
{
	return map->keys[slot] >> 33 != map->filling;
}

static inline uint64_t ct_block_map_key(const struct ct_block_map *map, uint32_t key)
{
	return map->filling << 33 | ((uint64_t)key + 1);
}

/* Slot of a 32-bit key: where it is or where it goes. Keys are mostly numbers given out one after the other: a multiple of the
 * golden ratio spreads them. */
static inline uint32_t ct_block_map_slot(const struct ct_block_map *map, uint32_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & map->mask;

	while (map->keys[i] != ct_block_map_key(map, key) && !ct_block_map_is_free(map, i))
		i = (i + 1) & map->mask;
	return i;
}

/* Value of the key; if it is new, *count is its value and grows by one. */
static inline uint32_t ct_block_map_number(struct ct_block_map *map, uint32_t key, uint32_t *count)
{
	uint32_t i = ct_block_map_slot(map, key);

	if (ct_block_map_is_free(map, i)) {
		map->keys[i] = ct_block_map_key(map, key);
		map->values[i] = (*count)++;
	}
	return map->values[i];
}

/* Gives the key this value unless it has one. */
static inline void ct_block_map_note(struct ct_block_map *map, uint32_t key, uint32_t value)
{
	uint32_t i = ct_block_map_slot(map, key);

	if (!ct_block_map_is_free(map, i))
		return;
	map->keys[i] = ct_block_map_key(map, key);
	map->values[i] = value;
}

/* Value of the key, or -1. */
static inline int64_t ct_block_map_find(const struct ct_block_map *map, uint32_t key)
{
	uint32_t i = ct_block_map_slot(map, key);

	return ct_block_map_is_free(map, i) ? -1 : (int64_t)map->values[i];
}

#endif
