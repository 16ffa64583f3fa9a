/* SPDX-License-Identifier: Apache-2.0 */
/* sites.h — call sites of all ranks, each once, so equal pointers are equal call sites.
 *
 * A site is known by its text: a Python function with file and line, or the offset in an object with
 * its build id. Both are equal on all ranks, independent of the loader. Bounded: after CT_SITES_MAX
 * different ones, further sites are unknown. Lives as long as a reading; one thread. */
#ifndef CT_ANALYZER_ORDER_SITES_H
#define CT_ANALYZER_ORDER_SITES_H

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"

/* size: their numbers fit 16 bits. */
#define CT_SITES_MAX 65535u

struct ct_site {
	uint64_t hash;
	const char *text;
	uint16_t number; /* from 1 */
};

struct ct_sites {
	struct ct_table by_hash;
	struct ct_arena *memory;    /* borrowed */
	const struct ct_site **all; /* by number - 1 */
	uint32_t n, cap;
};

/* size: those that one process named last, by the address of their text, which stays as long as the
 * process is read. */
#define CT_SITES_RECENT 64u
struct ct_sites_recent {
	struct ct_site_seen {
		const char *text;
		const struct ct_site *site;
	} seen[CT_SITES_RECENT];
};

void ct_sites_init(struct ct_sites *sites, struct ct_arena *memory);
void ct_sites_fini(struct ct_sites *sites);

/* *site gets the one with this text: NULL for NULL, and for texts with equal hashes. `recent` may
 * be NULL. 0 or CT_NOMEM. */
int ct_sites_get(struct ct_sites *sites, struct ct_sites_recent *recent, const char *text,
		 const struct ct_site **site);

/* The one with that number; NULL: 0, which is none. */
const struct ct_site *ct_sites_at(const struct ct_sites *sites, uint16_t number);

#endif
