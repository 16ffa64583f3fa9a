/* SPDX-License-Identifier: Apache-2.0 */
/* host.c — exposed communication where the host times: the part of an operation's span that its
 * rank was blocked in the call that ended it. Concurrent operations share the time, on one rank:
 * each moment counts once. */
#include <stdlib.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/interval_cover.h"
#include "analyzer/model/op_classes.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/status.h"

struct ct_ov_host {
	struct ct_arena *memory;
	struct ct_table waits_of; /* by slot: a ct_cover of its waits */
};

void ct_ov_host_free(struct ct_ov_host *host)
{
	if (!host)
		return;
	ct_arena_free(host->memory);
	ct_table_fini(&host->waits_of);
	free(host);
}

static struct ct_ov_host *host_of(struct ct_overlap *o)
{
	if (!o->host)
		o->host = calloc(1, sizeof(*o->host));
	if (o->host && !o->host->memory)
		o->host->memory = ct_arena_new();
	return o->host && o->host->memory ? o->host : NULL;
}

static struct ct_cover *waits_of(struct ct_ov_host *host, uint32_t slot)
{
	struct ct_cover *waits = ct_table_get(&host->waits_of, slot);

	if (waits)
		return waits;
	waits = ct_arena_calloc(host->memory, 1, sizeof(*waits));
	return waits && ct_table_put(&host->waits_of, slot, waits) == CT_OK ? waits : NULL;
}

static int pass_stall(const struct ct_overlap *o, const struct ct_overlap_call *call, uint64_t from)
{
	const struct ct_overlap_stall stall = {
		.slot = call->slot,
		.comm = call->comm,
		.start_ns = call->start_ns,
		.begin_ns = call->asked_ns ? from : call->start_ns,
		.end_ns = call->end_ns,
		.err_ns = call->err_ns,
		.is_known = call->asked_ns != 0,
	};

	return o->stall && stall.end_ns > stall.begin_ns ? o->stall(o->stall_arg, &stall) : CT_OK;
}

int ct_overlap_call(struct ct_overlap *o, const struct ct_overlap_call *call)
{
	uint64_t from = call->asked_ns > call->start_ns ? call->asked_ns : call->start_ns;
	uint64_t added, exposed = 0;
	const struct ct_overlap_class like = {
		.comm = call->comm,
		.op = call->op,
		.dtype = call->dtype,
		.by_host = 1,
		.size_range = ct_size_range(call->bytes),
	};
	struct ct_ov_host *host = host_of(o);
	struct ct_cover *waits = host ? waits_of(host, call->slot) : NULL;
	struct ct_overlap_row *row = ct_ov_row(&o->sums, call->slot, call->comm, 1);
	struct ct_overlap_class *class = ct_ov_class(&o->sums, &like);

	if (!waits || !row || !class)
		return CT_NOMEM;
	if (!row->spans)
		row->spans = ct_arena_calloc(host->memory, 1, sizeof(*row->spans));
	if (!row->spans)
		return CT_NOMEM;
	added = ct_cover_add(row->spans, call->start_ns, call->end_ns);
	row->launches++;
	row->all_ns += added;
	class->launches++;
	if (!call->asked_ns) {
		class->err_ns += call->end_ns - call->start_ns;
		return pass_stall(o, call, from);
	}
	exposed = ct_cover_add(waits, from, call->end_ns);
	row->measured++;
	row->comm_ns += added;
	row->exposed_ns += exposed;
	row->err_ns += exposed ? call->err_ns : 0;
	class->measured++;
	class->exposed_ns += exposed;
	class->err_ns += exposed ? call->err_ns : 0;
	return pass_stall(o, call, from);
}
