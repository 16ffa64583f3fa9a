/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/views.h"

#include <stdlib.h>

/* A window is planned for less than it may hold: how much a few ranks do is only known from what all do. */
#define PLANNED 2u
/* A contradiction is shown with at least so many operations of its communicator. */
#define COMPANY 8u

struct planner {
	const struct ct_timeline_index *tl_index;
	const struct ct_report *report;
	uint64_t max_slices;
	struct ct_chart_view *views;
	int n;
};

static int lists(const struct ct_chart_view *view, int rank)
{
	for (size_t i = 0; i < view->n_ranks; i++) {
		if (view->ranks[i] == rank)
			return 1;
	}
	return 0;
}

static void add_rank(struct ct_chart_view *view, int rank)
{
	if (rank >= 0 && view->n_ranks < CT_VIEW_RANKS && !lists(view, rank))
		view->ranks[view->n_ranks++] = rank;
}

/* ---- what is shown ---- */

/* The most expensive operation that a finding flags; NULL: none. Expensive ones are sorted by cost. */
static const struct ct_blamed *worst_of(const struct ct_timeline_index *tl_index,
					const struct ct_finding *f)
{
	for (uint32_t b = 0; b < tl_index->costly.n_blamed; b++) {
		if (tl_index->costly.blamed[b].finding == f->id)
			return &tl_index->costly.blamed[b];
	}
	return NULL;
}

static void add_company(const struct planner *p, uint64_t comm_hash, struct ct_chart_view *view)
{
	for (size_t c = 0; c < p->report->n_comms; c++) {
		const struct ct_report_comm *comm = &p->report->comms[c];

		for (size_t r = 0; comm->hash == comm_hash && r < comm->n_ranks; r++) {
			if (view->n_ranks >= COMPANY)
				return;
			add_rank(view, comm->ranks[r]);
		}
	}
}

static void add_blamed(const struct ct_timeline_index *tl_index, const struct ct_blamed *blamed,
		       struct ct_chart_view *view)
{
	add_rank(view, tl_index->slots[blamed->slot].rank);
	for (uint32_t v = 0; v < blamed->n_victims; v++)
		add_rank(view, tl_index->slots[blamed->victims[v].slot].rank);
}

static void add_ranks(const struct planner *p, const struct ct_finding *f,
		      const struct ct_blamed *worst, struct ct_chart_view *view)
{
	const struct ct_timeline_index *tl_index = p->tl_index;

	if (worst)
		add_blamed(tl_index, worst, view);
	for (size_t r = 0; r < f->n_ranks; r++)
		add_rank(view, f->ranks[r]);
	add_company(p, f->comm_hash, view);
}

/* ---- windows ---- */

/* As wide as the ranks allow. 0, or CT_FULL: even the narrowest holds too much. */
static int set_window(const struct planner *p, struct ct_chart_view *view)
{
	const struct ct_timeline_index *tl_index = p->tl_index;
	double share = (double)tl_index->n_slots / (double)(view->n_ranks ? view->n_ranks : 1);
	double limit = (double)p->max_slices / PLANNED * (share > 1 ? share : 1);

	view->from_ns = 0;
	view->to_ns = UINT64_MAX;
	return ct_views_fit(tl_index->views[0].budget, (uint64_t)limit, view);
}

int ct_views_fit(const struct ct_budget *budget, uint64_t max_slices, struct ct_chart_view *view)
{
	return ct_budget_around(budget, view->focus_ns, max_slices, &view->from_ns, &view->to_ns)
		       ? CT_OK
		       : CT_FULL;
}

const struct ct_chart_view *ct_views_of(const struct ct_chart_view *views, size_t n,
					const struct ct_finding *f)
{
	for (size_t v = 0; v < n; v++) {
		if (views[v].kind == CT_CHART_DETAIL && views[v].finding == f->id)
			return &views[v];
	}
	for (size_t v = 0; v < n; v++) {
		if (views[v].kind == CT_CHART_DETAIL && f->begin_at_ns != CT_UNKNOWN &&
		    f->begin_at_ns >= views[v].from_ns && f->begin_at_ns <= views[v].to_ns &&
		    f->n_ranks && lists(&views[v], f->ranks[0]))
			return &views[v];
	}
	return NULL;
}

/* 0 or CT_NOMEM; *view NULL: no more room. */
static int begin_view(struct planner *p, struct ct_chart_view **view)
{
	*view = NULL;
	if (p->n == (int)CT_TIMELINE_INDEX_VIEWS)
		return CT_OK;
	p->views[p->n] = (struct ct_chart_view){ .kind = CT_CHART_DETAIL };
	p->views[p->n].ranks = calloc(CT_VIEW_RANKS, sizeof(*p->views[p->n].ranks));
	if (!p->views[p->n].ranks)
		return CT_NOMEM;
	*view = &p->views[p->n];
	return CT_OK;
}

static void end_view(struct planner *p, struct ct_chart_view *view)
{
	if (view->n_ranks && set_window(p, view) == CT_OK) {
		p->n++;
		return;
	}
	free(view->ranks);
	*view = (struct ct_chart_view){ 0 };
}

/* Members of the communicator of the oldest operation that never ended who are not in one: the others wait for them. */
static int add_missing(const struct planner *p, struct ct_chart_view *view)
{
	const struct ct_report *report = p->report;
	struct ct_table waiting = { 0 };
	int st = CT_OK;

	for (size_t i = 0; i < report->n_inflight && st == CT_OK; i++)
		st = ct_table_put(&waiting, (uint64_t)(uint32_t)report->inflight[i].rank, &waiting);
	for (size_t c = 0; c < report->n_comms && st == CT_OK && report->n_inflight; c++) {
		const struct ct_report_comm *comm = &report->comms[c];

		for (size_t r = 0; comm->hash == report->inflight[0].comm_hash && r < comm->n_ranks;
		     r++) {
			if (view->n_ranks < CT_VIEW_RANKS / 2 &&
			    !ct_table_get(&waiting, (uint64_t)(uint32_t)comm->ranks[r]))
				add_rank(view, comm->ranks[r]);
		}
	}
	ct_table_fini(&waiting);
	return st;
}

/* What had not ended, and will not: at the end. */
static int plan_stuck(struct planner *p)
{
	struct ct_chart_view *view;
	int st = CT_OK;

	if (!p->report->n_stuck)
		return CT_OK;
	st = begin_view(p, &view);
	if (st != CT_OK || !view)
		return st;
	view->about = "what had not ended";
	view->focus_ns = p->tl_index->last_ns;
	st = add_missing(p, view);
	for (size_t i = 0; i < p->report->n_inflight; i++)
		add_rank(view, p->report->inflight[i].rank);
	end_view(p, view);
	return st;
}

/* Does a window hold all of these ranks at this moment already? */
static int is_shown(const struct planner *p, const struct ct_chart_view *view)
{
	for (int v = 0; v < p->n; v++) {
		const struct ct_chart_view *other = &p->views[v];
		size_t r = 0;

		while (r < view->n_ranks && lists(other, view->ranks[r]))
			r++;
		if (r == view->n_ranks && view->focus_ns >= other->from_ns &&
		    view->focus_ns <= other->to_ns)
			return 1;
	}
	return 0;
}

static int plan_finding(struct planner *p, const struct ct_finding *f)
{
	const struct ct_blamed *worst = worst_of(p->tl_index, f);
	struct ct_chart_view *view;
	int st;

	/* What is about all ranks alike shows in the overview. */
	if (!worst &&
	    (f->severity == CT_SEVERITY_INFO || f->begin_at_ns == CT_UNKNOWN || !f->n_ranks))
		return CT_OK;
	if (ct_views_of(p->views, (size_t)p->n, f))
		return CT_OK;
	st = begin_view(p, &view);
	if (st != CT_OK || !view)
		return st;
	view->about = ct_finding_name(f->kind);
	view->finding = f->id;
	view->focus_ns = worst ? worst->at_ns : f->begin_at_ns;
	add_ranks(p, f, worst, view);
	if (is_shown(p, view))
		view->n_ranks = 0;
	end_view(p, view);
	return CT_OK;
}

/* Where no finding has a place in time: what cost most all the same. */
static int plan_worst(struct planner *p)
{
	const struct ct_blamed *worst = &p->tl_index->costly.worst;
	struct ct_chart_view *view;
	int st;

	if (p->n || !worst->cost_ns)
		return CT_OK;
	st = begin_view(p, &view);
	if (st != CT_OK || !view)
		return st;
	view->about = "the longest waits";
	view->focus_ns = worst->at_ns;
	add_blamed(p->tl_index, worst, view);
	end_view(p, view);
	return CT_OK;
}

int ct_views_plan(const struct ct_timeline_index *tl_index, const struct ct_report *report,
		  uint64_t max_slices, struct ct_chart_view *views)
{
	struct planner p = {
		.tl_index = tl_index, .report = report, .max_slices = max_slices, .views = views
	};
	int st = plan_stuck(&p);

	for (size_t i = 0; i < report->n_findings && st == CT_OK; i++)
		st = plan_finding(&p, &report->findings[i]);
	st = st ?: plan_worst(&p);
	return st == CT_OK ? p.n : st;
}
