/* SPDX-License-Identifier: Apache-2.0 */
/* map.h — the code in this process: which file is mapped where, from the kernel.
 *
 * Not the loader's list: that is behind the loader's lock, and a thread that is stuck in dlopen
 * holds it. Reading the map may wait for the kernel, so it is for a thread that no other thread
 * waits for. One thread; the program's allocator is not used. */
#ifndef CT_INTERPOSE_STACKS_MAP_H
#define CT_INTERPOSE_STACKS_MAP_H

#include <stddef.h>
#include <stdint.h>

#define CT_CODE_RANGES 2048u	   /* size: one or two for each file, of which torch has hundreds */
#define CT_CODE_NAMES (192u << 10) /* size: 96 characters for each range */

/* One range of code that can be executed. */
struct ct_mapped_code {
	uintptr_t begin, end;
	uintptr_t bias;	    /* what is added to the addresses in the file */
	uintptr_t unwind;   /* its table for unwinding (.eh_frame_hdr), 0 none */
	uintptr_t image;    /* where the file's beginning is mapped */
	uint32_t path;	    /* in names; "" if it is not a file */
	uint8_t is_read;    /* bias and unwind are known */
	uint8_t is_deleted; /* the file has no name any more */
};

struct ct_code_map {
	uint32_t n;
	uint32_t names_used;
	int is_cut; /* there was more than there is space for */
	struct ct_mapped_code code[CT_CODE_RANGES];
	char names[CT_CODE_NAMES];
};

/* Read it anew. 0, or -1 if it cannot be read. */
int ct_code_read(struct ct_code_map *map);

/* The same from a text, as in /proc/self/maps. */
void ct_code_parse(struct ct_code_map *map, const char *text, size_t len);

/* The range of an address, with bias and unwind filled in; NULL: it is not code. */
struct ct_mapped_code *ct_code_find(struct ct_code_map *map, uintptr_t at);

static inline const char *ct_code_path(const struct ct_code_map *map,
				       const struct ct_mapped_code *code)
{
	return map->names + code->path;
}

#endif
