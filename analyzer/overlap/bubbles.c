/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/bubbles.h"
#include "analyzer/base/limits.h"
#include "analyzer/stream/instance_log.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "trace/ops.h"
#include "trace/status.h"

struct wait_interval {
	uint64_t begin, end;
};

/* What one stage hands on to the next. */
struct handed {
	uint32_t group;	       /* launch of the latest ... */
	uint32_t step;	       /* ... and its step, in which there were ... */
	uint32_t now;	       /* ... so many */
	uint32_t usual, votes; /* of most steps, if of most (Boyer and Moore's vote) */
	uint64_t all, steps;
};

/* One pipeline. */
struct pipeline_bubbles {
	const struct ct_comm *comm;
	struct ct_bubble *stages; /* in the result; NULL: none yet */
	uint64_t most_bytes;
	struct handed *handed; /* by stage */
};

struct bubble_work {
	const struct ct_instance_log *log;
	const struct ct_exposures *stalls;
	const struct ct_cuts *cuts;
	uint32_t near; /* step of the latest look-up */
	const uint32_t *step_of;
	struct pipeline_bubbles *pipes; /* by index of the communicator */
	struct wait_interval *waits;
	uint32_t cap;
};

/* ---- micro-batches ---- */

static int is_message(const struct ct_log_instance *i)
{
	return i->src >= 0 && i->dst >= 0 && (uint32_t)i->src < i->comm->nranks &&
	       (uint32_t)i->dst < i->comm->nranks;
}

/* Of two stages, a send and a receive in one launch of each: on the log that is an exchange of all
 * with all. */
static int is_exchange(const struct ct_log_instance *i)
{
	return i->src < 0 && i->op == CT_OP_AllToAll && i->comm->nranks == 2;
}

/* An exchange's bytes are those of what each member has for both. */
static uint64_t one_way(const struct ct_log_instance *i)
{
	if (i->bytes == UINT64_MAX)
		return 0; /* not known: what is larger shows the activations */
	return is_exchange(i) ? i->bytes / 2 : i->bytes;
}

static void measure_largest(struct bubble_work *r)
{
	for (uint32_t k = 0; k < r->log->n_instances; k++) {
		const struct ct_log_instance *i = &r->log->instances[k];
		struct pipeline_bubbles *p = &r->pipes[i->comm->index];

		if (p->comm && (is_message(i) || is_exchange(i)) && one_way(i) > p->most_bytes)
			p->most_bytes = one_way(i);
	}
}

/* A step is over: how many were there? */
static void vote(struct handed *h)
{
	if (!h->now)
		return;
	if (!h->votes)
		h->usual = h->now;
	h->votes += h->usual == h->now ? 1 : -1u;
	h->now = 0;
}

/* Several tensors that are sent in one launch are one micro-batch. */
static void count(struct bubble_work *r, uint32_t k)
{
	const struct ct_log_instance *i = &r->log->instances[k];
	struct pipeline_bubbles *p = &r->pipes[i->comm->index];
	uint32_t step = r->step_of[k], s = is_exchange(i) ? 0 : (uint32_t)i->src, group = 0;
	struct handed *h;

	/* a message that is much smaller than the largest announces a shape, and is not a
	 * micro-batch */
	if (!p->comm || step == CT_NO_STEP ||
	    (double)one_way(i) < CT_MOST * (double)p->most_bytes ||
	    !(is_exchange(i) || (is_message(i) && i->dst == i->src + 1)))
		return;
	for (uint32_t m = 0; m < i->n; m++)
		if (r->log->parts[i->first_part + m].index == 0)
			group = r->log->parts[i->first_part + m].group;
	h = &p->handed[s];
	if (step != h->step) {
		vote(h);
		h->step = step;
		h->steps++;
		h->now = 0;
	} else if (group && group == h->group) {
		return;
	}
	h->group = group;
	h->now++;
	h->all++;
}

/* Messages from a stage to the next in most steps; NAN: that is not the same for all, or not what
 * they come to. */
static double per_step(struct pipeline_bubbles *p)
{
	uint32_t usual = 0;

	for (uint32_t s = 0; s + 1 < p->comm->nranks; s++) {
		struct handed *h = &p->handed[s];
		double mean = h->steps ? (double)h->all / (double)h->steps : 0;

		vote(h);
		usual = s ? usual : h->usual;
		if (!h->usual || h->usual != usual || fabs(mean - usual) > CT_NEAR * usual)
			return NAN;
	}
	return usual;
}

/* ---- late senders ---- */

static int add_interval(struct bubble_work *r, uint32_t *n, uint64_t begin, uint64_t end)
{
	if (ct_grow(&r->waits, &r->cap, *n + 1, sizeof(*r->waits)))
		return CT_NOMEM;
	r->waits[(*n)++] = (struct wait_interval){ begin, end };
	return CT_OK;
}

/* The rank's stalls, each moment once, after the waits; how many. */
static int add_stalls(struct bubble_work *r, uint32_t slot, uint32_t *n)
{
	const struct ct_exposures *stalls = r->stalls;
	uint64_t reached = 0;
	int st = CT_OK;

	for (uint32_t i = stalls->slot_first[slot]; i < stalls->slot_first[slot + 1] && st == CT_OK;
	     i++) {
		const struct ct_exposure *s = &stalls->all[i];
		uint64_t begin = s->begin_ns > reached ? s->begin_ns : reached;

		if (!s->is_known || s->end_ns <= begin)
			continue;
		st = add_interval(r, n, begin, s->end_ns);
		reached = s->end_ns;
	}
	return st;
}

/* What the first n intervals, by begin, and the next m, which do not overlap, have in common, each
 * moment once. */
static uint64_t in_both(struct bubble_work *r, uint32_t n, uint32_t m)
{
	const struct wait_interval *waits = r->waits, *stalls = r->waits + n;
	uint64_t reached = 0, sum = 0;

	for (uint32_t i = 0, from = 0; i < n; i++) {
		uint64_t begin = waits[i].begin > reached ? waits[i].begin : reached;

		while (from < m && stalls[from].end <= begin)
			from++;
		for (uint32_t k = from; k < m && stalls[k].begin < waits[i].end; k++) {
			uint64_t b = begin > stalls[k].begin ? begin : stalls[k].begin;
			uint64_t e = waits[i].end < stalls[k].end ? waits[i].end : stalls[k].end;

			if (e <= b)
				continue;
			sum += ct_cuts_spread(r->cuts, &r->near, b, e, NULL, 0);
			begin = reached = e;
		}
	}
	return sum;
}

static uint64_t in_all(struct bubble_work *r, uint32_t n)
{
	uint64_t reached = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t begin = r->waits[i].begin > reached ? r->waits[i].begin : reached;

		if (r->waits[i].end <= begin)
			continue;
		sum += ct_cuts_spread(r->cuts, &r->near, begin, r->waits[i].end, NULL, 0);
		reached = r->waits[i].end;
	}
	return sum;
}

/* The stage that a rank is, in the pipeline that it receives in. */
static struct ct_bubble *stage_of(const struct bubble_work *r, const struct ct_log_part *p)
{
	const struct ct_log_instance *i = &r->log->instances[p->instance];
	const struct pipeline_bubbles *pipe = &r->pipes[i->comm->index];

	if (pipe->stages && is_exchange(i))
		return &pipe->stages[p->index & 1];
	return pipe->stages && is_message(i) && p->index == 1 ? &pipe->stages[i->dst] : NULL;
}

/* One rank in one of its pipelines. */
static int add_stage(struct bubble_work *r, uint32_t slot, struct ct_bubble *stage, int waits_known)
{
	const struct ct_instance_log *log = r->log;
	uint32_t last = CT_NO_STEP, n = 0;

	stage->slot = slot;
	stage->at_most = !waits_known;
	for (uint32_t i = log->slot_first[slot]; i < log->slot_first[slot + 1]; i++) {
		const struct ct_log_part *p = &log->parts[log->order[i]];
		uint32_t step = r->step_of[p->instance];
		const struct ct_cut *cut = &r->cuts->all[step == CT_NO_STEP ? 0 : step];

		if (step == CT_NO_STEP || stage_of(r, p) != stage ||
		    (waits_known && !ct_exposures_keep(r->stalls, cut->begin_ns, cut->end_ns)))
			continue;
		stage->receives++;
		if (last == CT_NO_STEP || step > last) {
			stage->steps++;
			stage->step_ns += cut->end_ns - cut->begin_ns;
			last = step;
		}
		if (!p->start_ns || p->wait_ns == UINT64_MAX) {
			stage->unknown++;
			continue;
		}
		/* a wait has the errors of four times, the part's those of two */
		stage->err_ns += p->wait_ns ? 2 * (uint64_t)p->err_ns : 0;
		if (add_interval(r, &n, p->start_ns, p->start_ns + p->wait_ns) != CT_OK)
			return CT_NOMEM;
	}
	stage->bubble_ns = in_all(r, n);
	if (waits_known) {
		uint32_t all = n;

		if (add_stalls(r, slot, &all) != CT_OK)
			return CT_NOMEM;
		stage->bubble_ns = in_both(r, n, all - n);
	}
	return CT_OK;
}

static int add_slot(struct bubble_work *r, uint32_t slot, int waits_known)
{
	const struct ct_instance_log *log = r->log;

	for (uint32_t i = log->slot_first[slot]; i < log->slot_first[slot + 1]; i++) {
		struct ct_bubble *stage = stage_of(r, &log->parts[log->order[i]]);

		if (stage && !stage->receives && add_stage(r, slot, stage, waits_known) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* ---- all of them ---- */

static int open_pipe(struct pipeline_bubbles *p, const struct ct_comm *comm)
{
	p->comm = comm;
	p->handed = calloc(comm->nranks, sizeof(*p->handed));
	if (!p->handed)
		return CT_NOMEM;
	for (uint32_t s = 0; s < comm->nranks; s++)
		p->handed[s].step = CT_NO_STEP;
	return CT_OK;
}

static int open_pipes(struct bubble_work *r, const uint8_t *is_pipeline, uint32_t n_comms,
		      uint32_t *stages)
{
	int st = CT_OK;

	for (uint32_t k = 0; k < r->log->n_instances && st == CT_OK; k++) {
		const struct ct_comm *comm = r->log->instances[k].comm;

		if (comm->index >= n_comms || !is_pipeline[comm->index] ||
		    r->pipes[comm->index].comm || comm->nranks < 2 ||
		    !is_message(&r->log->instances[k]))
			continue;
		st = open_pipe(&r->pipes[comm->index], comm);
		*stages += comm->nranks;
	}
	return st;
}

static void number_stages(struct bubble_work *r, uint32_t n_comms, struct ct_bubbles *out)
{
	for (uint32_t c = 0; c < n_comms; c++) {
		struct pipeline_bubbles *p = &r->pipes[c];
		double m, others;

		if (!p->comm)
			continue;
		m = per_step(p);
		others = p->comm->nranks - 1;
		p->stages = &out->all[out->n];
		for (uint32_t s = 0; s < p->comm->nranks; s++)
			out->all[out->n++] = (struct ct_bubble){
				.comm = p->comm,
				.stage = s,
				.stages = p->comm->nranks,
				.per_step = m,
				.ideal_ratio = others / (m + others),
			};
	}
}

static int find(struct bubble_work *r, const uint8_t *waits_known, const uint8_t *is_pipeline,
		uint32_t n_comms, struct ct_bubbles *out)
{
	uint32_t stages = 0, kept = 0;
	int st = open_pipes(r, is_pipeline, n_comms, &stages);

	out->all = calloc((size_t)stages + 1, sizeof(*out->all));
	if (st != CT_OK || !out->all)
		return CT_NOMEM;
	measure_largest(r);
	for (uint32_t k = 0; k < r->log->n_instances; k++)
		count(r, k);
	number_stages(r, n_comms, out);
	for (uint32_t s = 0; s < r->log->n_slots && st == CT_OK; s++)
		st = add_slot(r, s, waits_known[s]);
	for (uint32_t i = 0; i < out->n; i++)
		if (out->all[i].receives)
			out->all[kept++] = out->all[i];
	out->n = kept;
	return st;
}

int ct_bubbles_find(const struct ct_instance_log *log, const struct ct_exposures *stalls,
		    const struct ct_cuts *cuts, const uint32_t *step_of, const uint8_t *waits_known,
		    const uint8_t *is_pipeline, uint32_t n_comms, struct ct_bubbles *out)
{
	struct bubble_work r = { .log = log, .stalls = stalls, .cuts = cuts, .step_of = step_of };
	int st;

	r.pipes = calloc((size_t)n_comms + 1, sizeof(*r.pipes));
	st = r.pipes ? find(&r, waits_known, is_pipeline, n_comms, out) : CT_NOMEM;
	for (uint32_t c = 0; r.pipes && c < n_comms; c++)
		free(r.pipes[c].handed);
	free(r.pipes);
	free(r.waits);
	return st;
}

void ct_bubbles_fini(struct ct_bubbles *bubbles)
{
	free(bubbles->all);
	*bubbles = (struct ct_bubbles){ 0 };
}
