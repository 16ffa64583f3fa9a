/* SPDX-License-Identifier: Apache-2.0 */
/* The communicators of a case: the model's, and those that calls tell of which none of their members was seen to have made. */
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/hang/gather.h"

/* What a call tells of its communicator; 0: nothing. */
static int is_told(const struct ct_host_rec *rec)
{
	return rec->key && rec->nranks && rec->nranks <= CT_COMM_MAX_RANKS && rec->rank >= 0 &&
	       (uint32_t)rec->rank < rec->nranks;
}

static int take_told(struct ct_gather *g, const struct ct_hang_seen_call *call)
{
	const struct ct_comm_rec made = {
		.id = 1, .nranks = call->rec.nranks, .rank = call->rec.rank, .key = call->rec.key
	};
	const struct ct_comm *known = ct_comms_get(&g->model->comms, made.key, made.nranks);
	struct ct_comm *told;

	if (known && known->slots[made.rank])
		return CT_OK;
	return ct_comms_add(&g->told, &made, NULL, g->model->starts->places[call->process].slot,
			    &told);
}

static uint32_t index_of(const struct ct_gather *g, const struct ct_host_rec *rec)
{
	const struct ct_comm *comm = ct_comms_get(&g->model->comms, rec->key, rec->nranks);

	if (comm)
		return ct_gather_number(g, comm);
	comm = ct_comms_get(&g->told, rec->key, rec->nranks);
	for (uint32_t i = g->n_orders; comm && i < g->n_comms; i++)
		if (g->comms[i] == comm)
			return i;
	return UINT32_MAX;
}

CT_SORT_BY(by_process, struct ct_hang_seen_call, CT_UP(process) ?: CT_UP(rec.enter_ns) ?: CT_UP(rec.tid))

int ct_gather_list_comms(struct ct_gather *g)
{
	const struct ct_comms *known = &g->model->comms;
	int st = CT_OK;

	if (g->n_calls)
		qsort(g->calls, g->n_calls, sizeof(*g->calls), by_process);
	for (uint32_t i = 0; i < g->n_calls && st == CT_OK; i++)
		if (is_told(&g->calls[i].rec))
			st = take_told(g, &g->calls[i]);
	if (st != CT_OK ||
	    ct_grow(&g->comms, &g->cap_comms, g->n_orders + g->told.n, sizeof(*g->comms)))
		return CT_NOMEM;
	g->n_comms = g->n_orders;
	for (uint32_t i = 0; i < g->told.n; i++) {
		const struct ct_comm *told = g->told.all[i];

		if (!ct_comms_get(known, told->hash, told->nranks))
			g->comms[g->n_comms++] = told;
	}
	for (uint32_t i = 0; i < g->n_calls; i++)
		if (is_told(&g->calls[i].rec))
			g->calls[i].comm = index_of(g, &g->calls[i].rec);
	return CT_OK;
}
