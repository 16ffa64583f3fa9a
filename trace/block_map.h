/* SPDX-License-Identifier: Apache-2.0 */
/* block_map.h — numbers of keys within one block: open addressing over a power of two, at most half
 * full. What was filled in for an earlier block is free: emptying a map is counting its fillings,
 * and touches no memory. A map begins small and doubles: what is behind it in its memory, which is
 * there for the worst case, is not touched before. A zeroed map is valid, but has no space before
 * its first reset. One thread. */
#ifndef CT_TRACE_BLOCK_MAP_H
#define CT_TRACE_BLOCK_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/mix.h"

/* size: of a 32-bit key and 1 */
#define CT_BLOCK_MAP_KEY_BITS 33

struct ct_block_map {
	uint64_t *keys; /* stamp + key + 1 */
	uint32_t *values;
	uint32_t mask, used; /* slots - 1, and those that are not free */
	uint64_t stamp;	     /* of this filling, in the upper 31 bits; never 0 */
	uint32_t size;	  /* slots in the worst case; tables of 64, 128, ... of them are behind each
			     other */
	uint32_t cleared; /* of all slots */
	uint64_t *all_keys;
	uint32_t *all_values;
};

/* Space for n keys; all free. 0 or CT_NOMEM. */
int ct_block_map_reset(struct ct_block_map *map, uint32_t n);
void ct_block_map_fini(struct ct_block_map *map);

/* To the next table. */
void ct_block_map_grow(struct ct_block_map *map);

/* A key for what is longer, a multiple of 8 bytes. */
uint32_t ct_block_map_hash(const void *data, size_t len);

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
	return (map->keys[slot] ^ map->stamp) >> CT_BLOCK_MAP_KEY_BITS != 0;
}

static inline uint64_t ct_block_map_key(const struct ct_block_map *map, uint32_t key)
{
	return map->stamp + key + 1;
}

/* Where the search for a 32-bit key begins. Keys are mostly numbers given out one after the other. */
static inline uint32_t ct_block_map_home(const struct ct_block_map *map, uint32_t key)
{
	return ct_mix_slot(key, 32) & map->mask;
}

/* Into a free slot of the key. */
static inline void ct_block_map_put(struct ct_block_map *map, uint32_t slot, uint32_t key,
				    uint32_t value)
{
	map->keys[slot] = ct_block_map_key(map, key);
	map->values[slot] = value;
	if (2 * ++map->used > map->mask && map->mask + 1 < map->size)
		ct_block_map_grow(map);
}

/* Value of the key; if it is new, *count is its value and grows by one. */
static inline uint32_t ct_block_map_number(struct ct_block_map *map, uint32_t key, uint32_t *count)
{
	const uint64_t wanted = ct_block_map_key(map, key);
	uint32_t i = ct_block_map_home(map, key);

	for (; map->keys[i] != wanted; i = (i + 1) & map->mask)
		if (ct_block_map_is_free(map, i)) {
			ct_block_map_put(map, i, key, *count);
			return (*count)++;
		}
	return map->values[i];
}

/* Value of the key, or -1. */
static inline int64_t ct_block_map_find(const struct ct_block_map *map, uint32_t key)
{
	const uint64_t wanted = ct_block_map_key(map, key);
	uint32_t i = ct_block_map_home(map, key);

	for (; map->keys[i] != wanted; i = (i + 1) & map->mask)
		if (ct_block_map_is_free(map, i))
			return -1;
	return map->values[i];
}

#endif
