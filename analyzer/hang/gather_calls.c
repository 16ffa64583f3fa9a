/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that move no data and may wait for others, and the errors that libraries tell. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/hang/gather.h"
#include "analyzer/model/call_kind.h"

/* A thread that calls something has left what it was in, however it did that. */
void ct_gather_leave_calls(struct ct_gather *g, uint32_t tid, uint64_t enter_ns)
{
	for (uint32_t i = 0; i < g->n_open_calls;) {
		if (g->open_calls[i].rec.tid == tid && !g->open_calls[i].goes_on &&
		    g->open_calls[i].rec.enter_ns < enter_ns)
			g->open_calls[i] = g->open_calls[--g->n_open_calls];
		else
			i++;
	}
}

static int keep_call(struct ct_hang_seen_call **all, uint32_t *n, uint32_t *cap,
		     const struct ct_hang_seen_call *call)
{
	if (*n == *cap) {
		uint32_t more = *cap ? 2 * *cap : 16;
		struct ct_hang_seen_call *grown = reallocarray(*all, more, sizeof(*grown));

		if (!grown)
			return CT_NOMEM;
		*all = grown;
		*cap = more;
	}
	(*all)[(*n)++] = *call;
	return CT_OK;
}

static struct ct_hang_seen_call *find_open(struct ct_gather *g, const struct ct_host_rec *rec)
{
	for (uint32_t i = 0; i < g->n_open_calls; i++) {
		if (g->open_calls[i].rec.tid == rec->tid &&
		    g->open_calls[i].rec.enter_ns == rec->enter_ns)
			return &g->open_calls[i];
	}
	return NULL;
}

/* A call of NCCL on a nonblocking communicator is back, and what it does is not over: then it has another record. */
static int goes_on(const struct ct_host_rec *rec, const char *name)
{
	const int in_progress = 7; /* nccl.h: ncclInProgress */

	return rec->result == in_progress && !rec->polled_ns &&
	       ct_call_row(name)->library == CT_CALL_OF_NCCL;
}

int ct_gather_host(void *arg, const struct ct_host_rec *rec, const char *name, const char *site)
{
	struct ct_gather *g = arg;
	struct ct_hang_seen_call call = { .rec = *rec,
					  .call = name,
					  .site = site,
					  .kind = ct_call_row(name)->kind,
					  .process = g->process,
					  .comm = UINT32_MAX };
	struct ct_hang_seen_call *open = find_open(g, rec);

	if (!rec->return_ns) {
		if (open) {
			open->rec.polled_ns = rec->polled_ns;
			open->site = site;
			return CT_OK;
		}
		ct_gather_leave_calls(g, rec->tid, rec->enter_ns);
		return keep_call(&g->open_calls, &g->n_open_calls, &g->cap_open_calls, &call);
	}
	if (open) {
		call.site = open->site;
		*open = g->open_calls[--g->n_open_calls];
	}
	/* of several communicators nobody knows which are not done */
	if (goes_on(rec, name) && call.kind != CT_HOST_GROUP_END) {
		call.goes_on = 1;
		call.rec.return_ns = 0;
		return keep_call(&g->open_calls, &g->n_open_calls, &g->cap_open_calls, &call);
	}
	/* somebody else may still stand where this one has been */
	if (!ct_host_call_meets(call.kind) || !rec->key)
		return CT_OK;
	call.call = ct_gather_text(g, name);
	call.site = ct_gather_text(g, call.site);
	call.comm = ct_gather_comm(g, rec);
	return keep_call(&g->calls, &g->n_calls, &g->cap_calls, &call);
}

int ct_gather_end_calls(struct ct_gather *g)
{
	for (uint32_t i = 0; i < g->n_open_calls; i++) {
		struct ct_hang_seen_call *call = &g->open_calls[i];

		call->call = ct_gather_text(g, call->call);
		call->site = ct_gather_text(g, call->site);
		call->comm = ct_gather_comm(g, &call->rec);
		if (keep_call(&g->calls, &g->n_calls, &g->cap_calls, call) != CT_OK)
			return CT_NOMEM;
	}
	g->n_open_calls = 0;
	return CT_OK;
}

/* Of NCCL only what ends the communicator: a refused argument (4) and a wrong use (5) end nothing. */
static int is_end_of_comm(const struct ct_error_rec *rec)
{
	return rec->backend != CT_BACKEND_NCCL ||
	       (rec->result > 0 && rec->result <= 8 && (1 << rec->result & 0x14e));
}

int ct_gather_error(void *arg, const struct ct_error_rec *rec, const char *call, const char *text)
{
	struct ct_gather *g = arg;
	struct ct_hang_process *p = &g->processes[g->process];
	struct ct_hang_kept *kept = ct_table_get(&g->by_id, (uint64_t)g->process << 32 | rec->comm);

	/* an exception is told by the operation that it left */
	if (p->error || rec->result < 0 || !is_end_of_comm(rec))
		return CT_OK;
	p->error = text ? ct_gather_text(g, text)
			: ct_arena_printf(g->memory, "%s: result %d", call ? call : "?",
					  rec->result);
	p->error_ns = rec->told_ns;
	p->error_comm = kept ? kept->comm->index : UINT32_MAX;
	return p->error ? CT_OK : CT_NOMEM;
}
