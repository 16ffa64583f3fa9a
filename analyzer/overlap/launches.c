/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c — the launches and waits of one process, as they come. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/status.h"

static void free_launch(struct ct_ov_process *p, struct ct_ov_launch *launch)
{
	struct ct_charged *more = launch->n_charged ? launch->first.next : NULL;

	while (more) {
		struct ct_charged *next = more->next;

		ct_pool_give(&p->charges, more);
		more = next;
	}
	ct_pool_give(&p->pool, launch);
}

void ct_ov_process_free(struct ct_ov_process *p)
{
	while (p->oldest) {
		struct ct_ov_launch *next = p->oldest->newer;

		free_launch(p, p->oldest);
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
	ct_pool_fini(&p->pool);
	ct_pool_fini(&p->charges);
	ct_ov_sums_fini(&p->sums);
	*p = (struct ct_ov_process){ .ended = 1 };
	p->newest = &p->oldest;
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
static int let_go(struct ct_ov_process *p, struct ct_ov_block *block)
{
	struct ct_ov_launch *launch = p->oldest;
	struct ct_ov_stream *s = ct_ov_stream(p, launch->stream);
	int st;

	/* thousands came since: it is in no cache any more when its turn comes */
	if (launch->newer) {
		__builtin_prefetch(launch->newer);
		__builtin_prefetch((char *)launch->newer + 64);
	}
	st = ct_ov_settle(p, launch, block);
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
	free_launch(p, launch);
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

/* Its indices in the sums. */
static int index_launch(struct ct_ov_sums *sums, const struct ct_ov_read *read,
			struct ct_ov_launch *launch)
{
	const struct ct_overlap_class like = {
		.comm = read->comm,
		.op = read->op,
		.dtype = read->dtype,
		.size_range = read->size_range,
	};
	const struct ct_overlap_row *row = ct_ov_row(sums, read->slot, read->comm, 0);
	const struct ct_overlap_class *class = read->op ? ct_ov_class(sums, &like) : NULL;

	if (!row || (read->op && !class))
		return CT_NOMEM;
	launch->row = (uint32_t)(row - sums->rows);
	launch->class = class ? (uint32_t)(class - sums->classes) : UINT32_MAX;
	return CT_OK;
}

int ct_ov_launch_add(struct ct_ov_process *p, const struct ct_ov_read *read,
		     struct ct_ov_block *block)
{
	struct ct_ov_launch *launch;
	struct ct_ov_stream *s;

	if (ct_chains_get(&p->by_id, read->id))
		return CT_OK;
	launch = ct_pool_take(&p->pool, sizeof(*launch));
	s = get_stream(p, read->stream);
	if (!launch || !s || index_launch(&p->sums, read, launch) != CT_OK ||
	    ct_chains_put(&p->by_id, read->id, &launch->by_id) != CT_OK) {
		ct_pool_give(&p->pool, launch);
		return CT_NOMEM;
	}
	launch->start_ns = read->start_ns;
	launch->end_ns = read->end_ns;
	launch->start_err_ns = read->start_err_ns;
	launch->end_err_ns = read->end_err_ns;
	launch->stream = read->stream;
	launch->device = read->device;
	launch->is_from_nccl = read->is_from_nccl;
	put_on_stream(s, launch);
	*p->newest = launch;
	p->newest = &launch->newer;
	p->n_launches++;
	return p->n_launches > CT_OVERLAP_LAUNCHES ? let_go(p, block) : CT_OK;
}

int ct_ov_process_end(struct ct_ov_process *p, struct ct_ov_block *block)
{
	int st = CT_OK;

	while (p->oldest && st == CT_OK)
		st = let_go(p, block);
	return st;
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

static void set_waiter(struct ct_ov_process *p, struct ct_waiter *w, const struct ct_wait_rec *rec)
{
	int is_default = w->is_default | ((rec->flags & CT_WAIT_DEFAULT) != 0);
	int launches = w->launches | ((rec->flags & CT_WAIT_LAUNCHES) != 0);

	if (is_default != w->is_default || launches != w->launches)
		p->computing_is_kept = 0;
	w->is_default = is_default;
	w->launches = launches;
}

/* For one more wait. They move to the front where half of the space before them is free. */
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

int ct_ov_wait_add(struct ct_ov_process *p, const struct ct_wait_rec *rec)
{
	struct ct_ov_stream *s;
	struct ct_waiter *w;

	if (rec->flags & CT_WAIT_STREAM) {
		s = get_stream(p, rec->waiter);
		if (!s)
			return CT_NOMEM;
		s->is_seen = 1;
		s->is_fed |= (rec->flags & CT_WAIT_FED) != 0;
		return CT_OK;
	}
	if ((!(rec->flags & CT_WAIT_HOST) && !rec->waiter) || p->n_waits == CT_OVERLAP_WAITS)
		return CT_OK;
	w = get_waiter(p, rec);
	if (!w || make_room(w) != CT_OK)
		return CT_NOMEM;
	set_waiter(p, w, rec);
	w->waits[w->first + w->n++] = (struct ct_ov_wait){ *rec, p->blocks };
	p->n_waits++;
	return CT_OK;
}
