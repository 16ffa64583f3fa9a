/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/chains.h"

#include <stdlib.h>

int ct_chains_grow(struct ct_chains *chains)
{
	struct ct_chains bigger = { .cap = chains->cap ? 2 * chains->cap : 64 };

	bigger.first = calloc(bigger.cap, sizeof(*bigger.first));
	if (!bigger.first)
		return CT_NOMEM;
	for (size_t i = 0; i < chains->cap; i++) {
		for (struct ct_link *link = chains->first[i], *next; link; link = next) {
			next = link->next;
			(void)ct_chains_put(&bigger, link->key, link); /* has space */
		}
	}
	free(chains->first);
	*chains = bigger;
	return CT_OK;
}

void ct_chains_fini(struct ct_chains *chains)
{
	free(chains->first);
	*chains = (struct ct_chains){ 0 };
}
