/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/lateness/change_point.h"
#include "analyzer/steps/period.h"
#include "trace/status.h"

#define MOST_CHANGES 3u /* size: findings of this kind */

/* Steps first .. last took longer than those before. */
struct rise {
	uint32_t first, last;
	double before_ns, after_ns, time_lost_ns, err_ns, sds;
};

/* Median time that the reference was inside operations, of steps first .. end - 1; NAN: not known. */
static double communication(const struct ct_step_blame *blame, uint32_t first, uint32_t end,
			    double *room)
{
	uint32_t n = 0;

	for (uint32_t k = first; k < end; k++) {
		if (blame->kept[k] && blame->comm_ns[k])
			room[n++] = (double)blame->comm_ns[k];
	}
	return 2 * n < end - first ? NAN : ct_median_high(room, n);
}

/* The rise at level k, until the time of a step is back to what it was. Returns the level behind
 * it. */
static uint32_t measure(const struct ct_level *levels, uint32_t n, uint32_t k, struct rise *r)
{
	const struct ct_level *before = &levels[k - 1];
	double sd = levels[k].sd_ns > before->sd_ns ? levels[k].sd_ns : before->sd_ns;

	*r = (struct rise){ .first = levels[k].first,
			    .before_ns = before->median_ns,
			    .after_ns = levels[k].median_ns };
	r->sds = sd > 0 ? (r->after_ns - r->before_ns) / sd : INFINITY;
	for (; k < n && levels[k].median_ns > (1 + CT_HARDLY_ANY) * r->before_ns; k++) {
		double steps = levels[k].end - levels[k].first;

		r->time_lost_ns += (levels[k].median_ns - r->before_ns) * steps;
		r->err_ns += 2 * CT_SE_OF_MEDIAN * steps *
			     sqrt(levels[k].sd_ns * levels[k].sd_ns / steps +
				  before->sd_ns * before->sd_ns / (before->end - before->first));
		r->last = levels[k].end - 1;
	}
	return k;
}

/* The charges of listed ranks in those steps. */
static double charged_then(const struct ct_time_structure *t, const struct rise *r)
{
	double sum = 0;

	for (uint32_t k = 0; k < t->blame->n; k++) {
		const struct ct_step_charge *charge = &t->blame->all[k];
		int named = 0;

		if (charge->step < r->first || charge->step > r->last)
			continue;
		for (size_t i = 0; i < t->list->n && !named; i++)
			named = ct_finding_has_slot(t->model, &t->list->all[i], charge->slot) &&
				t->list->all[i].time_lost_ns != CT_UNKNOWN;
		sum += named ? (double)charge->charged_ns : 0;
	}
	return sum / ct_step_blame_share(t->blame);
}

/* The loss of a straggler that was late then, and hardly before or after it. */
static double lost_then(const struct ct_time_structure *t, const struct ct_finding *f,
			const struct rise *r)
{
	double first = (double)f->step_first - t->steps->first;
	double last = (double)f->step_last - t->steps->first;
	double from = first > r->first ? first : r->first, to = last < r->last ? last : r->last;

	if (!ct_finding_is_straggler(f) || f->step_first == CT_UNKNOWN ||
	    to - from + 1 < CT_MOSTLY * (last - first + 1))
		return 0;
	return (double)f->time_lost_ns;
}

/* Does the lateness of listed ranks explain most of the change? */
static int is_explained(const struct ct_time_structure *t, const struct rise *r)
{
	double lost = 0, charged = charged_then(t, r);

	for (size_t i = 0; i < t->list->n; i++)
		lost += lost_then(t, &t->list->all[i], r);
	return (lost > charged ? lost : charged) >= CT_MOST * r->time_lost_ns;
}

/* Steps that become slower and faster at equal distances do so because of the program: that is not
 * a change. */
static int comes_back(const uint64_t *times, uint32_t n, const struct rise *r)
{
	return ct_period_find(times, n, (r->after_ns - r->before_ns) / 2, n / 2, CT_A_FEW) != 0;
}

/* Which part of the step became longer. */
static enum ct_why why_longer(double before, double after, double more)
{
	if (isnan(before) || isnan(after))
		return CT_WHY_LONGER;
	if (after - before >= CT_CLEAR_REASON * more)
		return CT_WHY_LONGER_COMMUNICATION;
	return after - before <= (1 - CT_CLEAR_REASON) * more ? CT_WHY_LONGER_COMPUTING
							      : CT_WHY_LONGER_BOTH;
}

static void explain(const struct ct_time_structure *t, const struct rise *r, uint32_t from,
		    struct ct_finding *f, double *room)
{
	double before = communication(t->blame, from, r->first, room);
	double after = communication(t->blame, r->first, r->last + 1, room);

	ct_finding_set_cause(f, why_longer(before, after, r->after_ns - r->before_ns));
	ct_finding_evidence(t->list, f, "in_communication_before", before, "ns", NAN);
	ct_finding_evidence(t->list, f, "in_communication_after", after, "ns", NAN);
}

static void add_change(const struct ct_time_structure *t, const struct rise *r, uint32_t from,
		       double *room)
{
	const struct ct_steps *c = t->steps;
	struct ct_findings *list = t->list;
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_CHANGE_POINT);
	double err = c->err_ns == CT_UNKNOWN ? NAN : (double)c->err_ns;

	ct_finding_loss(list, f, (uint64_t)r->time_lost_ns, (uint64_t)r->err_ns, r->time_lost_ns);
	f->confidence = r->sds >= CT_STEADY_T ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM;
	f->gpu_seconds = ct_finding_all_gpus(t, f->time_lost_ns);
	f->step_first = c->first + r->first;
	f->step_last = c->first + r->last;
	f->begin_at_ns = c->cut_ns[r->first];
	f->end_at_ns = c->cut_ns[r->last + 1];
	ct_finding_put(list, f, "step", "%u", c->first + r->first);
	ct_finding_put(list, f, "before", "%s", ct_text_ns((uint64_t)r->before_ns).s);
	ct_finding_put(list, f, "after", "%s", ct_text_ns((uint64_t)r->after_ns).s);
	ct_finding_put(list, f, "rise", "%s",
		       ct_text_pct(100 * (r->after_ns / r->before_ns - 1)).s);
	ct_finding_put_time_lost(list, f, "time_lost");
	ct_finding_put(list, f, "steps", "%u..%u", c->first + r->first, c->first + r->last);
	ct_finding_evidence(list, f, "step_before", r->before_ns, "ns", err);
	ct_finding_evidence(list, f, "step_after", r->after_ns, "ns", err);
	explain(t, r, from, f, room);
}

int ct_shifts_report(const struct ct_time_structure *t)
{
	const struct ct_steps *c = t->steps;
	uint64_t *times = malloc((c->n + 1u) * sizeof(*times));
	double *room = malloc((c->n + 1u) * sizeof(*room));
	struct ct_level levels[CT_SHIFT_LEVELS];
	uint32_t n, n_added = 0, k = 1;
	int st = times && room ? CT_OK : CT_NOMEM;

	for (uint32_t i = 0; i < c->n && st == CT_OK; i++)
		times[i] = c->cut_ns[i + 1] - c->cut_ns[i];
	n = st == CT_OK ? ct_levels_find(times, c->n, levels) : 0;
	while (k < n && st == CT_OK) {
		uint32_t from = levels[k - 1].first, behind;
		struct rise r;

		/* steps of 0 ns are not a measurement that others could be compared with */
		if (levels[k - 1].median_ns <= 0 ||
		    levels[k].median_ns <= (1 + CT_HARDLY_ANY) * levels[k - 1].median_ns) {
			k++;
			continue;
		}
		behind = measure(levels, n, k, &r);
		k = behind > k ? behind : k + 1;
		if (n_added == MOST_CHANGES ||
		    !ct_finding_is_worth(t->list, r.time_lost_ns, r.err_ns, CT_WORTH_REPORTING) ||
		    comes_back(times, c->n, &r) || is_explained(t, &r))
			continue;
		n_added++;
		add_change(t, &r, from, room);
	}
	free(times);
	free(room);
	return st;
}
