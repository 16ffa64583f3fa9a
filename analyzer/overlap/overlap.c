/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/model/op_classes.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/ops.h"

struct ct_overlap *ct_overlap_new(size_t n_processes)
{
	struct ct_overlap *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->processes = calloc(n_processes + 1, sizeof(*o->processes));
	o->n_processes = n_processes;
	if (!o->processes) {
		free(o);
		return NULL;
	}
	for (size_t p = 0; p < n_processes; p++)
		o->processes[p].newest = &o->processes[p].oldest;
	return o;
}

static void free_launch(struct ct_overlap *o, struct ct_ov_launch *launch)
{
	while (launch->charged) {
		struct ct_charged *next = launch->charged->next;

		if (launch->charged != &launch->first)
			ct_pool_give(&o->charges, launch->charged);
		launch->charged = next;
	}
	ct_pool_give(&o->launches, launch);
}

static void free_process(struct ct_overlap *o, struct ct_ov_process *p)
{
	while (p->oldest) {
		struct ct_ov_launch *next = p->oldest->newer;

		free_launch(o, p->oldest);
		p->oldest = next;
	}
	while (p->streams) {
		struct ct_ov_stream *next = p->streams->next;

		free(p->streams);
		p->streams = next;
	}
	while (p->waiters) {
		struct ct_waiter *next = p->waiters->next;

		free(p->waiters->waits);
		free(p->waiters);
		p->waiters = next;
	}
	ct_chains_fini(&p->by_id);
	*p = (struct ct_ov_process){ .ended = 1 };
	p->newest = &p->oldest;
}

void ct_overlap_subscribe(struct ct_overlap *o, ct_overlap_fn fn, void *arg)
{
	o->tell = fn;
	o->arg = arg;
}

void ct_overlap_stalls(struct ct_overlap *o, ct_overlap_stall_fn fn, void *arg)
{
	o->stall = fn;
	o->stall_arg = arg;
}

void ct_overlap_free(struct ct_overlap *o)
{
	if (!o)
		return;
	ct_overlap_close(o);
	ct_ov_host_free(o->host);
	free(o->processes);
	free(o->rows);
	free(o->classes);
	ct_table_fini(&o->row_at);
	ct_table_fini(&o->of_slot);
	ct_table_fini(&o->class_at);
	free(o);
}

/* ---- launches ---- */

struct ct_ov_stream *ct_ov_stream(const struct ct_ov_process *p, uint32_t id)
{
	struct ct_ov_stream *s = p->streams;

	while (s && s->id != id)
		s = s->next;
	return s;
}

static struct ct_ov_stream *get_stream(struct ct_ov_process *p, uint32_t id)
{
	struct ct_ov_stream *s = ct_ov_stream(p, id);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->id = id;
	s->next = p->streams;
	p->streams = s;
	return s;
}

/* The oldest one, which nothing more will be known of. */
static int let_go(struct ct_overlap *o, struct ct_ov_process *p)
{
	struct ct_ov_launch *launch = p->oldest;
	struct ct_ov_stream *s = ct_ov_stream(p, launch->stream);
	int st;

	/* thousands came since: it is in no cache any more when its turn comes */
	if (launch->newer) {
		__builtin_prefetch(launch->newer);
		__builtin_prefetch((char *)launch->newer + 64);
		__builtin_prefetch((char *)launch->newer + 128);
	}
	st = ct_ov_settle(o, p, launch);
	if (launch->before)
		launch->before->after = launch->after;
	if (launch->after)
		launch->after->before = launch->before;
	else if (s)
		s->newest = launch->before;
	p->oldest = launch->newer;
	if (!p->oldest)
		p->newest = &p->oldest;
	p->n_launches--;
	ct_chains_take(&p->by_id, &launch->by_id);
	free_launch(o, launch);
	return st;
}

static void put_on_stream(struct ct_ov_stream *s, struct ct_ov_launch *launch)
{
	struct ct_ov_launch *before = s->newest;

	while (before && before->end_ns > launch->end_ns)
		before = before->before;
	launch->before = before;
	launch->after = before ? before->after : NULL;
	if (before)
		before->after = launch;
	if (launch->after) {
		launch->after->before = launch;
	} else if (!before && s->newest) {
		struct ct_ov_launch *first = s->newest;

		while (first->before)
			first = first->before;
		first->before = launch;
		launch->after = first;
	} else {
		s->newest = launch;
	}
}

int ct_overlap_add(struct ct_overlap *o, uint32_t process, const struct ct_overlap_op *op)
{
	struct ct_ov_process *p = &o->processes[process];
	const struct ct_joined_op *j = &op->op->joined;
	struct ct_ov_launch *launch;
	struct ct_ov_stream *s;

	if (p->ended || j->backend != CT_BACKEND_NCCL || j->state != CT_STATE_FINISHED ||
	    !j->op->launch || !j->stream || !j->start_ns || j->end_ns < j->start_ns ||
	    ct_chains_get(&p->by_id, j->op->launch))
		return CT_OK;
	launch = ct_pool_take(&o->launches, sizeof(*launch));
	s = get_stream(p, j->stream);
	if (!launch || !s || ct_chains_put(&p->by_id, j->op->launch, &launch->by_id) != CT_OK) {
		ct_pool_give(&o->launches, launch);
		return CT_NOMEM;
	}
	launch->stream = j->stream;
	launch->device = j->device;
	launch->slot = op->slot;
	launch->comm = op->comm;
	launch->start_ns = j->start_ns;
	launch->end_ns = j->end_ns;
	launch->start_err_ns = j->start_err_ns;
	launch->end_err_ns = j->end_err_ns;
	launch->is_told = j->start_source == CT_SOURCE_PLUGIN;
	if (!op->op->launch || op->op->launch->n_ops <= 1) {
		launch->op = (uint8_t)j->op->op;
		launch->dtype = (uint8_t)j->op->dtype;
		launch->size_range = ct_size_range(op->bytes);
	}
	put_on_stream(s, launch);
	*p->newest = launch;
	p->newest = &launch->newer;
	p->n_launches++;
	return p->n_launches > CT_OVERLAP_LAUNCHES ? let_go(o, p) : CT_OK;
}

/* ---- waits ---- */

static struct ct_waiter *get_waiter(struct ct_ov_process *p, const struct ct_wait_rec *rec)
{
	int is_host = (rec->flags & CT_WAIT_HOST) != 0;
	uint32_t id = is_host ? rec->tid : rec->waiter;
	struct ct_waiter *w = p->waiters;

	while (w && !(w->id == id && w->is_host == is_host))
		w = w->next;
	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->id = id;
	w->is_host = is_host;
	w->device = rec->device;
	w->next = p->waiters;
	p->waiters = w;
	p->computing_is_kept = 0;
	return w;
}

static void tell_of_waiter(struct ct_ov_process *p, struct ct_waiter *w,
			   const struct ct_wait_rec *rec)
{
	int is_default = w->is_default | ((rec->flags & CT_WAIT_DEFAULT) != 0);
	int launches = w->launches | ((rec->flags & CT_WAIT_LAUNCHES) != 0);

	if (is_default != w->is_default || launches != w->launches)
		p->computing_is_kept = 0;
	w->is_default = is_default;
	w->launches = launches;
}

/* For one more wait. They move to the front where half of the room before them is free. */
static int make_room(struct ct_waiter *w)
{
	if (w->first + w->n < w->cap)
		return CT_OK;
	if (w->first && w->first >= w->n) {
		memcpy(w->waits, &w->waits[w->first], w->n * sizeof(*w->waits));
		w->first = 0;
		return CT_OK;
	}
	return ct_grow(&w->waits, &w->cap, w->first + w->n + 1, sizeof(*w->waits));
}

int ct_overlap_wait(struct ct_overlap *o, uint32_t process, const struct ct_wait_rec *rec)
{
	struct ct_ov_process *p = &o->processes[process];
	struct ct_ov_stream *s;
	struct ct_waiter *w;

	if (p->ended)
		return CT_OK;
	if (rec->flags & CT_WAIT_STREAM) {
		s = get_stream(p, rec->waiter);
		if (!s)
			return CT_NOMEM;
		s->is_seen = 1;
		s->is_fed |= (rec->flags & CT_WAIT_FED) != 0;
		s->is_default |= (rec->flags & CT_WAIT_DEFAULT) != 0;
		return CT_OK;
	}
	if ((!(rec->flags & CT_WAIT_HOST) && !rec->waiter) || p->n_waits == CT_OVERLAP_WAITS)
		return CT_OK;
	w = get_waiter(p, rec);
	if (!w || make_room(w) != CT_OK)
		return CT_NOMEM;
	tell_of_waiter(p, w, rec);
	w->waits[w->first + w->n++] = (struct ct_ov_wait){ *rec, p->blocks };
	p->n_waits++;
	return CT_OK;
}

void ct_overlap_blind(struct ct_overlap *o, uint32_t process)
{
	o->processes[process].is_blind = 1;
}

int ct_overlap_block(struct ct_overlap *o, uint32_t process)
{
	struct ct_ov_process *p = &o->processes[process];

	p->blocks++;
	return ct_ov_charge(o, p);
}

int ct_overlap_end(struct ct_overlap *o, uint32_t process)
{
	struct ct_ov_process *p = &o->processes[process];
	int st;

	p->ended = 1;
	st = ct_ov_charge(o, p);
	while (p->oldest && st == CT_OK)
		st = let_go(o, p);
	free_process(o, p);
	return st;
}

void ct_overlap_close(struct ct_overlap *o)
{
	for (size_t p = 0; p < o->n_processes; p++)
		free_process(o, &o->processes[p]);
	ct_pool_fini(&o->launches);
	ct_pool_fini(&o->charges);
}

const struct ct_overlap_row *ct_overlap_rows(const struct ct_overlap *o, size_t *n)
{
	*n = o->n_rows;
	return o->rows;
}

static const struct ct_overlap_row *row_at(const struct ct_overlap *o, size_t at)
{
	return at ? &o->rows[at - 1] : NULL;
}

const struct ct_overlap_row *ct_overlap_of_slot(const struct ct_overlap *o, uint32_t slot)
{
	return row_at(o, (size_t)(uintptr_t)ct_table_get(&o->of_slot, slot));
}

const struct ct_overlap_row *ct_overlap_next(const struct ct_overlap *o,
					     const struct ct_overlap_row *row)
{
	return row_at(o, row->next);
}

const struct ct_overlap_class *ct_overlap_classes(const struct ct_overlap *o, size_t *n)
{
	*n = o->n_classes;
	return o->classes;
}
