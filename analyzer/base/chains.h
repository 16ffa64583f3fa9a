/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h — elements with a short life that are found by a 64-bit key; several may have the same
 * one. An element begins with its link, and is the caller's.
 *
 * The lowest bits of the key are the slot: numbers that count up lie side by side, and are put in,
 * found and taken out with one access to their own slot. A key that does not count up is mixed
 * first (ct_mix()). A zeroed struct is an empty one; one thread. */
#ifndef CT_ANALYZER_BASE_CHAINS_H
#define CT_ANALYZER_BASE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/status.h"

struct ct_link {
	struct ct_link *next; /* of the same slot */
	uint64_t key;
};

struct ct_chains {
	struct ct_link **first;
	size_t cap; /* power of two, 0 before the first */
	size_t n;
};

/* The link with this key, or the next one that has it; NULL: there is none. */
static inline void *ct_chains_same(struct ct_link *link, uint64_t key)
{
	while (link && link->key != key)
		link = link->next;
	return link;
}

/* An element with this key; NULL: there is none. */
static inline void *ct_chains_get(const struct ct_chains *chains, uint64_t key)
{
	return chains->cap ? ct_chains_same(chains->first[key & (chains->cap - 1)], key) : NULL;
}

/* It will be looked for. */
static inline void ct_chains_prefetch(const struct ct_chains *chains, uint64_t key)
{
	if (chains->cap)
		__builtin_prefetch(chains->first[key & (chains->cap - 1)]);
}

/* Twice the slots: where there are as many elements. 0 or CT_NOMEM. */
int ct_chains_grow(struct ct_chains *chains);

/* `link` is in no chain. 0 or CT_NOMEM. */
static inline int ct_chains_put(struct ct_chains *chains, uint64_t key, struct ct_link *link)
{
	struct ct_link **first;

	if (chains->n == chains->cap && ct_chains_grow(chains) != CT_OK)
		return CT_NOMEM;
	first = &chains->first[key & (chains->cap - 1)];
	*link = (struct ct_link){ *first, key };
	*first = link;
	chains->n++;
	return CT_OK;
}

/* `link` is in one of these. */
static inline void ct_chains_take(struct ct_chains *chains, const struct ct_link *link)
{
	struct ct_link **at = &chains->first[link->key & (chains->cap - 1)];

	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	chains->n--;
}

/* The elements are left alone. */
void ct_chains_fini(struct ct_chains *chains);

#endif
