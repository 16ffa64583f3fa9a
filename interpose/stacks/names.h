/* SPDX-License-Identifier: Apache-2.0 */
/* names.h — which function of a file an address is in, by the file's own table of symbols. Reads
 * files: may wait for the file system. One thread; answers are kept, since stacks of a stuck
 * process hardly differ. */
#ifndef CT_INTERPOSE_STACKS_NAMES_H
#define CT_INTERPOSE_STACKS_NAMES_H

#include <stddef.h>

#include "interpose/stacks/map.h"

/* The function's name as the linker knows it, "" if it is not known. */
void ct_name_of(const struct ct_code_map *map, const struct ct_mapped_code *code, uintptr_t pc,
		char *name, size_t size);

#endif
