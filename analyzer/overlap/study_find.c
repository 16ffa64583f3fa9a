/* SPDX-License-Identifier: Apache-2.0 */
/* study_find.c — exposed communication that is worth a finding: in all, of one communicator, of a pipeline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/overlap/study.h"
#include "analyzer/units.h"
#include "trace/status.h"

/* Of the time, in percent: docs/ANALYSIS.md, "Gaps, buckets, bubbles". */
#define SHARE_PCT 30.0
#define COMM_PCT 15.0
#define BUBBLE_PCT 5.0
#define NEARLY_ALL 0.9
/* Communicators that are named. */
#define MOST_COMMS 3u

/* On GPUs, all of which lost it. */
static double gpu_seconds(const struct ct_study *s, uint64_t loss_ns)
{
	double n = 0;

	for (uint32_t seat = 0; seat < s->pass->n_seats; seat++)
		n += s->pass->seats[seat].device >= 0;
	return n > 0 ? n * (double)loss_ns / 1e9 : NAN;
}

/* `pct` of the time, as a loss of the run. */
static void set_loss(const struct ct_study *s, double pct, double err_pct,
		     enum ct_severity severity, struct ct_finding *f)
{
	double run = (double)s->pass->duration_ns / 100;

	ct_finding_loss(f, (uint64_t)(pct * run), (uint64_t)(err_pct * run), s->pass->duration_ns);
	f->severity = severity;
	f->confidence = CT_CONFIDENCE_HIGH;
	f->gpu_seconds = gpu_seconds(s, f->loss_ns);
	f->begin_at_ns = s->cut[0].begin_ns;
	f->end_at_ns = s->cut[s->spans.n - 1].end_ns;
}

/* ---- one communicator ---- */

struct part {
	const struct ct_comm *comm;
	const struct ct_report_comm *row;
	double pct, err_pct, wait_pct; /* of its members' cycles: transfer, and waiting before it */
};

static int by_pct(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->pct > y->pct ? -1 : x->pct < y->pct;
}

static const struct ct_report_comm *row_of(const struct ct_study *s, const struct ct_comm *comm)
{
	for (size_t c = 0; c < s->report->n_comms; c++)
		if (s->report->comms[c].key == comm->key &&
		    s->report->comms[c].nranks == comm->nranks)
			return &s->report->comms[c];
	return NULL;
}

/* Of its members' cycles, those that are known. What tensor parallelism exposes, its layers need at once; the waits of a
 * pipeline are its bubble. */
static int weigh(const struct ct_study *s, const struct ct_comm *comm, struct part *p)
{
	const struct ct_exposed_comm *e = &s->exposed.comms[comm->index];
	double time = 0;

	*p = (struct part){ .comm = comm, .row = row_of(s, comm) };
	for (uint32_t r = 0; r < comm->nranks; r++) {
		uint32_t seat = comm->seats[r];

		if (seat && !s->told[seat - 1])
			return 0;
		time += seat ? (double)s->exposed.ranks[seat - 1].cycle_ns : 0;
	}
	if (!p->row || time <= 0 || (p->row->role && strcmp(p->row->role, "tp") == 0) ||
	    (double)e->unclear_ns > 0.1 * (double)e->exposed_ns)
		return 0;
	p->pct = 100 * (double)e->transfer_ns / time;
	p->wait_pct = 100 * (double)e->wait_ns / time;
	p->err_pct = 100 * (double)e->err_ns / time;
	return p->pct - p->err_pct > COMM_PCT;
}

static int find_comm(const struct ct_study *s, const struct part *p, struct ct_findings *list)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_EXPOSED_COMM);
	const char *role = p->row->role ? p->row->role : "?";

	/* about nobody: whose ranks these are, the communicator tells */
	if (!f || ct_finding_evidence(list, f, "exposed_transfer", p->pct, "%", p->err_pct) ||
	    ct_finding_evidence(list, f, "exposed_wait", p->wait_pct, "%", p->err_pct))
		return CT_NOMEM;
	set_loss(s, p->pct, p->err_pct, p->pct > SHARE_PCT ? CT_SEVERITY_WARN : CT_SEVERITY_INFO,
		 f);
	f->comm_key = p->comm->key;
	f->cause = "computing stands still while this communicator transfers";
	f->advice = "begin these operations earlier, or prefetch, so that computing goes on "
		    "meanwhile; what cannot be hidden needs fewer bytes";
	f->line = ct_arena_printf(
		list->memory, "comm=%016llx role=%s transfer=%s±%s of=cycle wait=%s severity=%s",
		(unsigned long long)p->comm->key, role, ct_text_pct(p->pct).s,
		ct_text_pct(p->err_pct).s, ct_text_pct(p->wait_pct).s,
		ct_severity_name(f->severity));
	return f->line ? CT_OK : CT_NOMEM;
}

/* `most`: the communicator with most of it, NULL unknown. Sets *is_all if that is nearly all. */
static int find_share(const struct ct_study *s, const struct part *most, struct ct_findings *list,
		      int *is_all)
{
	const struct ct_report_exposed *e = &s->report->exposed;
	const char *of = e->of_cycles ? "cycle" : "run";
	struct ct_finding *f;

	/* what ranks wait for each other is no share of communication; NAN: how much that is is not known */
	if (!(e->share_pct - e->wait_pct - e->err_pct > SHARE_PCT))
		return CT_OK;
	f = ct_findings_add(list, CT_FINDING_COMM_SHARE);
	if (!f ||
	    ct_finding_evidence(list, f, "exposed_transfer", e->share_pct - e->wait_pct, "%",
				e->err_pct) ||
	    ct_finding_evidence(list, f, "exposed_wait", e->wait_pct, "%", e->err_pct) ||
	    ct_finding_evidence(list, f, "transferring", e->transferring_pct, "%", NAN) ||
	    ct_finding_evidence(list, f, "limit", SHARE_PCT, "%", NAN))
		return CT_NOMEM;
	set_loss(s, e->share_pct - e->wait_pct, e->err_pct, CT_SEVERITY_WARN, f);
	*is_all = most && most->pct > NEARLY_ALL * (e->share_pct - e->wait_pct);
	f->comm_key = *is_all ? most->comm->key : 0;
	f->cause = "computing stands still for communication";
	f->advice = "the most that faster or better hidden communication can save; `exposed` of "
		    "the "
		    "operations says where";
	f->line = ct_arena_printf(list->memory,
				  "transfer=%s±%s of=%s wait=%s transferring=%s limit=30%% "
				  "severity=warn",
				  ct_text_pct(e->share_pct - e->wait_pct).s,
				  ct_text_pct(e->err_pct).s, of, ct_text_pct(e->wait_pct).s,
				  ct_text_pct(e->transferring_pct).s);
	return f->line ? CT_OK : CT_NOMEM;
}

/* In all, and by communicator, unless one has nearly all. */
static int find_exposed(const struct ct_study *s, struct ct_findings *list)
{
	uint32_t n = 0, all = s->pass->comms.n;
	struct part *parts = calloc((size_t)all + 1, sizeof(*parts));
	int st = parts ? CT_OK : CT_NOMEM, is_all = 0;

	for (uint32_t c = 0; parts && c < all; c++)
		n += (uint32_t)weigh(s, s->pass->comms.all[c], &parts[n]);
	if (parts) {
		qsort(parts, n, sizeof(*parts), by_pct);
		st = find_share(s, n ? &parts[0] : NULL, list, &is_all);
	}
	for (uint32_t i = (uint32_t)is_all; i < n && i < MOST_COMMS && st == CT_OK; i++)
		st = find_comm(s, &parts[i], list);
	free(parts);
	return st;
}

/* ---- pipelines ---- */

/* Stages first .. end - 1 are all of one pipeline that are on record: mean of what they waited beyond the ideal. */
static int find_bubble(const struct ct_study *s, uint32_t first, uint32_t end,
		       struct ct_findings *list)
{
	const struct ct_bubble *b = &s->bubbles.all[first];
	double pct = 0, err = 0, n = end - first, ideal = 100 * b->ideal_ratio;
	struct ct_finding *f;

	for (uint32_t i = first; i < end; i++) {
		const struct ct_bubble *one = &s->bubbles.all[i];

		/* what computing hid is no loss */
		if (one->at_most || one->unknown || !one->cycle_ns)
			return CT_OK;
		pct += 100 * (double)one->bubble_ns / (double)one->cycle_ns / n;
		err += 100 * (double)one->err_ns / (double)one->cycle_ns / n;
	}
	if (end - first < b->stages || isnan(ideal) || !(pct - err - ideal >= BUBBLE_PCT))
		return CT_OK;
	f = ct_findings_add(list, CT_FINDING_EXPOSED_COMM);
	if (!f || ct_finding_evidence(list, f, "bubble", pct, "%", err) ||
	    ct_finding_evidence(list, f, "ideal_bubble", ideal, "%", NAN) ||
	    ct_finding_evidence(list, f, "stages", b->stages, "count", NAN) ||
	    ct_finding_evidence(list, f, "microbatches", b->per_cycle, "count", NAN))
		return CT_NOMEM;
	set_loss(s, pct - ideal, err, CT_SEVERITY_WARN, f);
	f->confidence = CT_CONFIDENCE_MEDIUM;
	f->comm_key = b->comm->key;
	f->cause = "stages of the pipeline wait for each other longer than its schedule makes "
		   "unavoidable";
	f->advice = "balance the stages' layers, or use more micro-batches";
	f->line = ct_arena_printf(list->memory,
				  "comm=%016llx role=pp bubble=%s±%s ideal=%s of=cycle stages=%u "
				  "microbatches=%.0f severity=warn",
				  (unsigned long long)b->comm->key, ct_text_pct(pct).s,
				  ct_text_pct(err).s, ct_text_pct(ideal).s, b->stages,
				  b->per_cycle);
	return f->line ? CT_OK : CT_NOMEM;
}

int ct_study_find(const struct ct_study *s, struct ct_findings *list)
{
	int st = find_exposed(s, list);

	for (uint32_t i = 0, k; i < s->bubbles.n && st == CT_OK; i = k) {
		for (k = i; k < s->bubbles.n && s->bubbles.all[k].comm == s->bubbles.all[i].comm;
		     k++)
			;
		st = find_bubble(s, i, k, list);
	}
	return st;
}
