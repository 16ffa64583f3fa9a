/* SPDX-License-Identifier: Apache-2.0 */
/* host.c — exposed communication where the host times: what of an operation's span its rank stood in the call that ended
 * it. Operations that are under way at once share the time, on one rank: each moment counts once. */
#include <stdlib.h>

#include "analyzer/base/interval_cover.h"
#include "analyzer/model/op_classes.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/status.h"

/* One rank: when it stood waiting. */
struct stood {
	struct ct_cover waits;
	struct stood *next;
};

/* One rank on one communicator. */
struct spans {
	struct ct_cover all;
	size_t row;
	struct spans *next;
};

struct ct_ov_host {
	struct ct_table by_seat, by_row, by_class; /* the last: place among the classes + 1 */
	struct stood *stood;
	struct spans *spans;
};

void ct_ov_host_free(struct ct_ov_host *host)
{
	if (!host)
		return;
	for (struct stood *s = host->stood, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	for (struct spans *s = host->spans, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	ct_table_fini(&host->by_seat);
	ct_table_fini(&host->by_row);
	ct_table_fini(&host->by_class);
	free(host);
}

static struct stood *stood_of(struct ct_ov_host *host, uint32_t seat)
{
	struct stood *s = ct_table_get(&host->by_seat, seat);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->next = host->stood;
	host->stood = s;
	return ct_table_put(&host->by_seat, seat, s) == CT_OK ? s : NULL;
}

static struct spans *spans_of(struct ct_overlap *o, const struct ct_overlap_call *call)
{
	struct ct_ov_host *host = o->host;
	uint64_t key = (uint64_t)call->seat << 32 | call->comm->index;
	struct spans *s = ct_table_get(&host->by_row, key);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->next = host->spans;
	host->spans = s;
	if (ct_ov_new_row(o, call->seat, call->comm, &s->row) != CT_OK)
		return NULL;
	o->rows[s->row].by_host = 1;
	return ct_table_put(&host->by_row, key, s) == CT_OK ? s : NULL;
}

static struct ct_overlap_class *class_of(struct ct_overlap *o, const struct ct_overlap_call *call)
{
	uint64_t bytes_class = ct_bytes_class(call->bytes);
	uint64_t what = (uint64_t)call->comm->index << 32 | call->op << 8 | call->dtype;
	uint64_t key = ct_mix(bytes_class ^ ct_mix(what));
	size_t at = (size_t)(uintptr_t)ct_table_get(&o->host->by_class, key);

	if (!at) {
		const struct ct_overlap_class fresh = {
			.comm = call->comm,
			.op = call->op,
			.dtype = call->dtype,
			.by_host = 1,
			.bytes_class = bytes_class,
		};

		if (ct_ov_new_class(o, &fresh, &at) != CT_OK ||
		    ct_table_put(&o->host->by_class, key, (void *)(uintptr_t)++at) != CT_OK)
			return NULL;
	}
	return &o->classes[at - 1];
}

static int tell_stall(const struct ct_overlap *o, const struct ct_overlap_call *call, uint64_t from)
{
	const struct ct_overlap_stall stall = {
		.seat = call->seat,
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
	struct ct_overlap_class *class;
	struct ct_overlap_row *row;
	struct stood *stood;
	struct spans *spans;

	if (!o->host)
		o->host = calloc(1, sizeof(*o->host));
	if (!o->host)
		return CT_NOMEM;
	stood = stood_of(o->host, call->seat);
	spans = spans_of(o, call);
	class = class_of(o, call);
	if (!stood || !spans || !class)
		return CT_NOMEM;
	row = &o->rows[spans->row];
	added = ct_cover_add(&spans->all, call->start_ns, call->end_ns);
	row->launches++;
	row->all_ns += added;
	class->launches++;
	if (!call->asked_ns) {
		class->err_ns += call->end_ns - call->start_ns;
		return tell_stall(o, call, from);
	}
	exposed = ct_cover_add(&stood->waits, from, call->end_ns);
	row->measured++;
	row->comm_ns += added;
	row->exposed_ns += exposed;
	row->err_ns += exposed ? call->err_ns : 0;
	class->measured++;
	class->exposed_ns += exposed;
	class->err_ns += exposed ? call->err_ns : 0;
	return tell_stall(o, call, from);
}
