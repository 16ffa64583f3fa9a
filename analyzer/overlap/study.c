/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/overlap/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report_rows.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/stream/instance_log.h"
#include "trace/status.h"

static int prepare(struct ct_study *s, const uint64_t *cut_ns, uint32_t n)
{
	const struct ct_model *model = s->model;

	s->cut = calloc((size_t)n + 1, sizeof(*s->cut));
	s->waits_known = calloc((size_t)model->n_slots + 1, 1);
	if (!s->cut || !s->waits_known)
		return CT_NOMEM;
	for (uint32_t k = 0; k < n; k++)
		s->cut[k] = (struct ct_cut){ cut_ns[k], cut_ns[k + 1] };
	s->cuts = s->spans = (struct ct_cuts){ s->cut, n };
	if (!n) {
		s->cut[0] = (struct ct_cut){ model->from_ns, model->end_ns + 1 };
		s->spans.n = 1;
	}
	for (uint32_t slot = 0; slot < model->n_slots; slot++) {
		s->waits_known[slot] = (uint8_t)model->slots[slot].exposed.is_known;
	}
	s->step_of = ct_cuts_of_log(&s->cuts, s->log);
	return s->step_of ? CT_OK : CT_NOMEM;
}

static int measure(struct ct_study *s)
{
	const struct ct_model *model = s->model;
	const struct ct_instance_log *log = s->log;
	uint8_t *is_pipeline;
	int st = ct_exposed_sum(log, s->exposures, &s->spans, s->waits_known, model->comms.n,
				&s->exposed);

	st = st ?: ct_stream_gaps_find(log, &s->cuts, s->step_of, &s->gaps);
	is_pipeline = calloc((size_t)model->comms.n + 1, 1);
	if (st != CT_OK || !is_pipeline) {
		free(is_pipeline);
		return CT_NOMEM;
	}
	for (uint32_t i = 0; i < model->comms.n; i++) {
		const struct ct_report_comm *row = ct_report_row_of_comm(
			s->report, model->comms.all[i]->hash, model->comms.all[i]->nranks);

		is_pipeline[i] = row && row->role && strcmp(row->role, "pp") == 0;
	}
	st = ct_bubbles_find(log, s->exposures, &s->cuts, s->step_of, s->waits_known, is_pipeline,
			     model->comms.n, &s->bubbles);
	free(is_pipeline);
	return st;
}

/* ---- into the report ---- */

static int gaps_are_known(const struct ct_study *s, uint32_t slot)
{
	const struct ct_rank_state *of = &s->model->slots[slot];
	const struct ct_left_out *left = &of->left_out;

	return s->gaps.ranks[slot].sum.pairs &&
	       s->gaps.ranks[slot].sum.err_ns <= s->gaps.ranks[slot].step_ns &&
	       (double)(left->all - left->n) <=
		       CT_WORTH_REPORTING * (double)(of->launches - left->n);
}

static int fill_ranks(struct ct_study *s)
{
	struct ct_report *report = s->report;
	uint32_t n = s->model->n_slots;

	report->stream_idle = ct_arena_calloc(report->memory, (size_t)n + 1,
					      sizeof(*report->stream_idle));
	if (!report->stream_idle)
		return CT_NOMEM;
	for (uint32_t slot = 0; slot < n; slot++) {
		const struct ct_exposed_rank *e = &s->exposed.ranks[slot];
		const struct ct_gap_rank *g = &s->gaps.ranks[slot];
		int waits_known = s->waits_known[slot] && s->cuts.n && e->steps,
		    timed = gaps_are_known(s, slot);
		int clear = waits_known &&
			    (double)e->unclear_ns <= CT_A_FEW * (double)e->exposed_ns;
		struct ct_report_stream_idle *row = &report->stream_idle[report->n_stream_idle];

		if (!waits_known && !timed)
			continue;
		report->n_stream_idle++;
		*row = (struct ct_report_stream_idle){
			.rank = s->model->slots[slot].rank,
			.steps = waits_known ? e->steps : g->steps,
			.steps_ns = waits_known ? e->step_ns : g->step_ns,
			.exposed_ns = waits_known ? e->exposed_ns : CT_UNKNOWN,
			.exposed_err_ns = waits_known ? e->err_ns : CT_UNKNOWN,
			.exposed_wait_ns = clear ? e->wait_ns : CT_UNKNOWN,
			.exposed_transfer_ns = clear ? e->transfer_ns : CT_UNKNOWN,
			.idle_launch_ns = timed ? g->sum.idle_launch_ns : CT_UNKNOWN,
			.idle_host_bound_ns = timed ? g->sum.idle_host_bound_ns : CT_UNKNOWN,
			.idle_waiting_for_compute_ns = timed ? g->sum.idle_waiting_for_compute_ns
							     : CT_UNKNOWN,
			.idle_err_ns = timed ? g->sum.err_ns : CT_UNKNOWN,
		};
	}
	return CT_OK;
}

static void fill_ops(struct ct_study *s)
{
	struct ct_report *report = s->report;
	int all = 1;

	for (uint32_t slot = 0; slot < s->model->n_slots; slot++)
		all &= !s->gaps.ranks[slot].sum.pairs || gaps_are_known(s, slot);
	for (size_t k = 0; k < report->n_ops; k++) {
		struct ct_report_op *op = &report->ops[k];

		op->idle_ns = op->idle_host_bound_ns = op->idle_waiting_for_compute_ns =
			op->idle_err_ns = CT_UNKNOWN;
	}
	for (uint32_t i = 0; all && i < s->gaps.n_classes; i++) {
		const struct ct_gap_class *c = &s->gaps.classes[i];
		size_t n;
		struct ct_report_op **rows = ct_report_rows_of_op(report, c->comm->hash, c->op,
								  c->dtype, c->size_range, &n);

		for (size_t k = 0; k < n; k++) {
			struct ct_report_op *op = rows[k];

			op->idle_ns = c->sum.idle_launch_ns + c->sum.idle_host_bound_ns +
				      c->sum.idle_waiting_for_compute_ns;
			op->idle_host_bound_ns = c->sum.idle_host_bound_ns;
			op->idle_waiting_for_compute_ns = c->sum.idle_waiting_for_compute_ns;
			op->idle_err_ns = c->sum.err_ns;
		}
	}
}

/* Are the waits of all its members known? */
static int are_waits_known(const struct ct_study *s, const struct ct_comm *comm)
{
	for (uint32_t r = 0; r < comm->nranks; r++)
		if (!comm->slots[r] || !s->waits_known[comm->slots[r] - 1])
			return 0;
	return 1;
}

static void fill_comms(struct ct_study *s)
{
	for (size_t c = 0; c < s->report->n_comms; c++) {
		struct ct_report_comm *row = &s->report->comms[c];

		row->steps_exposed_ns = row->steps_exposed_wait_ns = row->steps_exposed_err_ns =
			CT_UNKNOWN;
	}
	for (uint32_t i = 0; s->cuts.n && i < s->model->comms.n; i++) {
		const struct ct_comm *comm = s->model->comms.all[i];
		const struct ct_exposed_comm *e = &s->exposed.comms[comm->index];
		struct ct_report_comm *row = ct_report_row_of_comm(s->report, comm->hash,
								   comm->nranks);

		if (!row || !are_waits_known(s, comm))
			continue;
		row->steps_exposed_ns = e->exposed_ns;
		row->steps_exposed_err_ns = e->err_ns;
		if ((double)e->unclear_ns <= CT_A_FEW * (double)e->exposed_ns)
			row->steps_exposed_wait_ns = e->wait_ns;
	}
}

static void fill_steps(struct ct_study *s)
{
	struct ct_report_steps *steps = &s->report->steps;
	uint32_t near = 0;

	for (size_t k = 0; k < steps->n_items; k++) {
		struct ct_report_step *item = &steps->items[k];
		uint32_t at = ct_cuts_at(&s->cuts, &near, item->begin_at_ns);

		item->exposed_ns = item->wait_ns = CT_UNKNOWN;
		if (at == CT_NO_STEP)
			continue;
		item->exposed_ns = s->exposed.steps[at].exposed_ns;
		item->wait_ns = s->exposed.steps[at].wait_ns;
	}
}

static int fill_pipelines(struct ct_study *s)
{
	struct ct_report *report = s->report;

	report->stages = ct_arena_calloc(report->memory, (size_t)s->bubbles.n + 1,
					 sizeof(*report->stages));
	if (!report->stages)
		return CT_NOMEM;
	for (uint32_t i = 0; i < s->bubbles.n; i++) {
		const struct ct_bubble *b = &s->bubbles.all[i];
		int known = (double)b->unknown <= CT_A_FEW * (double)b->receives;
		double ideal = b->ideal_ratio * (double)b->step_ns;

		report->stages[report->n_stages++] = (struct ct_report_stage){
			.comm_hash = b->comm->hash,
			.rank = s->model->slots[b->slot].rank,
			.stage = (int)b->stage,
			.n_stages = (int)b->stages,
			.microbatches = b->per_step,
			.steps = b->steps,
			.steps_ns = b->step_ns,
			.bubble_ns = known ? b->bubble_ns : CT_UNKNOWN,
			.err_ns = known ? b->err_ns : CT_UNKNOWN,
			.ideal_ns = isnan(ideal) ? CT_UNKNOWN : (uint64_t)llround(ideal),
			.at_most = b->at_most,
		};
	}
	return CT_OK;
}

/* Why nothing is known of exposed communication; NULL: nothing speaks against it. It takes ranks
 * with known waits, and they must have most of the communication. */
static const char *why_unknown(const struct ct_study *s)
{
	const struct ct_overlap_row *rows;
	double all = 0, known = 0;
	size_t n;

	rows = ct_overlap_rows(s->overlap, &n);
	for (size_t i = 0; i < n; i++) {
		all += (double)rows[i].all_ns;
		known += s->waits_known[rows[i].slot] ? (double)rows[i].all_ns : 0;
	}
	if (!(all > 0))
		return "starts of operations are not on record";
	return known < CT_NEARLY_ALL * all ? "waits for communication are not on record" : NULL;
}

static double part_of_run(const struct ct_study *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->spans.n; k++)
		sum += s->spans.all[k].end_ns - s->spans.all[k].begin_ns;
	return s->model->duration_ns ? fmin(100, 100 * (double)sum / (double)s->model->duration_ns)
				     : NAN;
}

/* The median rank's fraction of step time; and that of the most exposed rank.
 * Unknown if the errors of its parts exceed the time that it is a fraction of. */
static int fill_share(struct ct_study *s)
{
	struct ct_report_exposed *to = &s->report->exposed;
	uint32_t n = s->model->n_slots, m = 0, parted = 0;
	const char *why = why_unknown(s);
	double *v = calloc(4 * ((size_t)n + 1), sizeof(*v));
	double *share = v, *err = v + n + 1, *wait = err + n + 1, *busy = wait + n + 1;

	if (!v)
		return CT_NOMEM;
	*to = (struct ct_report_exposed){ NAN, NAN, NAN, NAN, NAN, part_of_run(s), why };
	for (uint32_t slot = 0; slot < n && !why; slot++) {
		const struct ct_exposed_rank *e = &s->exposed.ranks[slot];
		double time = (double)e->step_ns;

		if (!s->waits_known[slot] || !e->steps)
			continue;
		share[m] = 100 * (double)e->exposed_ns / time;
		err[m] = 100 * (double)e->err_ns / time;
		to->max_pct = fmax(to->max_pct, share[m]);
		m++;
		if ((double)e->unclear_ns > CT_A_FEW * (double)e->exposed_ns)
			continue;
		wait[parted] = 100 * (double)e->wait_ns / time;
		busy[parted++] = 100 * ((double)e->comm_ns - (double)e->waited_ns) / time;
	}
	if (!m && !why)
		to->why = "too many operations are not timed";
	to->median_pct = ct_median_high(share, m);
	to->err_pct = ct_median_high(err, m);
	if (parted == m) {
		to->wait_pct = ct_median_high(wait, m);
		to->transferring_pct = ct_median_high(busy, m);
	}
	if (to->err_pct > 100) {
		to->median_pct = to->err_pct = to->max_pct = to->wait_pct = to->transferring_pct = NAN;
		to->why = "its error is larger than the time";
	}
	free(v);
	return CT_OK;
}

static int fill(struct ct_study *s)
{
	int st = fill_ranks(s);

	fill_ops(s);
	fill_comms(s);
	fill_steps(s);
	st = st ?: fill_pipelines(s);
	return st == CT_OK ? fill_share(s) : st;
}

int ct_overlap_study(struct ct_study *s, const uint64_t *cut_ns, uint32_t n_steps)
{
	int st = prepare(s, cut_ns, n_steps) ?: measure(s);

	return st == CT_OK ? fill(s) : st;
}

void ct_study_fini(struct ct_study *s)
{
	ct_exposed_fini(&s->exposed);
	ct_stream_gaps_fini(&s->gaps);
	ct_bubbles_fini(&s->bubbles);
	free(s->step_of);
	free(s->waits_known);
	free(s->cut);
}
