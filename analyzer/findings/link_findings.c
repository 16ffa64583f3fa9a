/* SPDX-License-Identifier: Apache-2.0 */
/* Findings on the cost of slow links. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/link_findings.h"
#include "analyzer/link/links.h"
#include "analyzer/link/slow_ops.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "analyzer/stream/instance_log.h"

#define MOST_PATHS 1024u /* size: for which it is summed up what was exposed */

/* A finding under construction. */
struct link_finding {
	const struct ct_links *links;
	const struct ct_model *model;
	const struct ct_report *report;
	struct ct_findings *list;
	struct ct_excess_sum sum; /* of the whole run, extrapolated from the log */
	double expected_Bps, efficiency;
	int on_gpu, between_hosts;
	const struct ct_path *path; /* the costliest */
	const uint32_t *paths;
	uint32_t n_paths;
};

static int is_worth_it(const struct link_finding *m)
{
	double in_steps = (double)m->sum.in_steps_ns, lost = (double)m->sum.time_lost_ns;

	return lost > 0 && ct_finding_is_worth(m->list, in_steps, 0, CT_WORTH_REPORTING) &&
	       ct_finding_is_worth(m->list, in_steps, in_steps * (double)m->sum.err_ns / lost,
				   CT_MOST * CT_WORTH_REPORTING);
}

/* Extrapolates from logged operations to all. */
static void scale(struct link_finding *m)
{
	double share = ct_instance_log_share(m->links->log);

	m->sum.time_lost_ns = (uint64_t)((double)m->sum.time_lost_ns / share);
	m->sum.err_ns = (uint64_t)((double)m->sum.err_ns / share);
	m->sum.in_steps_ns = (uint64_t)((double)m->sum.in_steps_ns / share);
}

/* The longest total wait of a member on this communicator. UINT64_MAX: not known for all. */
static uint64_t exposed_on(const struct link_finding *m, const struct ct_comm *comm)
{
	uint64_t most = 0;
	uint32_t known = 0;

	for (size_t i = 0; i < m->report->n_overlap; i++) {
		const struct ct_report_overlap *o = &m->report->overlap[i];

		if (o->comm_hash != comm->hash)
			continue;
		known += o->launches && (double)o->measured >= CT_NEARLY_ALL * (double)o->launches;
		if (o->exposed_ns + o->err_ns > most)
			most = o->exposed_ns + o->err_ns;
	}
	return known == comm->nranks ? most : UINT64_MAX;
}

/* Time lost to slow transfers is bounded by the wait for their communicators. */
static int bound_by_exposed(struct link_finding *m)
{
	uint64_t sum = 0;

	if (m->n_paths > MOST_PATHS)
		return 0;
	for (uint32_t p = 0; p < m->n_paths; p++) {
		const struct ct_path *path = &m->links->causes.paths[m->paths[p]];
		const struct ct_comm *comm = m->links->transfers.tracks[path->track].comm;
		uint64_t exposed = exposed_on(m, comm);
		int counted = 0;

		for (uint32_t q = 0; q < p && !counted; q++)
			counted = comm == m->links->transfers
						  .tracks[m->links->causes.paths[m->paths[q]].track]
						  .comm;
		if (exposed == UINT64_MAX)
			return 0;
		sum += counted ? 0 : exposed;
	}
	if (m->sum.time_lost_ns > sum) {
		m->sum.in_steps_ns = (uint64_t)((double)m->sum.in_steps_ns * (double)sum /
						(double)m->sum.time_lost_ns);
		m->sum.time_lost_ns = sum;
	}
	return 1;
}

/* GPUs that were idle meanwhile: those of the members. */
static double gpu_seconds(const struct link_finding *m)
{
	uint8_t *seen = calloc((size_t)m->model->n_slots + 1, 1);
	double n = 0;

	for (uint32_t p = 0; p < m->n_paths && seen; p++) {
		const struct ct_path *path = &m->links->causes.paths[m->paths[p]];

		for (uint32_t s = 0; s < path->n; s++) {
			n += !seen[path->slots[s]];
			seen[path->slots[s]] = 1;
		}
	}
	free(seen);
	return m->on_gpu ? n * (double)m->sum.time_lost_ns / 1e9 : NAN;
}

/* Loss, times, what both kinds have in common. */
static int set_costs(struct link_finding *m, struct ct_finding *f)
{
	const struct ct_track *t = &m->links->transfers.tracks[m->path->track];

	f->is_bounded = bound_by_exposed(m);
	if (!is_worth_it(m))
		return 0;
	ct_finding_loss(m->list, f, m->sum.time_lost_ns, m->sum.err_ns, (double)m->sum.in_steps_ns);
	f->at_most = 1;
	/* an uncut bound may be several times the true value */
	if (!f->is_bounded && f->severity > CT_SEVERITY_WARNING)
		f->severity = CT_SEVERITY_WARNING;
	f->begin_at_ns = m->sum.begin_ns;
	f->end_at_ns = m->sum.end_ns < m->model->end_ns ? m->sum.end_ns : m->model->end_ns;
	f->gpu_seconds = gpu_seconds(m);
	if (m->n_paths == 1 && !t->is_edge)
		f->comm_hash = t->comm->hash;
	f->op_name = t->is_edge ? NULL : ct_op_names_get(&m->model->names, t->op);
	return 1;
}

/* ---- SLOW_LINK ---- */

/* Sums over the transfers of a cause. */
struct taken {
	double ns, expected_ns, bytes;
};

static int sum_track(const struct ct_links *links, uint32_t track, struct ct_excess *excess,
		     struct taken *taken)
{
	const struct ct_track *t = &links->transfers.tracks[track];
	int st = CT_OK;

	for (uint32_t i = t->first; i < t->first + t->n && st == CT_OK; i++) {
		const struct ct_moved *moved = &links->transfers.moved[i];
		double ns = ct_compare_expect(&links->transfers, &links->comparison, track,
					      moved->bytes);

		if (isnan(ns))
			break;
		st = ct_excess_add(excess, moved, ns,
				   moved->err_ns + links->comparison.of[track].line_err * ns);
		taken->ns += moved->ns;
		taken->expected_ns += ns;
		taken->bytes += moved->bytes;
	}
	return st;
}

static int sum_cause(struct link_finding *m, const struct ct_cause *cause)
{
	const struct ct_links *links = m->links;
	struct ct_excess excess = { 0 };
	struct taken taken = { 0 };
	uint8_t *is_its = calloc((size_t)links->causes.n_paths + 1, 1);
	int st = is_its ? CT_OK : CT_NOMEM;

	for (uint32_t p = 0; p < cause->n_paths && is_its; p++)
		is_its[cause->paths[p]] = 1;
	for (uint32_t t = 0; t < links->transfers.n_tracks && st == CT_OK; t++) {
		if (is_its[links->causes.path_of[t]])
			st = sum_track(links, t, &excess, &taken);
	}
	free(is_its);
	m->sum = ct_excess_sum(&excess, &m->list->step_time);
	ct_excess_fini(&excess);
	scale(m);
	m->efficiency = taken.expected_ns / taken.ns;
	m->expected_Bps = 1e9 * taken.bytes / taken.expected_ns;
	return st;
}

static void put_ends(const struct link_finding *m, const struct ct_track *t, struct ct_finding *f)
{
	ct_finding_put(m->list, f, "src", "%d", m->model->slots[t->src].rank);
	ct_finding_put(m->list, f, "dst", "%d", m->model->slots[t->dst].rank);
}

static void put_who(const struct link_finding *m, struct ct_finding *f)
{
	const struct ct_track *t = &m->links->transfers.tracks[m->path->track];

	ct_finding_put_who(m->list, f);
	if (t->is_edge && m->n_paths == 1)
		put_ends(m, t, f);
}

static enum ct_finding_text row_of(const struct link_finding *m, const struct ct_cause *cause)
{
	const struct ct_track *t = &m->links->transfers.tracks[m->path->track];

	if (t->is_edge && m->n_paths == 1)
		return cause->is_exact ? CT_TEXT_SLOW_MESSAGES : CT_TEXT_SLOW_MESSAGES_OF_SOME;
	if (cause->kind == CT_CAUSE_LINK)
		return cause->is_exact ? CT_TEXT_SLOW_LINK : CT_TEXT_SLOW_LINK_OF_SOME;
	return cause->is_exact ? CT_TEXT_SLOW_MEMBER : CT_TEXT_SLOW_MEMBER_OF_SOME;
}

/* The cause, and the next step for the user. In a ring each member has two neighbors, which NCCL
 * chooses. */
static void say_cause(const struct link_finding *m, const struct ct_cause *cause,
		      struct ct_finding *f)
{
	struct ct_arena *memory = m->list->memory;
	enum ct_finding_part parts = m->between_hosts ? CT_PART_LINK_NETWORK
				     : m->on_gpu      ? CT_PART_LINK_GPU
						      : CT_PART_LINK_HOST;
	const char *ranks = ct_ranks_words(memory, f->ranks, f->n_ranks, CT_RANKS_SHOWN), * or = "";

	if (cause->is_exact && cause->kind == CT_CAUSE_LINK)
		ranks = ct_finding_part(memory, CT_PART_LINK_BETWEEN,
					CT_WORDS({ "{ranks}", ranks }));
	if (m->on_gpu)
		or = ct_finding_part(memory,
				     cause->is_exact ? CT_PART_LINK_OR_SMS : CT_PART_LINK_OR_PLUGIN,
				     CT_NO_WORDS);
	ct_finding_say(m->list, f, row_of(m, cause),
		       CT_WORDS({ "{parts}", ct_finding_part(memory, parts, CT_NO_WORDS) },
				{ "{ranks}", ranks }, { "{or}", or }));
	if (m->between_hosts || m->on_gpu)
		f->command = ct_finding_part(
			memory, m->between_hosts ? CT_PART_RUN_IBSTAT : CT_PART_RUN_NVLINK,
			CT_NO_WORDS);
}

static enum ct_confidence confidence_of(const struct link_finding *m, const struct ct_cause *cause)
{
	const struct ct_track *t = &m->links->transfers.tracks[m->path->track];

	if (!cause->is_exact)
		return CT_CONFIDENCE_LOW;
	if (!m->on_gpu || (m->n_paths == 1 && !t->is_edge) || t->shared)
		return CT_CONFIDENCE_MEDIUM;
	return CT_CONFIDENCE_HIGH;
}

static void set_evidence(const struct link_finding *m, const struct ct_cause *cause,
			 struct ct_finding *f)
{
	const struct ct_track_rating *s = &m->links->comparison.of[m->path->track];
	double err = m->efficiency * (s->line_err + s->err);

	ct_finding_evidence(m->list, f, "efficiency", m->efficiency, "ratio", err);
	ct_finding_evidence(m->list, f, "fastest", s->best / s->reference, "ratio", err);
	ct_finding_evidence(m->list, f, "expected", m->expected_Bps, "Bps",
			    m->expected_Bps * s->line_err);
	ct_finding_evidence(m->list, f, "slow_paths", m->n_paths, "count", NAN);
	ct_finding_evidence(m->list, f, "compared_with", s->peers, "count", NAN);
	ct_finding_evidence(m->list, f, "suspects", cause->n, "count", NAN);
}

static void suspect_slots(const struct link_finding *m, const struct ct_cause *cause,
			  struct ct_finding *f)
{
	uint32_t *slots = ct_arena_calloc(m->list->memory, m->model->n_slots, sizeof(*slots)),
		 n = 0;

	for (uint32_t k = 0; slots && k < cause->n; k++) {
		if (cause->kind != CT_CAUSE_HOSTS) {
			slots[n++] = cause->suspects[k];
			continue;
		}
		for (uint32_t s = 0; s < m->model->n_slots; s++) {
			if (m->model->host_of[s] == cause->suspects[k])
				slots[n++] = s;
		}
	}
	ct_finding_slots(m->model, slots, n, m->list, f);
}

static int find_cause(struct link_finding *m, const struct ct_cause *cause)
{
	const struct ct_causes *causes = &m->links->causes;
	const struct ct_track_rating *s;
	char efficiency[32], err[32];
	struct ct_finding *f;
	int st;

	m->paths = cause->paths;
	m->n_paths = cause->n_paths;
	m->path = &causes->paths[cause->paths[0]];
	for (uint32_t p = 1; p < cause->n_paths; p++) {
		if (causes->paths[cause->paths[p]].all_ns > m->path->all_ns)
			m->path = &causes->paths[cause->paths[p]];
	}
	m->on_gpu = m->links->transfers.tracks[m->path->track].on_gpu;
	m->between_hosts = m->path->n_hosts > 1;
	st = sum_cause(m, cause);
	if (st != CT_OK)
		return st;
	f = ct_findings_add(m->list, CT_FINDING_SLOW_LINK);
	if (!set_costs(m, f)) {
		ct_findings_drop_last(m->list);
		return CT_OK;
	}
	suspect_slots(m, cause, f);
	set_evidence(m, cause, f);
	f->confidence = confidence_of(m, cause);
	say_cause(m, cause, f);
	s = &m->links->comparison.of[m->path->track];
	put_who(m, f);
	snprintf(efficiency, sizeof(efficiency), "%.2f", m->efficiency);
	snprintf(err, sizeof(err), "%.2f", m->efficiency * (s->line_err + s->err));
	ct_finding_put_err(m->list, f, "efficiency", efficiency, err);
	ct_finding_put(m->list, f, "expected", "%s", ct_text_Bps((uint64_t)m->expected_Bps).s);
	ct_finding_put_time_lost(m->list, f, "time_lost_max");
	ct_finding_put(m->list, f, "ambiguous", cause->is_exact ? "no" : "yes");
	return CT_OK;
}

/* ---- SLOW_OP ---- */

static void find_slow_ops(struct link_finding *m, uint32_t track, const struct ct_slow_ops *slow)
{
	const struct ct_track *t = &m->links->transfers.tracks[track];
	uint32_t path = m->links->causes.path_of[track];
	struct ct_finding *f = ct_findings_add(m->list, CT_FINDING_SLOW_OP);

	m->paths = &path;
	m->n_paths = 1;
	m->path = &m->links->causes.paths[path];
	m->on_gpu = t->on_gpu;
	m->sum = slow->sum;
	if (!set_costs(m, f)) {
		ct_findings_drop_last(m->list);
		return;
	}
	f->confidence = CT_CONFIDENCE_LOW;
	ct_finding_say(m->list, f, CT_TEXT_SLOW_OP, CT_NO_WORDS);
	ct_finding_evidence(m->list, f, "slow_in_a_row", slow->n, "count", NAN);
	ct_finding_evidence(m->list, f, "of", slow->all, "count", NAN);
	ct_finding_evidence(m->list, f, "efficiency", slow->efficiency, "ratio", CT_HARDLY_ANY);
	if (t->is_edge) {
		put_ends(m, t, f);
	} else {
		ct_finding_put_comm(m->list, f, t->comm->hash);
		ct_finding_put(m->list, f, "op", "%s", f->op_name);
	}
	ct_finding_put(m->list, f, "slow", "%u/%u", slow->n, slow->all);
	ct_finding_put(m->list, f, "efficiency", "%.2f", slow->efficiency);
	ct_finding_put_time_lost(m->list, f, "time_lost_max");
	ct_finding_put(m->list, f, "when", "%s..%s", ct_text_ns(f->begin_at_ns).s,
		       ct_text_ns(f->end_at_ns).s);
}

/* The costliest stretch: only one, since several slow links at a time have one cause. */
static int find_costliest_slow_ops(struct link_finding *m)
{
	const struct ct_links *links = m->links;
	struct ct_slow_ops best = { 0 };
	uint32_t at = 0;

	for (uint32_t t = 0; t < links->transfers.n_tracks; t++) {
		struct ct_slow_ops slow;

		if (links->transfers.tracks[t].shared ||
		    links->comparison.of[t].state == CT_TOMO_SLOW_ONE)
			continue;
		if (ct_slow_ops_find(&links->transfers, t, &links->comparison.of[t].fit,
				     &m->list->step_time, &slow))
			return CT_NOMEM;
		if (slow.sum.time_lost_ns > best.sum.time_lost_ns) {
			best = slow;
			at = t;
		}
	}
	if (best.n)
		find_slow_ops(m, at, &best);
	return CT_OK;
}

int ct_links_find(const struct ct_links *links, const struct ct_model *model,
		  const struct ct_report *report, struct ct_findings *list)
{
	struct link_finding m = { .links = links, .model = model, .report = report, .list = list };
	int st = CT_OK;

	for (uint32_t c = 0; c < links->causes.n && st == CT_OK; c++)
		st = find_cause(&m, &links->causes.all[c]);
	return st == CT_OK ? find_costliest_slow_ops(&m) : st;
}
