/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/crossing.h"

#include <stdlib.h>

#include "analyzer/base/table.h"
#include "analyzer/model/model.h"
#include "trace/ops.h"

double ct_crossing_of(unsigned op, double bytes, uint32_t members, uint32_t here,
		      uint32_t elsewhere)
{
	if (!members || !here || !elsewhere)
		return 0;
	switch (op) {
	case CT_OP_AllReduce:
		return 2 * bytes;
	case CT_OP_AllGather:
	case CT_OP_ReduceScatter:
		return bytes * ((double)elsewhere + here) / members;
	case CT_OP_AllToAll:
		return 2 * bytes * ((double)here * elsewhere) / members;
	default:
		return 0;
	}
}

struct crossing {
	const struct ct_model *model;
	const struct ct_report *report;
	struct ct_crossing *by_host;
	struct ct_table hosts; /* rank + 1 -> host + 1 */
	struct ct_table ops;   /* communicator's key -> its first row + 1 */
	size_t *next;	       /* row + 1 -> next row + 1 of the same communicator */
	uint32_t *members;     /* by host: of the communicator at hand */
	uint32_t *touched;     /* hosts that have any */
};

static void *as_value(uint64_t n)
{
	return (void *)(uintptr_t)(n + 1);
}

static int prepare(struct crossing *c)
{
	for (uint32_t s = 0; s < c->model->n_slots; s++) {
		const struct ct_rank_state *slot = &c->model->slots[s];

		if (slot->rank >= 0 && ct_table_put(&c->hosts, (uint64_t)slot->rank + 1,
						    as_value(slot->host)) != CT_OK)
			return CT_NOMEM;
	}
	for (size_t i = 0; i < c->report->n_ops; i++) {
		uint64_t key = c->report->ops[i].comm_hash;

		c->next[i + 1] = (size_t)(uintptr_t)ct_table_get(&c->ops, key);
		if (ct_table_put(&c->ops, key, as_value(i)) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

static void add_comm(struct crossing *c, const struct ct_report_comm *comm)
{
	uint32_t n_touched = 0, known = 0;

	for (size_t r = 0; r < comm->n_ranks; r++) {
		uint64_t host = comm->ranks[r] < 0
					? 0
					: (uint64_t)(uintptr_t)ct_table_get(
						  &c->hosts, (uint64_t)comm->ranks[r] + 1);

		if (!host)
			continue;
		known++;
		if (!c->members[host - 1]++)
			c->touched[n_touched++] = (uint32_t)(host - 1);
	}
	for (size_t at = (size_t)(uintptr_t)ct_table_get(&c->ops, comm->hash); at && n_touched > 1;
	     at = c->next[at]) {
		const struct ct_report_op *op = &c->report->ops[at - 1];

		for (uint32_t t = 0; t < n_touched && op->op_name && op->bytes != CT_UNKNOWN; t++) {
			uint32_t here = c->members[c->touched[t]];
			double bytes = ct_crossing_of(op->op, (double)op->bytes, comm->nranks, here,
						      known - here);

			if (op->backend == CT_BACKEND_GLOO)
				c->by_host[c->touched[t]].gloo_bytes += bytes;
			else
				c->by_host[c->touched[t]].bytes += bytes;
		}
	}
	while (n_touched)
		c->members[c->touched[--n_touched]] = 0;
}

int ct_crossing_sum(const struct ct_model *model, const struct ct_report *report,
		    struct ct_crossing *by_host)
{
	struct crossing c = {
		.model = model,
		.report = report,
		.by_host = by_host,
		.next = calloc(report->n_ops + 1, sizeof(*c.next)),
		.members = calloc(model->starts->n_hosts + 1, sizeof(*c.members)),
		.touched = calloc(model->starts->n_hosts + 1, sizeof(*c.touched)),
	};
	int st = c.next && c.members && c.touched ? prepare(&c) : CT_NOMEM;

	for (size_t i = 0; st == CT_OK && i < report->n_comms; i++)
		add_comm(&c, &report->comms[i]);
	free(c.next);
	free(c.members);
	free(c.touched);
	ct_table_fini(&c.hosts);
	ct_table_fini(&c.ops);
	return st;
}
