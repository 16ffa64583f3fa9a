/* SPDX-License-Identifier: Apache-2.0 */
/* charge.c — from waits to the time that each of them cost. */
#include "analyzer/base/stats.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/status.h"

/* size: waits whose launches are fetched while one is charged: fetching takes as long as charging
 * two or three. */
#define CT_AHEAD 3u
/* size: blocks after which a launch that is not there will not come any more. */
#define PATIENCE 8u

static int is_charged_to(struct ct_ov_launch *launch, const struct ct_waiter *w)
{
	const struct ct_charged *c = ct_ov_charged(launch);

	while (c && c->waiter != w)
		c = c->next;
	return c != NULL;
}

/* How informative a wait is: that of the compute stream, as far as known by now, most. */
static int worth(const struct ct_waiter *computing, const struct ct_charged *c)
{
	return 8 * (c->waiter == computing) + 4 * (c->end_ns > c->begin_ns) +
	       2 * !c->waiter->is_host + !c->waiter->launches;
}

/* Many may wait for one launch: streams of communication for each other, the host in the end. The
 * one that is left out then is the one that says least. */
static int keep(struct ct_ov_process *p, struct ct_ov_launch *launch,
		const struct ct_charged *fresh)
{
	struct ct_charged *end = &launch->first, *least = &launch->first;
	const struct ct_waiter *computing;

	if (!launch->n_charged) {
		launch->first = *fresh;
		launch->n_charged = 1;
		return CT_OK;
	}
	if (launch->n_charged < CT_CHARGED) {
		while (end->next)
			end = end->next;
		end->next = ct_pool_take(&p->charges, sizeof(*end));
		if (!end->next)
			return CT_NOMEM;
		*end->next = *fresh;
		launch->n_charged++;
		return CT_OK;
	}
	computing = ct_ov_computing(p, launch->device);
	for (struct ct_charged *c = least->next; c; c = c->next)
		if (worth(computing, c) < worth(computing, least))
			least = c;
	if (worth(computing, least) < worth(computing, fresh)) {
		struct ct_charged *next = least->next;

		*least = *fresh;
		least->next = next;
	}
	return CT_OK;
}

/* From where the waiter was blocked, or where the last one ended, to the end; not before the stream
 * of communication had reached it: until then others were waited for. */
static int charge_one(struct ct_ov_process *p, struct ct_ov_launch *launch, struct ct_waiter *w,
		      const struct ct_wait_rec *rec)
{
	uint64_t begin = ct_max(ct_max(rec->begin_ns, launch->start_ns), w->charged_ns);
	uint64_t end = w->is_host ? ct_min(launch->end_ns, rec->issued_ns) : launch->end_ns;
	struct ct_charged c = { .waiter = w, .via = rec->via };

	/* With all streams at once: which was last is not known. */
	if (rec->flags & CT_WAIT_DEVICE && begin < end) {
		launch->is_unclear = 1;
		return CT_OK;
	}
	if (rec->begin_ns < launch->end_ns + launch->end_err_ns + rec->begin_err_ns)
		c.err_ns = rec->begin_err_ns + (uint32_t)ct_min(launch->end_err_ns, UINT32_MAX / 2);
	c.begin_ns = ct_min(begin, ct_max(begin, end));
	c.end_ns = ct_max(begin, end);
	if (end > begin)
		w->charged_ns = end;
	return keep(p, launch, &c);
}

/* How long the stream was busy for certain before it reached this wait: it came there later than
 * the host had put the wait on it, and since it was let go it has waited for nothing else. What it
 * communicated itself does not count. */
static void weigh(struct ct_ov_process *p, struct ct_waiter *w, const struct ct_wait_rec *rec)
{
	const struct ct_ov_stream *s = w->launches ? ct_ov_stream(p, w->id) : NULL;
	uint64_t from = ct_max(w->released_ns, rec->issued_ns);
	uint64_t busy = rec->begin_ns > from ? rec->begin_ns - from : 0;

	if (!w->released_ns || rec->begin_ns == w->begun_ns || rec->flags & CT_WAIT_OTHERS)
		return;
	for (const struct ct_ov_launch *l = s ? s->newest : NULL; l && l->end_ns > from;
	     l = l->before) {
		uint64_t begin = ct_max(l->start_ns, from), end = ct_min(l->end_ns, rec->begin_ns);

		if (end > begin)
			busy -= ct_min(busy, end - begin);
	}
	p->computing_is_kept = 0;
	w->busy_ns += busy;
	w->busy_err_ns += rec->begin_err_ns;
}

static int charge(struct ct_ov_process *p, struct ct_waiter *w, const struct ct_wait_rec *rec,
		  struct ct_ov_launch *last)
{
	struct ct_ov_launch *first = last;
	int st = CT_OK;

	if (!w->is_host)
		weigh(p, w, rec);
	while (first->before && first->before->by_id.key != rec->after &&
	       !is_charged_to(first->before, w))
		first = first->before;
	if (rec->flags & CT_WAIT_GAP || is_charged_to(last, w))
		first = NULL;
	for (; first && st == CT_OK; first = first == last ? NULL : first->after)
		st = charge_one(p, first, w, rec);
	if (rec->begin_ns != w->begun_ns)
		w->released_ns = rec->begin_ns;
	w->begun_ns = rec->begin_ns;
	w->released_ns = ct_max(w->released_ns, last->end_ns);
	return st;
}

static int charge_waiter(struct ct_ov_process *p, struct ct_waiter *w)
{
	int st = CT_OK;

	while (w->n && st == CT_OK) {
		const struct ct_ov_wait *wait = &w->waits[w->first];
		struct ct_ov_launch *launch = ct_chains_get(&p->by_id, wait->rec.launch);

		if (w->n > CT_AHEAD)
			ct_chains_prefetch(&p->by_id, wait[CT_AHEAD].rec.launch);
		/* One block more: a launch that ended before may have been taken by another thread.
		 */
		if (!p->ended &&
		    (launch ? wait->block + 1 >= p->blocks : wait->block + PATIENCE >= p->blocks))
			return CT_OK;
		if (launch && wait->rec.begin_ns)
			st = charge(p, w, &wait->rec, launch);
		else
			w->released_ns = 0;
		w->first++;
		w->n--;
		p->n_waits--;
	}
	return st;
}

int ct_ov_charge(struct ct_ov_process *p)
{
	int st = CT_OK;

	for (struct ct_waiter *w = p->waiters; w && st == CT_OK; w = w->next)
		st = charge_waiter(p, w);
	return st;
}
