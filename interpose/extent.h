/* SPDX-License-Identifier: Apache-2.0 */
/* extent.h — from where to where a loaded object reaches. For callbacks of dl_iterate_phdr(); any
 * thread. */
#ifndef CT_INTERPOSE_EXTENT_H
#define CT_INTERPOSE_EXTENT_H

#include <link.h>
#include <stdint.h>

struct ct_object_extent {
	uintptr_t begin, end; /* the first byte, and the one after the last */
};

static inline struct ct_object_extent ct_extent_of(const struct dl_phdr_info *info)
{
	struct ct_object_extent extent = { UINTPTR_MAX, 0 };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t after = at + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		extent.begin = at < extent.begin ? at : extent.begin;
		extent.end = after > extent.end ? after : extent.end;
	}
	return extent;
}

static inline int ct_extent_has(struct ct_object_extent extent, uintptr_t address)
{
	return address >= extent.begin && address < extent.end;
}

#endif
