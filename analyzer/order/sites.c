/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/sites.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

void ct_sites_init(struct ct_sites *sites, struct ct_arena *memory)
{
	*sites = (struct ct_sites){ .memory = memory };
}

void ct_sites_fini(struct ct_sites *sites)
{
	ct_table_fini(&sites->by_hash);
	free(sites->all);
	*sites = (struct ct_sites){ 0 };
}

static int look_up(struct ct_sites *sites, const char *text, const struct ct_site **out)
{
	uint64_t hash = ct_hash_text(text);
	struct ct_site *site = ct_table_get(&sites->by_hash, hash);

	*out = site;
	if (site) {
		/* two texts with one hash: which of them it is, is unknown */
		if (strcmp(site->text, text) != 0)
			*out = NULL;
		return CT_OK;
	}
	if (sites->n == CT_SITES_MAX)
		return CT_OK;
	site = ct_arena_calloc(sites->memory, 1, sizeof(*site));
	if (!site || ct_grow(&sites->all, &sites->cap, sites->n + 1, sizeof(*sites->all)))
		return CT_NOMEM;
	site->hash = hash;
	site->number = (uint16_t)(sites->n + 1);
	site->text = ct_arena_text(sites->memory, text, strlen(text));
	if (ct_arena_failed(sites->memory) || ct_table_put(&sites->by_hash, hash, site) != CT_OK)
		return CT_NOMEM;
	sites->all[sites->n++] = site;
	*out = site;
	return CT_OK;
}

int ct_sites_get(struct ct_sites *sites, struct ct_sites_recent *recent, const char *text,
		 const struct ct_site **site)
{
	struct ct_site_seen *seen;
	int st;

	*site = NULL;
	if (!text || !*text)
		return CT_OK;
	if (!recent)
		return look_up(sites, text, site);
	seen = &recent->seen[ct_mix((uintptr_t)text) % CT_SITES_RECENT];
	if (seen->text == text) {
		*site = seen->site;
		return CT_OK;
	}
	st = look_up(sites, text, site);
	if (st == CT_OK)
		*seen = (struct ct_site_seen){ text, *site };
	return st;
}

const struct ct_site *ct_sites_at(const struct ct_sites *sites, uint16_t number)
{
	return number && number <= sites->n ? sites->all[number - 1] : NULL;
}
