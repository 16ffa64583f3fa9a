/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that move no data and may block, errors that libraries report, and stacks of threads. */
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/hang/gather.h"
#include "analyzer/model/call_kind.h"

/* A thread that calls something has left what it was in, however it did that. */
void ct_gather_leave_calls(struct ct_hang_reading *r, uint32_t tid, uint64_t enter_ns)
{
	for (uint32_t i = 0; i < r->n_open_calls;) {
		if (r->open_calls[i].rec.tid == tid && !r->open_calls[i].goes_on &&
		    r->open_calls[i].rec.enter_ns < enter_ns)
			r->open_calls[i] = r->open_calls[--r->n_open_calls];
		else
			i++;
	}
}

static int keep_call(struct ct_hang_seen_call **all, uint32_t *n, uint32_t *cap,
		     const struct ct_hang_seen_call *call)
{
	if (ct_grow(all, cap, *n + 1, sizeof(**all)) != CT_OK)
		return CT_NOMEM;
	(*all)[(*n)++] = *call;
	return CT_OK;
}

static struct ct_hang_seen_call *find_open(struct ct_hang_reading *r, const struct ct_host_rec *rec)
{
	for (uint32_t i = 0; i < r->n_open_calls; i++) {
		if (r->open_calls[i].rec.tid == rec->tid &&
		    r->open_calls[i].rec.enter_ns == rec->enter_ns)
			return &r->open_calls[i];
	}
	return NULL;
}

static int keep_open(struct ct_hang_reading *r, const struct ct_hang_seen_call *call)
{
	return keep_call(&r->open_calls, &r->n_open_calls, &r->cap_open_calls, call);
}

/* A call of NCCL on a nonblocking communicator is back, and what it does is not over: then it has
 * another record. */
static int goes_on(const struct ct_host_rec *rec, const char *name)
{
	const int in_progress = 7; /* nccl.h: ncclInProgress */

	return rec->result == in_progress && !rec->polled_ns &&
	       ct_call_row(name)->library == CT_CALL_OF_NCCL;
}

static int keep_for_good(struct ct_gather *g, struct ct_hang_seen_call call)
{
	call.call = ct_gather_text(g, call.call);
	call.site = ct_gather_text(g, call.site);
	return keep_call(&g->calls, &g->n_calls, &g->cap_calls, &call);
}

int ct_gather_host(void *arg, const struct ct_stream *stream, uint32_t process,
		   const struct ct_host_rec *rec, const char *name, const char *site)
{
	struct ct_gather *g = arg;
	struct ct_hang_reading *reading = ct_gather_reading(g, process);
	struct ct_hang_seen_call *open, call;

	(void)stream;
	if (!reading)
		return CT_NOMEM;
	open = find_open(reading, rec);
	/* it is over, and no other rank may be in it */
	if (rec->return_ns && !rec->key && !goes_on(rec, name)) {
		if (open)
			*open = reading->open_calls[--reading->n_open_calls];
		return CT_OK;
	}
	call = (struct ct_hang_seen_call){ .rec = *rec,
					   .call = name,
					   .site = site,
					   .kind = ct_call_row(name)->kind,
					   .process = process,
					   .comm = UINT32_MAX };
	if (!rec->return_ns) {
		if (open) {
			open->rec.polled_ns = rec->polled_ns;
			open->site = site;
			return CT_OK;
		}
		ct_gather_leave_calls(reading, rec->tid, rec->enter_ns);
		return keep_open(reading, &call);
	}
	if (open) {
		call.site = open->site;
		*open = reading->open_calls[--reading->n_open_calls];
	}
	/* in a group of several communicators, which of them are unfinished is unknown */
	if (goes_on(rec, name) && call.kind != CT_HOST_GROUP_END) {
		call.goes_on = 1;
		call.rec.return_ns = 0;
		return keep_open(reading, &call);
	}
	/* other ranks may still be in this call */
	return ct_host_call_meets(call.kind) && rec->key ? keep_for_good(g, call) : CT_OK;
}

int ct_gather_end_calls(struct ct_gather *g, uint32_t process)
{
	const struct ct_hang_reading *reading = g->processes[process].reading;
	int st = CT_OK;

	for (uint32_t i = 0; reading && i < reading->n_open_calls && st == CT_OK; i++)
		st = keep_for_good(g, reading->open_calls[i]);
	return st;
}

/* For NCCL only errors that end the communicator: an invalid argument (4) and invalid usage (5) do
 * not. */
static int is_end_of_comm(const struct ct_error_rec *rec)
{
	return rec->backend != CT_BACKEND_NCCL ||
	       (rec->result > 0 && rec->result <= 8 && (1 << rec->result & 0x14e));
}

int ct_gather_error(void *arg, const struct ct_stream *stream, uint32_t process,
		    const struct ct_error_rec *rec, const char *call, const char *text)
{
	struct ct_gather *g = arg;
	struct ct_hang_process *p = &g->processes[process];
	const struct ct_rank_history *history = ct_gather_history(g, process, rec->comm);

	(void)stream;
	/* an exception is recorded with the operation that raised it */
	if (p->error || rec->result < 0 || !is_end_of_comm(rec))
		return CT_OK;
	p->error = text ? ct_gather_text(g, text)
			: ct_arena_printf(g->memory, "%s: result %d", call ? call : "?",
					  rec->result);
	p->error_ns = rec->reported_ns;
	p->error_comm = history ? history->comm : NULL;
	return p->error ? CT_OK : CT_NOMEM;
}

/* ---- stacks ---- */

/* Stacks of a process's threads, without those of threads that have continued since. */

int ct_gather_stack(void *arg, const struct ct_stream *stream, uint32_t process,
		    const uint8_t *bytes, size_t len)
{
	struct ct_gather *g = arg;
	struct ct_hang_process *p = &g->processes[process];

	(void)stream;
	if (!p->stacks) {
		p->stacks = ct_arena_calloc(g->memory, 1, sizeof(*p->stacks));
		if (!p->stacks)
			return CT_NOMEM;
		p->stacks->memory = g->memory;
	}
	return ct_stack_list_take(p->stacks, bytes, len);
}

void ct_gather_entered(struct ct_hang_reading *r, uint32_t tid, uint64_t enter_ns)
{
	struct ct_hang_entered *last = &r->entered[tid % CT_HANG_ENTERED];

	if (enter_ns > r->last_enter_ns)
		r->last_enter_ns = enter_ns;
	if (enter_ns > last->enter_ns)
		*last = (struct ct_hang_entered){ tid, enter_ns };
}

/* The thread itself made a later call. For an idle process, a call of any thread ends the stall. */
static int is_past(const struct ct_hang_reading *r, const struct ct_stack *stack)
{
	const struct ct_hang_entered *last = &r->entered[stack->rec.tid % CT_HANG_ENTERED];

	if (last->tid == stack->rec.tid && last->enter_ns > stack->rec.taken_ns)
		return 1;
	return stack->rec.why == CT_STALL_IDLE && r->last_enter_ns > stack->rec.taken_ns;
}

void ct_gather_end_stacks(struct ct_gather *g, uint32_t process)
{
	const struct ct_hang_reading *reading = g->processes[process].reading;
	struct ct_stack_list *list = g->processes[process].stacks;
	uint32_t n = 0;

	if (!list)
		return;
	for (uint32_t i = 0; i < list->n; i++)
		if (!reading || !is_past(reading, &list->stacks[i]))
			list->stacks[n++] = list->stacks[i];
	list->n = n;
	ct_stack_list_sort(list);
}
