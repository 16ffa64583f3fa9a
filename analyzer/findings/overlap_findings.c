/* SPDX-License-Identifier: Apache-2.0 */
/* exposed communication that is worth a finding: in all, of one communicator, of a pipeline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/overlap_findings.h"
#include "analyzer/model/comm_spec.h"
#include "analyzer/model/report_rows.h"
#include "analyzer/overlap/overlap.h"
#include "analyzer/overlap/study.h"
#include "trace/status.h"

/* size: communicators that are named, each for those like it. */
#define MOST_COMMS 3u

/* On GPUs, all of which lost it. */
static double gpu_seconds(const struct ct_study *s, uint64_t time_lost_ns)
{
	double n = 0;

	for (uint32_t slot = 0; slot < s->model->n_slots; slot++)
		n += s->model->slots[slot].device >= 0;
	return n > 0 ? n * (double)time_lost_ns / 1e9 : NAN;
}

/* `pct` of step time, as a loss of that. */
static void set_loss(const struct ct_study *s, const struct ct_findings *list, double pct,
		     double err_pct, enum ct_severity severity, struct ct_finding *f)
{
	double one = ct_step_time_ns(&list->step_time) / 100;

	ct_finding_loss(list, f, (uint64_t)(pct * one), (uint64_t)(err_pct * one), pct * one);
	f->severity = severity;
	f->confidence = CT_CONFIDENCE_HIGH;
	f->gpu_seconds = gpu_seconds(s, f->time_lost_ns);
	f->begin_at_ns = s->cut[0].begin_ns;
	f->end_at_ns = s->cut[s->spans.n - 1].end_ns;
}

/* Does a slow rank or link among the findings cause that much, or most, of it? Then the finding
 * says so. */
static int is_explained(const struct ct_findings *list, double pct)
{
	const unsigned kinds = 1u << CT_FINDING_STRAGGLER | 1u << CT_FINDING_STRAGGLER_HOST |
			       1u << CT_FINDING_STRAGGLER_GROUP | 1u << CT_FINDING_SLOW_LINK;

	for (size_t i = 0; i < list->n; i++)
		if (kinds >> list->all[i].kind & 1 && 2 * list->all[i].time_lost_pct >= pct)
			return 1;
	return 0;
}

/* ---- one communicator, or those alike ---- */

struct exposed_comm {
	const struct ct_comm *comm;
	const struct ct_report_comm *row;
	double pct, err_pct, wait_pct; /* of its members' steps: transfer, and the wait before it */
	uint32_t alike;		       /* how many like it are among the parts, with it */
	int is_first;		       /* the one of those with most */
};

CT_SORT_BY(by_pct, struct exposed_comm, CT_DOWN(pct))

/* Of the known steps of its members. Layers need at once what tensor parallelism exposes; the waits
 * of a pipeline are its bubble. */
static int weigh(const struct ct_study *s, const struct ct_comm *comm, struct exposed_comm *p)
{
	const struct ct_exposed_comm *e = &s->exposed.comms[comm->index];
	double time = 0;

	*p = (struct exposed_comm){ .comm = comm };
	p->row = ct_report_row_of_comm(s->report, comm->hash, comm->nranks);
	for (uint32_t r = 0; r < comm->nranks; r++) {
		uint32_t slot = comm->slots[r];

		if (slot && !s->waits_known[slot - 1])
			return 0;
		time += slot ? (double)s->exposed.ranks[slot - 1].step_ns : 0;
	}
	if (!p->row || time <= 0 || (p->row->role && strcmp(p->row->role, "tp") == 0) ||
	    (double)e->unclear_ns > CT_A_FEW * (double)e->exposed_ns)
		return 0;
	p->pct = 100 * (double)e->transfer_ns / time;
	p->wait_pct = 100 * (double)e->wait_ns / time;
	p->err_pct = 100 * (double)e->err_ns / time;
	return p->pct - p->err_pct > CT_CRITICAL_PCT;
}

/* Is it a copy of the other, for other ranks? By role; where that is not known, by size. */
static int is_alike(const struct ct_report_comm *a, const struct ct_report_comm *b)
{
	if (a->role || b->role)
		return a->role && b->role && strcmp(a->role, b->role) == 0;
	return a->nranks == b->nranks && a->backend == b->backend;
}

/* Copies of a communicator transfer alike: the one with most exposed time represents all. By size.
 */
static void join_alike(struct exposed_comm *parts, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct exposed_comm *first = &parts[i];

		for (uint32_t k = 0; k < i && first == &parts[i]; k++)
			if (parts[k].is_first && is_alike(parts[k].row, parts[i].row))
				first = &parts[k];
		parts[i].is_first = first == &parts[i];
		first->alike++;
	}
}

/* How many like it there are. */
static uint32_t all_alike(const struct ct_study *s, const struct exposed_comm *p)
{
	uint32_t n = 0;

	for (size_t c = 0; c < s->report->n_comms; c++)
		n += (uint32_t)is_alike(&s->report->comms[c], p->row);
	return n;
}

static void find_comm(const struct ct_study *s, const struct exposed_comm *p,
		      struct ct_findings *list)
{
	uint32_t all = all_alike(s, p);
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_EXPOSED_COMM);
	const char *role = p->row->role ? p->row->role : "?";

	/* no ranks are named: the communicator identifies them */
	ct_finding_evidence(list, f, "exposed_transfer", p->pct, "%", p->err_pct);
	ct_finding_evidence(list, f, "exposed_wait", p->wait_pct, "%", p->err_pct);
	ct_finding_evidence(list, f, "such_communicators", p->alike, "count", NAN);
	ct_finding_evidence(list, f, "communicators_alike", all, "count", NAN);
	set_loss(s, list, p->pct, p->err_pct,
		 p->pct > CT_EXPOSED_PCT ? CT_SEVERITY_WARNING : CT_SEVERITY_INFO, f);
	f->comm_hash = p->comm->hash;
	ct_finding_say(list, f, p->alike == 1 ? CT_TEXT_EXPOSED_COMM : CT_TEXT_EXPOSED_COMMS,
		       CT_WORDS({ "{comm}", ct_arena_printf(list->memory, "%s",
							    ct_comm_digits(p->comm->hash).s) },
				{ "{role}", role }));
	ct_finding_put_comm(list, f, p->comm->hash);
	ct_finding_put(list, f, "role", "%s", role);
	if (all != 1)
		ct_finding_put(list, f, "comms", "%u/%u", p->alike, all);
	ct_finding_put_err(list, f, "transfer", ct_text_pct(p->pct).s, ct_text_pct(p->err_pct).s);
	ct_finding_put(list, f, "of", "step");
	ct_finding_put(list, f, "wait", "%s", ct_text_pct(p->wait_pct).s);
}

/* Did hosts time more than a tenth of the communication? A call's duration includes time that a
 * process waited for a core: the finding says so and draws no conclusion. */
static int is_by_host(const struct ct_study *s)
{
	const struct ct_overlap_row *rows;
	double all = 0, by_host = 0;
	size_t n;

	rows = ct_overlap_rows(s->overlap, &n);
	for (size_t i = 0; i < n; i++) {
		all += (double)rows[i].all_ns;
		by_host += rows[i].by_host ? (double)rows[i].all_ns : 0;
	}
	return by_host > CT_A_FEW * all;
}

/* Scope of the finding: none, the total, or the one communicator with nearly all of it. */
enum reported { REPORTED_NOTHING, REPORTED_SHARE, REPORTED_ONE };

/* `most`: the communicator with most of it, or the first of those alike; NULL unknown. */
static void find_share(const struct ct_study *s, const struct exposed_comm *most,
		       struct ct_findings *list, enum reported *reported)
{
	const struct ct_report_exposed *e = &s->report->exposed;
	const char *of = list->step_time.has_steps ? "step" : "run";
	struct ct_finding *f;

	/* waits for other ranks are not a share of communication; NAN: their amount is unknown */
	if (is_by_host(s) || !(e->median_pct - e->wait_pct - e->err_pct > CT_EXPOSED_PCT) ||
	    is_explained(list, e->median_pct - e->wait_pct))
		return;
	f = ct_findings_add(list, CT_FINDING_COMM_SHARE);
	ct_finding_evidence(list, f, "exposed_transfer", e->median_pct - e->wait_pct, "%",
			    e->err_pct);
	ct_finding_evidence(list, f, "exposed_wait", e->wait_pct, "%", e->err_pct);
	ct_finding_evidence(list, f, "transferring", e->transferring_pct, "%", NAN);
	ct_finding_evidence(list, f, "limit", CT_EXPOSED_PCT, "%", NAN);
	set_loss(s, list, e->median_pct - e->wait_pct, e->err_pct, CT_SEVERITY_WARNING, f);
	*reported = most && most->pct > CT_NEARLY_ALL * (e->median_pct - e->wait_pct)
			    ? REPORTED_ONE
			    : REPORTED_SHARE;
	f->comm_hash = *reported == REPORTED_ONE && most->alike == 1 ? most->comm->hash : 0;
	ct_finding_say(list, f, CT_TEXT_EXPOSED_ALL, CT_NO_WORDS);
	ct_finding_put_err(list, f, "transfer", ct_text_pct(e->median_pct - e->wait_pct).s,
			   ct_text_pct(e->err_pct).s);
	ct_finding_put(list, f, "of", "%s", of);
	ct_finding_put(list, f, "wait", "%s", ct_text_pct(e->wait_pct).s);
	ct_finding_put(list, f, "transferring", "%s", ct_text_pct(e->transferring_pct).s);
	ct_finding_put(list, f, "limit", "30%%");
}

/* The total, and by communicator unless one has nearly all of it. */
static int find_exposed(const struct ct_study *s, struct ct_findings *list)
{
	uint32_t n = 0, all = s->model->comms.n;
	struct exposed_comm *parts = calloc((size_t)all + 1, sizeof(*parts));
	enum reported reported = REPORTED_NOTHING;
	int st = parts ? CT_OK : CT_NOMEM;

	all = is_by_host(s) ? 0 : all;
	for (uint32_t c = 0; parts && c < all; c++)
		n += (uint32_t)weigh(s, s->model->comms.all[c], &parts[n]);
	if (parts) {
		qsort(parts, n, sizeof(*parts), by_pct);
		join_alike(parts, n);
		find_share(s, n ? &parts[0] : NULL, list, &reported);
	}
	for (uint32_t i = reported == REPORTED_ONE, named = 0; i < n && named < MOST_COMMS; i++) {
		if (reported == REPORTED_NOTHING &&
		    parts[i].pct - parts[i].err_pct <= CT_EXPOSED_PCT)
			break;
		if (!parts[i].is_first || is_explained(list, parts[i].pct))
			continue;
		named++;
		find_comm(s, &parts[i], list);
	}
	free(parts);
	return st;
}

/* ---- pipelines ---- */

/* One pipeline: mean time that its stages waited for late senders. */
struct pipeline {
	const struct ct_bubble *first;
	double pct, err_pct, ideal_pct; /* of the step */
};

/* Stages first .. end - 1 are those of one pipeline that are on record. 0: it is not known of all. */
static int weigh_pipeline(const struct ct_study *s, uint32_t first, uint32_t end,
			  struct pipeline *p)
{
	double n = end - first;

	*p = (struct pipeline){ .first = &s->bubbles.all[first] };
	p->ideal_pct = 100 * p->first->ideal_ratio;
	for (uint32_t i = first; i < end; i++) {
		const struct ct_bubble *one = &s->bubbles.all[i];

		/* communication hidden by compute is not a loss */
		if (one->at_most || one->unknown || !one->step_ns)
			return 0;
		p->pct += 100 * (double)one->bubble_ns / (double)one->step_ns / n;
		p->err_pct += 100 * (double)one->err_ns / (double)one->step_ns / n;
	}
	return end - first == p->first->stages && !isnan(p->ideal_pct);
}

static void add_pipeline(const struct ct_study *s, const struct pipeline *p, uint32_t n,
			 struct ct_findings *list)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_EXPOSED_COMM);
	const struct ct_bubble *b = p->first;

	ct_finding_evidence(list, f, "bubble", p->pct, "%", p->err_pct);
	ct_finding_evidence(list, f, "ideal_bubble", p->ideal_pct, "%", NAN);
	ct_finding_evidence(list, f, "stages", b->stages, "count", NAN);
	ct_finding_evidence(list, f, "microbatches", b->per_step, "count", NAN);
	ct_finding_evidence(list, f, "such_pipelines", n, "count", NAN);
	set_loss(s, list, p->pct - p->ideal_pct, p->err_pct, CT_SEVERITY_WARNING, f);
	f->confidence = CT_CONFIDENCE_MEDIUM;
	f->comm_hash = b->comm->hash;
	ct_finding_say(list, f, CT_TEXT_BUBBLE, CT_NO_WORDS);
	ct_finding_put_comm(list, f, b->comm->hash);
	ct_finding_put(list, f, "role", "pp");
	ct_finding_put(list, f, "pipelines", "%u", n);
	ct_finding_put_err(list, f, "bubble", ct_text_pct(p->pct).s, ct_text_pct(p->err_pct).s);
	ct_finding_put(list, f, "ideal", "%s", ct_text_pct(p->ideal_pct).s);
	ct_finding_put(list, f, "of", "step");
	ct_finding_put(list, f, "stages", "%u", b->stages);
	ct_finding_put(list, f, "microbatches", "%.0f", b->per_step);
}

/* Copies of a pipeline wait alike: the worst one represents all. */
static void find_bubble(const struct ct_study *s, struct ct_findings *list)
{
	struct pipeline worst = { 0 }, p;
	uint32_t n = 0;

	for (uint32_t i = 0, k; i < s->bubbles.n; i = k) {
		for (k = i; k < s->bubbles.n && s->bubbles.all[k].comm == s->bubbles.all[i].comm;
		     k++)
			;
		if (!weigh_pipeline(s, i, k, &p) ||
		    p.pct - p.err_pct - p.ideal_pct < CT_NOTABLE_PCT)
			continue;
		n++;
		if (!worst.first || p.pct - p.ideal_pct > worst.pct - worst.ideal_pct)
			worst = p;
	}
	if (!n || is_explained(list, worst.pct - worst.ideal_pct))
		return;
	add_pipeline(s, &worst, n, list);
}

int ct_study_find(const struct ct_study *s, struct ct_findings *list)
{
	int st = find_exposed(s, list);

	find_bubble(s, list);
	return st;
}
