/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h — memory of a target, fetched by pages and kept: what reads word by word asks the kernel
 * once for each page. One thread. */
#ifndef CT_TOOLS_STACKS_PAGES_H
#define CT_TOOLS_STACKS_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define CT_PAGE 4096u /* fact: the smallest of both architectures */

struct ct_page;

struct ct_pages {
	/* Copies the page at `from` to `to`: 0, or -1 if it cannot be read. */
	int (*fetch)(void *source, uint64_t from, uint8_t to[CT_PAGE]);
	void *source;
	uint64_t until_ns; /* CLOCK_MONOTONIC: nothing is fetched any more from then on; 0: no limit
			    */

	/* private */
	struct ct_page *table;
	uint32_t n;
};

/* All `len` bytes at `from`: 0, or -1. Pages that cannot be read are remembered as well. */
int ct_pages_read(struct ct_pages *pages, uint64_t from, void *to, size_t len);

/* The memory may have changed. What was allocated is kept. */
void ct_pages_forget(struct ct_pages *pages);
void ct_pages_fini(struct ct_pages *pages);

/* CLOCK_MONOTONIC in ns. */
uint64_t ct_monotonic_ns(void);

#endif
