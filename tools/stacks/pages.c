/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/pages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/stacks/need.h"

#define SLOTS 8192u	     /* size: a power of two; 32 MB of pages at most */
#define MOST (SLOTS / 4 * 3) /* size: then all are forgotten: the table stays quick */

struct ct_page {
	uint64_t number; /* of the page, plus 1; 0: the slot is free */
	int is_read;
	uint8_t *bytes; /* stays with the slot */
};

uint64_t ct_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void ct_pages_forget(struct ct_pages *pages)
{
	for (uint32_t i = 0; pages->n && i < SLOTS; i++)
		pages->table[i].number = 0;
	pages->n = 0;
}

void ct_pages_fini(struct ct_pages *pages)
{
	for (uint32_t i = 0; pages->table && i < SLOTS; i++)
		free(pages->table[i].bytes);
	free(pages->table);
	pages->table = NULL;
	pages->n = 0;
}

static struct ct_page *page_of(struct ct_pages *pages, uint64_t number)
{
	uint32_t slot = (uint32_t)(number * 0x9e3779b97f4a7c15ull >> 40) % SLOTS;
	struct ct_page *page;

	if (!pages->table)
		pages->table = ct_need(SLOTS, sizeof(*pages->table));
	while (pages->table[slot].number && pages->table[slot].number != number + 1)
		slot = (slot + 1) % SLOTS;
	page = &pages->table[slot];
	if (page->number)
		return page;
	if (pages->until_ns && ct_monotonic_ns() >= pages->until_ns)
		return NULL;
	if (pages->n == MOST) {
		ct_pages_forget(pages);
		return page_of(pages, number);
	}
	if (!page->bytes)
		page->bytes = ct_need(1, CT_PAGE);
	page->number = number + 1;
	page->is_read = pages->fetch(pages->source, number * CT_PAGE, page->bytes) == 0;
	pages->n++;
	return page;
}

int ct_pages_read(struct ct_pages *pages, uint64_t from, void *to, size_t len)
{
	uint8_t *out = to;

	while (len) {
		size_t at = from % CT_PAGE, part = CT_PAGE - at < len ? CT_PAGE - at : len;
		const struct ct_page *page = page_of(pages, from / CT_PAGE);

		if (!page || !page->is_read)
			return -1;
		memcpy(out, page->bytes + at, part);
		out += part;
		from += part;
		len -= part;
	}
	return 0;
}
