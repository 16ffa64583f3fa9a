/* SPDX-License-Identifier: Apache-2.0 */
/* map.h — number to pointer, open addressing; nothing is ever taken out. One thread. */
#ifndef CT_TOOLS_SYNTH_MAP_H
#define CT_TOOLS_SYNTH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct ct_synth_map {
	struct ct_synth_map_entry {
		uint64_t key;
		void *value; /* NULL: free */
	} * at;
	size_t cap, n;
};

void *ct_synth_map_get(const struct ct_synth_map *map, uint64_t key);

/* A key that is not there yet. 0 or -1: no memory. */
int ct_synth_map_put(struct ct_synth_map *map, uint64_t key, void *value);

void ct_synth_map_free(struct ct_synth_map *map); /* not the values */

#endif
