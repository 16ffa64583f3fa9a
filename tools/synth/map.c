/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/map.h"

#include <stdlib.h>

#include "trace/mix.h"

static struct ct_synth_map_entry *map_entry(const struct ct_synth_map *map, uint64_t key)
{
	size_t at = (size_t)(key * CT_GOLDEN >> 20) & (map->cap - 1);

	while (map->at[at].value && map->at[at].key != key)
		at = (at + 1) & (map->cap - 1);
	return &map->at[at];
}

void *ct_synth_map_get(const struct ct_synth_map *map, uint64_t key)
{
	return map->cap ? map_entry(map, key)->value : NULL;
}

static int grow(struct ct_synth_map *map)
{
	struct ct_synth_map more = { .cap = map->cap ? 2 * map->cap : 64 };

	more.at = calloc(more.cap, sizeof(*more.at));
	if (!more.at)
		return -1;
	for (size_t i = 0; i < map->cap; i++) {
		if (map->at[i].value)
			*map_entry(&more, map->at[i].key) = map->at[i];
	}
	more.n = map->n;
	free(map->at);
	*map = more;
	return 0;
}

int ct_synth_map_put(struct ct_synth_map *map, uint64_t key, void *value)
{
	if (2 * map->n >= map->cap && grow(map))
		return -1;
	*map_entry(map, key) = (struct ct_synth_map_entry){ key, value };
	map->n++;
	return 0;
}

void ct_synth_map_free(struct ct_synth_map *map)
{
	free(map->at);
	*map = (struct ct_synth_map){ 0 };
}
