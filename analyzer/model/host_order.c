/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/host_order.h"

#include <limits.h>
#include <stdlib.h>

static int by_lowest_rank(const void *a, const void *b)
{
	const struct ct_host_place *x = a, *y = b;

	if (x->lowest_rank != y->lowest_rank)
		return x->lowest_rank < y->lowest_rank ? -1 : 1;
	return x->host < y->host ? -1 : x->host > y->host;
}

int ct_host_order(const struct ct_pass *pass, struct ct_host_place **places, uint32_t *n)
{
	uint32_t n_hosts = pass->attempts->n_hosts;
	struct ct_host_place *all = malloc(((size_t)n_hosts + 1) * sizeof(*all));

	*places = all;
	*n = 0;
	if (!all)
		return CT_NOMEM;
	for (uint32_t h = 0; h < n_hosts; h++)
		all[h] = (struct ct_host_place){ h, pass->n_seats, INT_MAX };
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		struct ct_host_place *place = &all[pass->seats[s].host];

		place->seat = s < place->seat ? s : place->seat;
		if (pass->seats[s].rank >= 0 && pass->seats[s].rank < place->lowest_rank)
			place->lowest_rank = pass->seats[s].rank;
	}
	for (uint32_t h = 0; h < n_hosts; h++) {
		if (all[h].seat < pass->n_seats)
			all[(*n)++] = all[h];
	}
	qsort(all, *n, sizeof(*all), by_lowest_rank);
	return CT_OK;
}
