/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/unattributed_wait.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/gain.h"
#include "analyzer/findings/headline.h"
#include "analyzer/findings/verdict_text.h"
#include "trace/ops.h"

/* ---- how much ---- */

/* Is there no replay, or does it not explain why ranks wait? Then the last arrivals are the
 * evidence. In a pipeline they follow from its order; and where waited-for work is not recorded
 * they prove nothing. */
static int go_by_arrivals(const struct ct_replay_judgement *r)
{
	if (ct_replay_is_off(r) || r->engine.stages.n > 1)
		return 0;
	return r->engine.why_not ||
	       (!r->rows.n && (r->engine.has_graphs || ct_replay_unexplained(r) > 0));
}

static void add_last(const struct ct_judgement *j, const struct ct_report *report,
		     struct ct_waited *w)
{
	uint32_t slot = ct_arrivals_latest(j->arrivals, j->model);
	double in_steps;
	uint64_t ns;

	if (!go_by_arrivals(j->replay) || slot == j->model->n_slots ||
	    (!j->replay->engine.why_not && j->replay->rows.is_like_peers[slot]))
		return;
	ns = j->arrivals->all[slot].alone_ns;
	/* waits that compute hides cost nothing; where it is not known how long ranks were exposed,
	 * all of them may */
	in_steps = fmin(j->in_steps[slot].late * (double)ns,
			ct_gain_exposed_pct(report) / 100 * ct_step_time_ns(&report->step_time));
	ns = ct_min(ns, ct_most_exposed(j->model));
	if (!(ct_step_time_pct(&report->step_time, in_steps) >= CT_WARNING_PCT))
		return;
	w->ns = ns;
	w->in_steps_ns = in_steps;
	w->slot = slot;
}

static int is_one_stall(const struct ct_stalled *s)
{
	return s->n && (double)s->longest_ns >= CT_ONE_STALL * (double)s->sum_ns;
}

static void add_stalls(const struct ct_judgement *j, const struct ct_step_time *time,
		       struct ct_waited *w)
{
	double least = is_one_stall(&w->stalled) ? CT_WARNING_PCT : CT_NOTABLE_PCT;
	double stalls = w->stalled.of ? (double)w->stalled.sum_ns / ct_step_blame_share(j->blame)
				      : 0;

	if (2 * stalls >= w->in_steps_ns && ct_step_time_pct(time, stalls) >= least) {
		w->ns = ct_max((uint64_t)stalls, w->ns);
		w->in_steps_ns = fmax(stalls, w->in_steps_ns);
		w->slot = CT_STALLED_UNKNOWN;
		w->is_stalls = 1;
	}
}

/* Did ranks mostly wait in messages, without a replay that shows which rank delayed which? */
static int waits_unfollowed(const struct ct_model *model, const struct ct_report *report)
{
	uint64_t all = 0, in_messages = 0;

	if (!isnan(report->whatif.balance_ratio))
		return 0;
	for (uint32_t c = 0; c < model->classes.n; c++) {
		const struct ct_class *class = model->classes.all[c];

		all += class->wait_ns;
		if (class->op && ct_op_class(class->op) == CT_CLASS_P2P)
			in_messages += class->wait_ns;
	}
	return 2 * in_messages > all;
}

static void add_messages(const struct ct_judgement *j, const struct ct_report *report,
			 struct ct_waited *w)
{
	if (!waits_unfollowed(j->model, report))
		return;
	for (uint32_t s = 0; s < j->model->n_slots; s++) {
		uint64_t waited = j->model->slots[s].waited.total;
		double in_steps = j->in_steps[s].wait * (double)waited;

		/* streams wait for messages by the schedule of their pipeline */
		if (j->model->slots[s].timing != CT_TIMING_CALL ||
		    !(ct_step_time_pct(&report->step_time, in_steps) >= CT_CRITICAL_PCT) ||
		    in_steps <= w->in_steps_ns)
			continue;
		w->ns = waited;
		w->in_steps_ns = in_steps;
		w->in_messages = 1;
		w->is_stalls = 0;
	}
}

int ct_waited_find(const struct ct_judgement *j, const struct ct_report *report,
		   struct ct_waited *w)
{
	int st;

	*w = (struct ct_waited){ .slot = CT_STALLED_UNKNOWN };
	st = ct_stalled_find(j->steps, j->blame, j->model->n_slots, &w->stalled);
	if (st != CT_OK || !(ct_step_time_ns(&report->step_time) > 0))
		return st;
	add_last(j, report, w);
	add_stalls(j, &report->step_time, w);
	add_messages(j, report, w);
	w->pct = ct_step_time_pct(&report->step_time, w->in_steps_ns);
	return CT_OK;
}

/* ---- what is said of it ---- */

/* Stalls, without blame unless they are one rank's. */
static void stalls_verdict(const struct ct_judgement *j, const struct ct_waited *w,
			   struct ct_report *report)
{
	const struct ct_stalled *s = &w->stalled;
	const struct ct_rank_state *slots = j->model->slots;
	const uint32_t n_slots = j->model->n_slots;
	enum ct_verdict_row row = CT_SAYS_RANKS_STALLED;
	uint32_t n = s->n, named = CT_STALLED_UNKNOWN;
	uint64_t ns = w->ns;
	double pct = w->pct;
	const char *ranks;

	/* steps that were not examined may have had others */
	if (is_one_stall(s) && j->blame->n_kept == j->blame->n_steps) {
		int is_clear = s->n == 1 && s->longest_slot < n_slots &&
			       (double)s->longest_ns >= CT_ONE_STALL_NS &&
			       s->longest_ns >= 2 * j->steps->median_ns;

		row = is_clear ? CT_SAYS_ONE_STALL_BY : CT_SAYS_ONE_STALL;
		named = is_clear ? s->longest_slot : named;
		ns = s->longest_ns;
		pct = ct_step_time_pct(&report->step_time, (double)ns);
	} else if (ct_stalled_is_one(s, n_slots)) {
		row = CT_SAYS_RANK_STALLED;
		named = s->most_slot;
		n = s->most_n;
		ns = s->most_ns;
		pct = ct_step_time_pct(&report->step_time, (double)ns);
	} else if (s->slots < 2) {
		row = CT_SAYS_STALLS_UNKNOWN;
	}
	report->verdict.gain_max_pct = pct;
	ranks = ct_arena_printf(report->memory, "%s%u", s->known_n < s->n ? "at least " : "",
				s->slots);
	ct_verdict_say(
		report, row, CT_CONFIDENCE_NONE,
		CT_WORDS({ "{rank}", ct_text_rank(named < n_slots ? slots[named].rank : -1).s },
			 { "{ranks}", ranks }, { "{n}", ct_text_count(n).s },
			 { "{all}", ct_text_count(s->of).s },
			 { "{step}", ct_text_exact(j->steps->first + s->longest_step).s },
			 { "{longest}", ct_prose_ns(s->longest_ns).s },
			 { "{time}", ct_prose_ns(ns).s }, { "{share}", ct_pct_text(report, pct) }));
}

const char *ct_waited_last_text(const struct ct_judgement *j, const struct ct_waited *w,
				struct ct_report *report)
{
	const struct ct_arrival *of;

	if (w->slot == CT_STALLED_UNKNOWN)
		return "";
	of = &j->arrivals->all[w->slot];
	return ct_note_text(report, CT_NOTE_OFTEN_LAST,
			    CT_WORDS({ "{rank}", ct_text_rank(j->model->slots[w->slot].rank).s },
				     { "{n}", ct_text_count(of->last).s },
				     { "{all}", ct_text_count(of->met).s },
				     { "{time}", ct_prose_ns(w->ns).s },
				     { "{share}", ct_pct_text(report, w->pct) }));
}

/* Why not more is known of a rank that stands out. */
static const char *why_only_last(const struct ct_judgement *j, const struct ct_report *report)
{
	const struct ct_engine *e = &j->replay->engine;

	if (e->why_not)
		return report->whatif.reason;
	return ct_note_text(report, e->has_graphs ? CT_NOTE_ONE_SPAN : CT_NOTE_CAUSE_UNKNOWN,
			    CT_NO_WORDS);
}

static void last_verdict(const struct ct_judgement *j, const struct ct_waited *w,
			 struct ct_report *report)
{
	const struct ct_arrival *of = &j->arrivals->all[w->slot];
	const char *remedy = report->whatif.remedy;

	ct_verdict_say(
		report, CT_SAYS_OFTEN_LAST, CT_CONFIDENCE_NONE,
		CT_WORDS({ "{rank}", ct_text_rank(j->model->slots[w->slot].rank).s },
			 { "{n}", ct_text_count(of->last).s },
			 { "{all}", ct_text_count(of->met).s }, { "{time}", ct_prose_ns(w->ns).s },
			 { "{share}", ct_pct_text(report, w->pct) },
			 { "{why}", why_only_last(j, report) },
			 { "{remedy}",
			   remedy ? remedy : ct_note_text(report, CT_NOTE_PROFILE, CT_NO_WORDS) }));
}

void ct_verdict_waited(const struct ct_judgement *j, const struct ct_waited *w, const char *lacks,
		       struct ct_report *report)
{
	report->verdict.gain_max_pct = w->pct;
	/* the stage before one without a trace seems to be late itself */
	if (*lacks)
		ct_verdict_say(report, CT_SAYS_LACKING_WAITS, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{lacks}", lacks },
					{ "{share}", ct_pct_text(report, w->pct) },
					{ "{remedy}", ct_remedy_of_lacking(report) }));
	else if (w->in_messages)
		ct_verdict_say(report, CT_SAYS_MESSAGES, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{time}", ct_prose_ns(w->ns).s },
					{ "{share}", ct_pct_text(report, w->pct) }));
	else if (w->is_stalls)
		stalls_verdict(j, w, report);
	else
		last_verdict(j, w, report);
}

const char *ct_waited_in_short(const struct ct_waited *w, struct ct_report *report)
{
	return ct_note_text(report, w->is_stalls ? CT_NOTE_STALLS : CT_NOTE_WAITED,
			    CT_WORDS({ "{n}", ct_text_count(w->stalled.n).s },
				     { "{all}", ct_text_count(w->stalled.of).s },
				     { "{share}", ct_pct_text(report, w->pct) }));
}
