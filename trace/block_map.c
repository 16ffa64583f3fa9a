/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block_map.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

/* size: slots of the first table: a block has few threads, communicators, streams */
#define LEAST 64u

static uint64_t mix(uint64_t h)
{
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull; /* splitmix64's first multiplier */
	return h ^ h >> 32;
}

uint32_t ct_block_map_hash(const void *data, size_t len)
{
	uint64_t h = len;
	uint64_t word;

	for (size_t i = 0; i < len; i += 8) {
		memcpy(&word, (const char *)data + i, 8);
		h = mix(h ^ word);
	}
	return (uint32_t)h;
}

static void use_table(struct ct_block_map *map, uint32_t slots)
{
	uint32_t at = slots - LEAST;

	map->keys = map->all_keys + at;
	map->values = map->all_values + at;
	map->mask = slots - 1;
	if (map->cleared < at + slots) {
		memset(map->all_keys + map->cleared, 0,
		       (at + slots - map->cleared) * sizeof(*map->keys));
		map->cleared = at + slots;
	}
}

int ct_block_map_reset(struct ct_block_map *map, uint32_t n)
{
	uint32_t size = LEAST;
	uint32_t slots = map->mask + 1; /* as many as the last block needed */

	while (size < 2 * n)
		size *= 2;
	if (map->size < size) {
		ct_block_map_fini(map);
		map->all_keys = malloc(2 * size * sizeof(*map->all_keys));
		map->all_values = malloc(2 * size * sizeof(*map->all_values));
		if (!map->all_keys || !map->all_values)
			return CT_NOMEM;
		map->size = size;
		slots = LEAST;
	}
	map->stamp += 1ull << CT_BLOCK_MAP_KEY_BITS;
	if (!map->stamp) {
		map->cleared = 0;
		map->stamp = 1ull << CT_BLOCK_MAP_KEY_BITS;
	}
	if (slots > LEAST && 4 * map->used < slots)
		slots /= 2;
	map->used = 0;
	use_table(map, slots < LEAST ? LEAST : slots);
	return CT_OK;
}

void ct_block_map_grow(struct ct_block_map *map)
{
	const struct ct_block_map old = *map;

	use_table(map, 2 * (old.mask + 1));
	for (uint32_t i = 0; i <= old.mask; i++) {
		uint32_t key = (uint32_t)(old.keys[i] - 1), to;

		if (ct_block_map_is_free(&old, i))
			continue;
		to = ct_block_map_home(map, key);
		while (!ct_block_map_is_free(map, to))
			to = (to + 1) & map->mask;
		map->keys[to] = old.keys[i];
		map->values[to] = old.values[i];
	}
}

void ct_block_map_fini(struct ct_block_map *map)
{
	free(map->all_keys);
	free(map->all_values);
	memset(map, 0, sizeof(*map));
}
