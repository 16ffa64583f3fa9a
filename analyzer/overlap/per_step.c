/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/per_step.h"
#include "analyzer/base/limits.h"
#include "analyzer/model/left_out.h"
#include "analyzer/stream/instance_log.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

/* size: operations of one launch that are looked through for the longest wait. */
#define MOST_TOGETHER 1024u
/* size: indices to either side that are looked at before all are searched. */
#define MOST_NEAR 16u

/* One rank in one step. */
struct cell {
	uint64_t comm_ns, waited_ns;	 /* unions of its spans, and of what it waited in them */
	uint64_t vague_ns;		 /* spans of which it is not known how long it waited */
	uint64_t exposed_ns, unknown_ns; /* unions of stalls, and of time that is unknown */
	uint64_t wait_ns, transfer_ns, err_ns;
	uint64_t parts, untimed; /* operations that were called in it, those without a span */
	uint64_t left_out_ns;	 /* of the only one there is */
};

struct per_step_work {
	const struct ct_instance_log *log;
	const struct ct_exposures *stalls;
	const struct ct_cuts *cuts;
	struct cell *cells;
	uint32_t near;	    /* step of the latest look-up */
	uint32_t near_part; /* likewise, an index in the log's order */
};

/* Add what of [begin, end) lies in each step to the field at `offset` of its cell. Returns what
 * lies in steps. */
static uint64_t spread(struct per_step_work *r, uint64_t begin, uint64_t end, size_t offset)
{
	uint64_t *sums = (uint64_t *)((char *)r->cells + offset);
	uint32_t step = ct_cuts_at(r->cuts, &r->near, begin);

	/* mostly all of it lies in one */
	if (begin < end && step != CT_NO_STEP && end <= r->cuts->all[step].end_ns) {
		*(uint64_t *)((char *)sums + r->near * sizeof(*r->cells)) += end - begin;
		return end - begin;
	}
	return ct_cuts_spread(r->cuts, &r->near, begin, end, sums, sizeof(*r->cells));
}

/* As above, for the part after *reached, which it advances. */
static uint64_t spread_new(struct per_step_work *r, uint64_t begin, uint64_t end, uint64_t *reached,
			   size_t offset)
{
	uint64_t from = ct_max(begin, *reached);

	if (end <= from)
		return 0;
	*reached = end;
	return spread(r, from, end, offset);
}

/* ---- communication ---- */

/* Of several steps those are not known in which nothing was timed; one that is all of the run is
 * known but for these seconds. */
static void leave_out(struct per_step_work *r, const struct ct_left_out *left)
{
	struct cell *c = r->cells;

	if (r->cuts->n != 1 || left->n > c->untimed || !ct_left_out_is_small(left, c->parts))
		return;
	c->parts -= left->n;
	c->untimed -= left->n;
	c->left_out_ns = ct_min(left->ns, r->cuts->all[0].end_ns - r->cuts->all[0].begin_ns);
}

static void add_parts(struct per_step_work *r, uint32_t slot)
{
	const struct ct_instance_log *log = r->log;
	uint64_t comm = 0, waited = 0, vague = 0;
	struct ct_left_out left = { 0 };

	for (uint32_t i = log->slot_first[slot]; i < log->slot_first[slot + 1]; i++) {
		const struct ct_log_part *p = &log->parts[log->order[i]];
		uint32_t step = ct_cuts_at(r->cuts, &r->near,
					   p->start_ns ? p->start_ns : p->enter_ns);

		if (step != CT_NO_STEP) {
			r->cells[step].parts++;
			r->cells[step].untimed += !p->start_ns;
		}
		if (!p->start_ns) {
			ct_left_out_untimed(&left, p->enter_ns, 1);
			continue;
		}
		ct_left_out_timed(&left, p->enter_ns);
		spread_new(r, p->start_ns, p->end_ns, &comm, offsetof(struct cell, comm_ns));
		if (p->wait_ns == UINT64_MAX)
			spread_new(r, p->start_ns, p->end_ns, &vague,
				   offsetof(struct cell, vague_ns));
		else
			spread_new(r, p->start_ns, p->start_ns + p->wait_ns, &waited,
				   offsetof(struct cell, waited_ns));
	}
	ct_left_out_close(&left);
	leave_out(r, &left);
}

/* ---- stalls ---- */

static uint64_t start_of(const struct ct_instance_log *log, uint32_t at)
{
	const struct ct_log_part *p = &log->parts[log->order[at]];

	return p->start_ns ? p->start_ns : p->enter_ns;
}

/* The rank's first part that started at start_ns or later. *near: what it was before; stalls come
 * about in order. */
static uint32_t first_from(const struct ct_instance_log *log, uint32_t slot, uint64_t start_ns,
			   uint32_t *near)
{
	uint32_t first = log->slot_first[slot], end = log->slot_first[slot + 1];
	uint32_t at = *near < first || *near > end ? first : *near;

	for (unsigned n = 0; n < MOST_NEAR && at < end && start_of(log, at) < start_ns; n++)
		at++;
	for (unsigned n = 0; n < MOST_NEAR && at > first && start_of(log, at - 1) >= start_ns; n++)
		at--;
	if ((at < end && start_of(log, at) < start_ns) ||
	    (at > first && start_of(log, at - 1) >= start_ns))
		at = (uint32_t)CT_BISECT(i, first, end, start_of(log, i) < start_ns);
	return *near = at;
}

/* The rank's part that started at start_ns, or next to it; the end of its parts: there is none. */
static uint32_t find_start(const struct ct_instance_log *log, uint32_t slot, uint64_t start_ns,
			   uint32_t *near)
{
	uint32_t end = log->slot_first[slot + 1], low = first_from(log, slot, start_ns, near);
	uint64_t before = UINT64_MAX, after = UINT64_MAX;

	if (low < end)
		after = start_of(log, low) - start_ns;
	if (low > log->slot_first[slot])
		before = start_ns - start_of(log, low - 1);
	if (before < after) {
		after = before;
		start_ns = start_of(log, --low);
		for (uint32_t n = 0; n < MOST_TOGETHER && low > log->slot_first[slot] &&
				     start_of(log, low - 1) == start_ns;
		     n++)
			low--;
	}
	return after <= CT_AT_ONCE_NS ? low : end;
}

/* How long the rank waited for others in what it began at start_ns; UINT64_MAX: that is not known. */
static uint64_t wait_of(struct per_step_work *r, uint32_t slot, uint64_t start_ns)
{
	const struct ct_instance_log *log = r->log;
	uint32_t at = find_start(log, slot, start_ns, &r->near_part),
		 end = log->slot_first[slot + 1];
	uint64_t start = at < end ? start_of(log, at) : 0, wait = UINT64_MAX;

	end = end - at < MOST_TOGETHER ? end : at + MOST_TOGETHER;
	for (; at < end && start_of(log, at) == start; at++) {
		const struct ct_log_part *p = &log->parts[log->order[at]];

		if (p->start_ns && p->wait_ns != UINT64_MAX)
			wait = wait == UINT64_MAX ? p->wait_ns : ct_max(wait, p->wait_ns);
	}
	return wait;
}

static int is_known(const struct per_step_work *r, uint32_t step)
{
	const struct ct_cut *cut = &r->cuts->all[step];
	const struct cell *c = &r->cells[step];

	/* one that is timed in part: what it lacks may all have been waited for */
	return ct_exposures_keep(r->stalls, cut->begin_ns, cut->end_ns) &&
	       (double)c->untimed <= CT_A_FEW * (double)c->parts &&
	       (double)c->unknown_ns <= CT_A_FEW * (double)c->comm_ns;
}

/* What is new of one stall: its part before the others had come, and the rest. */
static void add_stall(struct per_step_work *r, const struct ct_exposure *s, uint64_t *reached,
		      struct ct_exposed_comm *comm)
{
	uint64_t begin = ct_max(s->begin_ns, *reached);
	uint64_t wait, others, in_wait, in_transfer, all;
	uint32_t step;
	int known;

	if (s->end_ns <= begin)
		return;
	*reached = s->end_ns;
	all = spread(r, begin, s->end_ns, offsetof(struct cell, exposed_ns));
	if (!all)
		return;
	step = ct_cuts_at(r->cuts, &r->near, s->end_ns - 1);
	if (step == CT_NO_STEP)
		step = ct_cuts_at(r->cuts, &r->near, begin);
	if (step != CT_NO_STEP)
		r->cells[step].err_ns += s->err_ns;
	known = step == CT_NO_STEP || is_known(r, step);
	comm->exposed_ns += known ? all : 0;
	comm->err_ns += known ? s->err_ns : 0;
	wait = wait_of(r, s->slot, s->start_ns);
	if (wait == UINT64_MAX) {
		comm->unclear_ns += known ? all : 0;
		return;
	}
	others = ct_min(ct_max(s->start_ns + wait, begin), s->end_ns);
	in_wait = spread(r, begin, others, offsetof(struct cell, wait_ns));
	in_transfer = spread(r, others, s->end_ns, offsetof(struct cell, transfer_ns));
	comm->wait_ns += known ? in_wait : 0;
	comm->transfer_ns += known ? in_transfer : 0;
}

static void add_stalls(struct per_step_work *r, uint32_t slot, struct ct_exposed_comm *comms,
		       uint32_t n_comms)
{
	const struct ct_exposures *stalls = r->stalls;
	uint64_t known = 0, unknown = 0;

	/* first what is not known: it decides which steps are */
	for (uint32_t i = stalls->slot_first[slot]; i < stalls->slot_first[slot + 1]; i++) {
		const struct ct_exposure *s = &stalls->all[i];

		if (!s->is_known)
			spread_new(r, s->begin_ns, s->end_ns, &unknown,
				   offsetof(struct cell, unknown_ns));
	}
	for (uint32_t i = stalls->slot_first[slot]; i < stalls->slot_first[slot + 1]; i++) {
		const struct ct_exposure *s = &stalls->all[i];

		if (s->is_known && s->comm < n_comms)
			add_stall(r, s, &known, &comms[s->comm]);
	}
}

/* ---- sums ---- */

static void fold(const struct per_step_work *r, int waits_known, struct ct_exposed_rank *rank,
		 struct ct_exposed_step *steps, uint32_t *met)
{
	for (uint32_t k = 0; k < r->cuts->n; k++) {
		const struct cell *c = &r->cells[k];

		if (!c->comm_ns)
			continue;
		met[k]++;
		if ((double)c->vague_ns > CT_A_FEW * (double)c->comm_ns)
			steps[k].wait_ns = UINT64_MAX;
		else if (steps[k].wait_ns != UINT64_MAX)
			steps[k].wait_ns += c->waited_ns;
		if (!waits_known || !is_known(r, k)) {
			steps[k].exposed_ns = UINT64_MAX;
			continue;
		}
		if (steps[k].exposed_ns != UINT64_MAX)
			steps[k].exposed_ns = ct_max(steps[k].exposed_ns, c->exposed_ns);
		rank->steps++;
		rank->step_ns += r->cuts->all[k].end_ns - r->cuts->all[k].begin_ns - c->left_out_ns;
		rank->comm_ns += c->comm_ns;
		rank->waited_ns += c->waited_ns;
		rank->exposed_ns += c->exposed_ns;
		/* what is not known may all have been waited for */
		rank->err_ns += c->err_ns + c->unknown_ns;
		rank->wait_ns += c->wait_ns;
		rank->transfer_ns += c->transfer_ns;
		rank->unclear_ns += c->exposed_ns - c->wait_ns - c->transfer_ns;
	}
}

static void finish(const struct ct_cuts *cuts, const uint32_t *met, struct ct_exposed_step *steps)
{
	for (uint32_t k = 0; k < cuts->n; k++) {
		if (!met[k])
			steps[k].exposed_ns = steps[k].wait_ns = UINT64_MAX;
		else if (steps[k].wait_ns != UINT64_MAX)
			steps[k].wait_ns /= met[k];
	}
}

int ct_exposed_sum(const struct ct_instance_log *log, const struct ct_exposures *stalls,
		   const struct ct_cuts *cuts, const uint8_t *waits_known, uint32_t n_comms,
		   struct ct_exposed_sums *sums)
{
	struct per_step_work r = { .log = log, .stalls = stalls, .cuts = cuts };
	uint32_t *met = calloc((size_t)cuts->n + 1, sizeof(*met));
	int st = CT_NOMEM;

	r.cells = calloc((size_t)cuts->n + 1, sizeof(*r.cells));
	sums->ranks = calloc((size_t)log->n_slots + 1, sizeof(*sums->ranks));
	sums->steps = calloc((size_t)cuts->n + 1, sizeof(*sums->steps));
	sums->comms = calloc((size_t)n_comms + 1, sizeof(*sums->comms));
	if (met && r.cells && sums->ranks && sums->steps && sums->comms) {
		for (uint32_t s = 0; s < log->n_slots; s++) {
			memset(r.cells, 0, cuts->n * sizeof(*r.cells));
			add_parts(&r, s);
			add_stalls(&r, s, sums->comms, n_comms);
			fold(&r, waits_known[s], &sums->ranks[s], sums->steps, met);
		}
		finish(cuts, met, sums->steps);
		st = CT_OK;
	}
	free(met);
	free(r.cells);
	return st;
}

void ct_exposed_fini(struct ct_exposed_sums *sums)
{
	free(sums->ranks);
	free(sums->steps);
	free(sums->comms);
	*sums = (struct ct_exposed_sums){ 0 };
}
