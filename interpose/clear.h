/* SPDX-License-Identifier: Apache-2.0 */
/* clear.h — large tables are empty when a recording begins; they may be what an earlier one in this
 * process left. */
#ifndef CT_INTERPOSE_CLEAR_H
#define CT_INTERPOSE_CLEAR_H

#include <stddef.h>
#include <string.h>

/* Zeroes what is not zero: a page that was never written stays so, and takes no memory. */
static inline void ct_clear(void *from, size_t bytes)
{
	const size_t page = 4096; /* size: of most systems; with larger ones some pages are looked
				     at in parts */
	char *p = from;

	for (size_t at = 0; at < bytes; at += page) {
		size_t n = bytes - at < page ? bytes - at : page;

		if (p[at] || (n > 1 && memcmp(p + at, p + at + 1, n - 1) != 0))
			memset(p + at, 0, n);
	}
}

#endif
