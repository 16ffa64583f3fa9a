/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h — memory from the system for tables that are made for the worst case: zeroed, and only
 * what is touched takes any. That holds also where the kernel would rather give two megabytes at a
 * touch (transparent huge pages). */
#ifndef CT_TRACE_PAGES_H
#define CT_TRACE_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/* NULL: no memory. Of a forked child it is a copy. */
static inline void *ct_pages_map(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, bytes, MADV_NOHUGEPAGE);
	return map;
}

#endif
