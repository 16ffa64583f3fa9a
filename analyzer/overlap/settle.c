/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c — which ranks compute, and what of a launch was exposed. */
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/status.h"

/* ---- which ranks compute ---- */

/* The only one of the device that `fits`, NULL if none or several. */
static const struct ct_waiter *only(const struct ct_ov_process *p, uint32_t device,
				    int (*fits)(const struct ct_waiter *w))
{
	const struct ct_waiter *one = NULL;

	for (const struct ct_waiter *w = p->waiters; w; w = w->next) {
		if (w->is_host || w->device != device || !fits(w))
			continue;
		if (one)
			return NULL;
		one = w;
	}
	return one;
}

static int is_default(const struct ct_waiter *w)
{
	return w->is_default;
}

static int is_no_communication(const struct ct_waiter *w)
{
	return !w->launches;
}

static int is_any(const struct ct_waiter *w)
{
	(void)w;
	return 1;
}

static const struct ct_waiter *find_computing(const struct ct_ov_process *p, uint32_t device)
{
	const struct ct_waiter *busiest = NULL;

	for (const struct ct_waiter *w = p->waiters; w; w = w->next) {
		if (w->is_host || w->device != device || w->busy_ns <= 2 * w->busy_err_ns)
			continue;
		if (!busiest || w->busy_ns > busiest->busy_ns)
			busiest = w;
	}
	if (!busiest)
		busiest = only(p, device, is_default);
	if (!busiest)
		busiest = only(p, device, is_no_communication);
	return busiest ? busiest : only(p, device, is_any);
}

const struct ct_waiter *ct_ov_computing(struct ct_ov_process *p, uint32_t device)
{
	if (!p->computing_is_kept || p->computing_device != device) {
		p->computing = find_computing(p, device);
		p->computing_device = device;
		p->computing_is_kept = 1;
	}
	return p->computing;
}

/* ---- one launch ---- */

struct measured_launch {
	int is_known, is_same_stream;
	uint64_t exposed_ns, err_ns;
	uint32_t n; /* when it was waited for */
	struct {
		uint64_t begin_ns, end_ns;
	} stalls[CT_CHARGED];
};

/* Does this wait count? A stream that only forwards its wait loses nothing; a wait through the
 * compute stream is charged to that one. */
static int counts(const struct ct_charged *c, const struct ct_waiter *computing)
{
	if (!c->waiter->is_host)
		return c->waiter == computing;
	return !computing || c->via != computing->id;
}

CT_SORT_BY(by_begin, struct ct_charged, CT_UP(begin_ns))

static void add_up(struct ct_ov_launch *launch, const struct ct_waiter *computing,
		   struct measured_launch *m)
{
	struct ct_charged kept[CT_CHARGED];
	uint64_t reached = 0;
	uint32_t n = 0;

	for (const struct ct_charged *c = ct_ov_charged(launch); c; c = c->next)
		if (counts(c, computing))
			kept[n++] = *c;
	if (n > 1)
		qsort(kept, n, sizeof(*kept), by_begin);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t begin = kept[i].begin_ns > reached ? kept[i].begin_ns : reached;

		if (kept[i].end_ns > begin) {
			m->exposed_ns += kept[i].end_ns - begin;
			m->stalls[m->n].begin_ns = begin;
			m->stalls[m->n++].end_ns = kept[i].end_ns;
		}
		reached = kept[i].end_ns > reached ? kept[i].end_ns : reached;
		m->err_ns += kept[i].err_ns;
	}
	m->is_known = n > 0 && !launch->is_unclear;
	if (!m->is_known)
		m->exposed_ns = m->err_ns = m->n = 0;
}

/* The compute stream may have waited for it without a record, or it may have run there: what calls
 * of the program do with its stream is not on record. The host's waits are then not a measure: the
 * host arrives after the wait, and where it limits itself (FSDP) it waits while the GPU computes. */
static int may_be_unseen(const struct ct_ov_process *p, struct ct_ov_launch *launch,
			 const struct ct_waiter *computing)
{
	const struct ct_ov_stream *s = ct_ov_stream(p, launch->stream);

	return !computing && (p->is_blind || launch->is_from_nccl || !s || !s->is_seen);
}

/* It runs on the compute stream, or on one that depends on no other, if no waiting stream computes.
 */
static int is_same_stream(const struct ct_ov_process *p, struct ct_ov_launch *launch,
			  const struct ct_waiter *computing)
{
	const struct ct_ov_stream *s = ct_ov_stream(p, launch->stream);

	if (computing)
		return launch->stream == computing->id;
	return s && s->is_seen && !s->is_fed;
}

static void measure(struct ct_ov_process *p, struct ct_ov_launch *launch, struct measured_launch *m)
{
	const struct ct_waiter *computing = ct_ov_computing(p, launch->device);

	m->is_known = m->is_same_stream = 0;
	m->exposed_ns = m->err_ns = 0;
	m->n = 0;
	if (is_same_stream(p, launch, computing)) {
		m->is_known = m->is_same_stream = 1;
		m->exposed_ns = launch->end_ns - launch->start_ns;
		m->n = 1;
		m->stalls[0].begin_ns = launch->start_ns;
		m->stalls[0].end_ns = launch->end_ns;
		m->err_ns = (uint64_t)launch->start_err_ns + launch->end_err_ns;
	} else if (!may_be_unseen(p, launch, computing)) {
		add_up(launch, computing, m);
	}
}

/* ---- sums ---- */

static int pass_launch(const struct ct_overlap *o, const struct ct_ov_process *p,
		       struct ct_ov_launch *launch, const struct measured_launch *m)
{
	const struct ct_overlap_launch launch_times = {
		.process = (uint32_t)(p - o->processes),
		.launch = (uint32_t)launch->by_id.key,
		.slot = p->sums.rows[launch->row].slot,
		.start_ns = launch->start_ns,
		.end_ns = launch->end_ns,
		.is_known = m->is_known,
		.is_same_stream = m->is_same_stream,
		.exposed_ns = m->exposed_ns,
		.err_ns = m->err_ns,
	};

	return o->on_launch(o->arg, &launch_times);
}

static int keep_stalls(struct ct_ov_block *block, const struct ct_overlap_row *row,
		       const struct ct_ov_launch *launch, const struct measured_launch *m)
{
	struct ct_overlap_stall stall = {
		.slot = row->slot,
		.comm = row->comm,
		.start_ns = launch->start_ns,
		.begin_ns = launch->start_ns,
		.end_ns = launch->end_ns,
		.is_known = m->is_known,
	};

	if (ct_grow(&block->stalls, &block->cap_stalls, block->n_stalls + CT_CHARGED,
		    sizeof(*block->stalls)))
		return CT_NOMEM;
	if (!m->is_known)
		block->stalls[block->n_stalls++] = stall;
	for (uint32_t i = 0; i < m->n; i++) {
		stall.begin_ns = m->stalls[i].begin_ns;
		stall.end_ns = m->stalls[i].end_ns;
		stall.err_ns = m->err_ns / m->n;
		block->stalls[block->n_stalls++] = stall;
	}
	return CT_OK;
}

int ct_ov_settle(struct ct_ov_process *p, struct ct_ov_launch *launch, struct ct_ov_block *block)
{
	const struct ct_overlap *o = block->of;
	struct ct_overlap_row *row = &p->sums.rows[launch->row];
	struct ct_overlap_class *class = launch->class == UINT32_MAX
						 ? NULL
						 : &p->sums.classes[launch->class];
	uint64_t span = launch->end_ns - launch->start_ns;
	struct measured_launch m;

	measure(p, launch, &m);
	row->launches++;
	row->all_ns += span;
	row->measured += (uint64_t)m.is_known;
	row->same_stream += (uint64_t)m.is_same_stream;
	row->comm_ns += m.is_known ? span : 0;
	row->exposed_ns += m.exposed_ns;
	row->err_ns += m.err_ns;
	if (class) {
		class->launches++;
		class->measured += (uint64_t)m.is_known;
		class->exposed_ns += m.exposed_ns;
		/* what is not known may all have been waited for */
		class->err_ns += m.is_known ? m.err_ns : span;
	}
	if (o->stall && keep_stalls(block, row, launch, &m) != CT_OK)
		return CT_NOMEM;
	return o->on_launch ? pass_launch(o, p, launch, &m) : CT_OK;
}
