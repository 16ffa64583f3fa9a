/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/report_rows.h"

#include <stdlib.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

/* ---- communicators ---- */

static int compare_comm(uint64_t key, uint32_t nranks, const struct ct_report_comm *comm)
{
	return CT_CMP(key, comm->hash) ?: CT_CMP(nranks, comm->nranks);
}

CT_SORT_POINTERS_BY(by_comm, struct ct_report_comm, compare_comm(x->hash, x->nranks, y))

struct ct_report_comm *ct_report_row_of_comm(const struct ct_report *report, uint64_t key,
					     uint32_t nranks)
{
	size_t n = report->comms_by_key ? report->n_comms : 0;
	size_t at = CT_BISECT(i, 0, n, compare_comm(key, nranks, report->comms_by_key[i]) > 0);

	return at < n && compare_comm(key, nranks, report->comms_by_key[at]) == 0
		       ? report->comms_by_key[at]
		       : NULL;
}

/* ---- classes of operations ---- */

/* Groups come last: they are not looked for. */
static int compare_op(const struct ct_report_op *x, const struct ct_report_op *y)
{
	return CT_CMP(!!x->group, !!y->group) ?: CT_UP(comm_hash) ?: CT_UP(op) ?: CT_UP(dtype) ?:
	       CT_UP(size_range);
}

CT_SORT_POINTERS_BY(by_op, struct ct_report_op, compare_op(x, y))

struct ct_report_op **ct_report_rows_of_op(const struct ct_report *report, uint64_t comm_hash,
					   unsigned op, unsigned dtype, uint64_t size_range,
					   size_t *n)
{
	const struct ct_report_op wanted = {
		.comm_hash = comm_hash, .op = op, .dtype = dtype, .size_range = size_range
	};
	size_t n_ops = report->ops_by_key ? report->n_ops : 0;
	size_t from = CT_BISECT(i, 0, n_ops, compare_op(report->ops_by_key[i], &wanted) < 0);
	size_t last = from;

	while (last < n_ops && compare_op(report->ops_by_key[last], &wanted) == 0)
		last++;
	*n = last - from;
	return *n ? report->ops_by_key + from : NULL;
}

/* ---- both ---- */

int ct_report_rows_index(struct ct_report *report)
{
	report->comms_by_key = ct_arena_calloc(report->memory, report->n_comms,
					       sizeof(struct ct_report_comm *));
	report->ops_by_key = ct_arena_calloc(report->memory, report->n_ops,
					     sizeof(struct ct_report_op *));
	if (!report->comms_by_key || !report->ops_by_key)
		return CT_NOMEM;
	for (size_t i = 0; i < report->n_comms; i++)
		report->comms_by_key[i] = &report->comms[i];
	for (size_t i = 0; i < report->n_ops; i++)
		report->ops_by_key[i] = &report->ops[i];
	qsort(report->comms_by_key, report->n_comms, sizeof(*report->comms_by_key), by_comm);
	qsort(report->ops_by_key, report->n_ops, sizeof(*report->ops_by_key), by_op);
	return CT_OK;
}
