/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/traffic/edges.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/link/traffic/flow.h"
#include "trace/status.h"

void ct_edges_fini(struct ct_edges *edges)
{
	uint32_t most = edges->most;

	ct_table_fini(&edges->by_pair);
	free(edges->all);
	*edges = (struct ct_edges){ .most = most };
}

void ct_edges_drop(struct ct_edges *edges)
{
	ct_edges_fini(edges);
	edges->is_full = 1;
}

static void add_up(struct ct_edge *sum, const struct ct_edge *edge)
{
	sum->bytes = ct_flow_plus(sum->bytes, edge->bytes);
	sum->count = ct_flow_plus(sum->count, edge->count);
	sum->timed_bytes = ct_flow_plus(sum->timed_bytes, edge->timed_bytes);
	sum->time_ns = ct_flow_plus(sum->time_ns, edge->time_ns);
	sum->time_err_ns = ct_flow_plus(sum->time_err_ns, edge->time_err_ns);
}

int ct_edges_add(struct ct_edges *edges, const struct ct_edge *edge)
{
	uint64_t key = ct_mix((uint64_t)edge->src << 32 |
			      edge->dst); /* one to one: no two are equal */
	uintptr_t at;

	if (edges->is_full)
		return CT_OK;
	at = (uintptr_t)ct_table_get(&edges->by_pair, key);
	if (at) {
		add_up(&edges->all[at - 1], edge);
		return CT_OK;
	}
	if (edges->n == edges->most) {
		ct_edges_drop(edges);
		return CT_OK;
	}
	if (ct_grow(&edges->all, &edges->cap, edges->n + 1, sizeof(*edges->all)))
		return CT_NOMEM;
	if (ct_table_put(&edges->by_pair, key, (void *)((uintptr_t)edges->n + 1)) != CT_OK)
		return CT_NOMEM;
	edges->all[edges->n++] = *edge;
	return CT_OK;
}

int ct_edges_add_all(struct ct_edges *edges, const struct ct_edges *from)
{
	int st = CT_OK;

	if (from->is_full)
		ct_edges_drop(edges);
	for (uint32_t i = 0; i < from->n && st == CT_OK; i++)
		st = ct_edges_add(edges, &from->all[i]);
	return st;
}

CT_SORT_BY(by_ends, struct ct_edge, CT_UP(src) ?: CT_UP(dst))

void ct_edges_sort(struct ct_edges *edges)
{
	if (edges->n)
		qsort(edges->all, edges->n, sizeof(*edges->all), by_ends);
	ct_table_fini(&edges->by_pair);
}
