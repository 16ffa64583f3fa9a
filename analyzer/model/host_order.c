/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/host_order.h"
#include "analyzer/model/model.h"

#include <limits.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"

CT_SORT_BY(by_lowest_rank, struct ct_ordered_host, CT_UP(lowest_rank) ?: CT_UP(host))

int ct_host_order(const struct ct_model *model, struct ct_ordered_host **hosts, uint32_t *n)
{
	uint32_t n_hosts = model->starts->n_hosts;
	struct ct_ordered_host *all = malloc(((size_t)n_hosts + 1) * sizeof(*all));

	*hosts = all;
	*n = 0;
	if (!all)
		return CT_NOMEM;
	for (uint32_t h = 0; h < n_hosts; h++)
		all[h] = (struct ct_ordered_host){ h, model->n_slots, INT_MAX };
	for (uint32_t s = 0; s < model->n_slots; s++) {
		struct ct_ordered_host *host = &all[model->slots[s].host];

		host->slot = s < host->slot ? s : host->slot;
		if (model->slots[s].rank >= 0 && model->slots[s].rank < host->lowest_rank)
			host->lowest_rank = model->slots[s].rank;
	}
	for (uint32_t h = 0; h < n_hosts; h++) {
		if (all[h].slot < model->n_slots)
			all[(*n)++] = all[h];
	}
	qsort(all, *n, sizeof(*all), by_lowest_rank);
	return CT_OK;
}
