/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block_map.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

#define FILLINGS (1ull << 31)

uint64_t ct_block_map_hash(const void *data, size_t len)
{
	uint64_t h = len;
	uint64_t word;

	for (size_t i = 0; i < len; i += 8) {
		memcpy(&word, (const char *)data + i, 8);
		h = ct_block_map_mix(h ^ word);
	}
	return h;
}

int ct_block_map_reset(struct ct_block_map *map, uint32_t n)
{
	uint32_t size = 16;

	while (size < 2 * n)
		size *= 2;
	if (map->size < size) {
		free(map->keys);
		free(map->values);
		map->keys = malloc(size * sizeof(*map->keys));
		map->values = malloc(size * sizeof(*map->values));
		map->size = map->keys && map->values ? size : 0;
		map->filling = FILLINGS - 1;
		if (!map->size)
			return CT_NOMEM;
	}
	map->mask = size - 1;
	if (++map->filling == FILLINGS) {
		memset(map->keys, 0, map->size * sizeof(*map->keys));
		map->filling = 1;
	}
	return CT_OK;
}

void ct_block_map_fini(struct ct_block_map *map)
{
	free(map->keys);
	free(map->values);
}
