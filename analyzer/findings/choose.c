/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/gain.h"
#include "analyzer/findings/headline.h"
#include "analyzer/findings/hung.h"
#include "analyzer/findings/one_cause.h"
#include "analyzer/findings/unattributed_wait.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "analyzer/model/two_jobs.h"

/* size: in the report; the weightiest. */
#define MOST_FINDINGS 20u

#define BIT(kind) (1u << CT_FINDING_##kind)
#define CONTRADICTIONS (BIT(MISMATCH) | BIT(SKIPPED_OP) | BIT(EXTRA_OP) | BIT(UNEVEN_INPUT))
#define NAMING                                                                                     \
	(BIT(STRAGGLER) | BIT(STRAGGLER_HOST) | BIT(STRAGGLER_GROUP) | BIT(SLOW_STAGE) |           \
	 BIT(SLOW_LINK) | BIT(PERIODIC_STALLS) | BIT(ROTATING_STALLS))

/* Input of the choice. */
struct choice {
	const struct ct_judgement *j;
	struct ct_report *report;
	const struct ct_finding *order, *named, *change, *exposed, *slow_op,
		*uneven;		 /* the weightiest; NULL none */
	double replayed_pct;		 /* gain of all findings of the replay together, %; 0: there
					    are none */
	const struct ct_finding *chosen; /* the finding that the verdict is about; NULL: none */
	struct ct_waited waited;
	const struct ct_hang_verdict *hung; /* NULL: nothing hangs */
	double late_pct; /* upper bound of the cost of late or slow operations, %; 0:
			    negligible */
	const char *lacks;
};

/* ---- candidates ---- */

/* A rank is slow, but short of cores that may be chance. */
static int may_be_chance(const struct choice *c, const struct ct_finding *f)
{
	return f->is_replayed && f->kind != CT_FINDING_IMBALANCE &&
	       f->confidence == CT_CONFIDENCE_LOW &&
	       (c->j->oversubscribed->processes || f->waited_for_cores);
}

/* The costliest finding that names a rank, of at least this severity; one that may be chance comes
 * after one that is not. */
static const struct ct_finding *name_first(const struct choice *c, const struct ct_findings *list,
					   enum ct_severity least)
{
	const struct ct_finding *best = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct ct_finding *f = &list->all[i];

		if (!(NAMING >> f->kind & 1) || f->severity < least)
			continue;
		if (!may_be_chance(c, f))
			return f;
		best = best ? best : f;
	}
	return best;
}

/* The weightiest of these kinds, of this severity at least. The list is in order. */
static const struct ct_finding *first_of(const struct ct_findings *list, unsigned kinds,
					 enum ct_severity least)
{
	for (size_t i = 0; i < list->n; i++) {
		if (kinds >> list->all[i].kind & 1 && list->all[i].severity >= least)
			return &list->all[i];
	}
	return NULL;
}

static const struct ct_finding *heavier(const struct ct_finding *a, const struct ct_finding *b)
{
	/* both belong to one sorted list */
	return !a || (b && b < a) ? b : a;
}

static int gather(struct choice *c, const struct ct_findings *list)
{
	const struct ct_model *model = c->j->model;
	const struct ct_step_time *steps = &c->report->step_time;
	uint64_t late = c->j->late_or_slow->spans.total, most = ct_most_exposed(model);
	double in_steps;

	c->order = first_of(list, CONTRADICTIONS, CT_SEVERITY_CRITICAL);
	/* a death matters more than the lateness of a rank before it */
	c->named = name_first(c, list, c->report->n_ended ? CT_SEVERITY_WARNING : CT_SEVERITY_INFO);
	if (!c->named)
		c->named = first_of(list, BIT(IMBALANCE), CT_SEVERITY_INFO);
	c->change = first_of(list, BIT(CHANGE_POINT), CT_SEVERITY_WARNING);
	c->exposed = heavier(first_of(list, BIT(EXPOSED_COMM) | BIT(COMM_SHARE),
				      CT_SEVERITY_WARNING),
			     first_of(list, BIT(BUCKETS), CT_SEVERITY_INFO));
	c->slow_op = first_of(list, BIT(SLOW_OP), CT_SEVERITY_WARNING);
	c->uneven = first_of(list, BIT(IMBALANCE), CT_SEVERITY_INFO);
	for (size_t i = 0; i < list->n; i++)
		c->replayed_pct += list->all[i].is_replayed ? list->all[i].time_lost_pct : 0;
	/* so few launches say nothing about the share of communication */
	if (c->report->run.timed_ratio < CT_NEARLY_ALL || ct_gain_why_not(c->report))
		c->exposed = NULL;
	late = late < most ? late : most;
	in_steps = ct_union_part(&c->j->late_or_slow->spans, steps->from_ns, steps->to_ns);
	c->late_pct = ct_step_time_pct(steps, in_steps * (double)late);
	/* of the run, since in few steps one operation may take as much; for slow operations that
	 * came in a row more is known */
	if (!((double)late > CT_WORTH_REPORTING * (double)model->duration_ns) ||
	    (c->slow_op && 2 * c->slow_op->time_lost_pct >= c->late_pct))
		c->late_pct = 0;
	c->hung = ct_hung_find(c->report);
	c->lacks = ct_lacking_text(model, c->report);
	return ct_waited_find(c->j, c->report, &c->waited);
}

/* The leading finding: the costliest of those that name a rank and of critical changes, unless
 * communication costs more than a negligible loss. */
static const struct ct_finding *leader(const struct choice *c)
{
	const struct ct_finding *best = c->named;

	if (c->change && (c->change->severity == CT_SEVERITY_CRITICAL || !c->exposed))
		best = heavier(best, c->change);
	if (best && c->exposed && best->time_lost_pct < CT_WARNING_PCT &&
	    c->exposed->time_lost_pct > best->time_lost_pct)
		return NULL;
	return best;
}

/* ---- sentences ---- */

static void note_late(struct choice *c)
{
	ct_verdict_note(c->report, CT_NOTE_LATE_OR_SLOW,
			CT_WORDS({ "{n}", ct_text_count(c->j->late_or_slow->n).s },
				 { "{share}", ct_pct_text(c->report, c->late_pct) }));
}

/* Do the processes of the job on a host outnumber its cores? They may wait for cores, too. */
static void add_oversubscribed(struct choice *c)
{
	const struct ct_oversubscribed *o = c->j->oversubscribed;
	const struct ct_model *model = c->j->model;
	struct ct_report *report = c->report;
	const char *host;

	if (c->chosen && c->chosen->waited_for_cores)
		ct_verdict_add(report, c->chosen->waited_for_cores);
	if (!o->processes)
		return;
	host = ct_host_word(report->memory, model->starts->hosts[model->slots[o->slot].host].name);
	ct_verdict_note(report, CT_NOTE_OVERSUBSCRIBED,
			CT_WORDS({ "{host}", host },
				 { "{processes}", ct_text_count(o->processes).s },
				 { "{cores}", ct_counted(report, o->cores, "core", "cores") }));
}

#define CHANCE_COLUMNS 33u /* size: of rank, host and cost in the headline of CHANCE */

/* The slowest rank is known, but it may be slow by chance: the verdict names no rank. */
static void conclude_chance(const struct ct_finding *f, struct ct_report *report)
{
	const char *cost = ct_finding_per_step(f, report);
	ct_verdict_say(
		report, CT_SAYS_CHANCE, CT_CONFIDENCE_NONE,
		CT_WORDS({ "{who}", ct_finding_who(f, report->memory,
						   CHANCE_COLUMNS - ct_headline_columns(cost)) },
			 { "{costs}", f->n_ranks == 1 ? "costs" : "cost" }, { "{cost}", cost },
			 { "{share}", ct_pct_text(report, f->time_lost_pct) }));
	report->verdict.cause = ct_note_text(report, CT_NOTE_CORES_ARE_CHANCE, CT_NO_WORDS);
}

/* Further facts about the run, after the finding. */
static void conclude_rest(struct choice *c)
{
	const struct ct_finding *beside[] = { c->uneven, c->slow_op };

	for (int i = 0; i < 2; i++) {
		if (beside[i] && beside[i]->time_lost_pct > c->chosen->time_lost_pct)
			ct_verdict_mention(c->report, ct_finding_in_short(beside[i], c->report));
	}
	add_oversubscribed(c);
	ct_verdict_add(c->report, ct_ends_text(c->report));
	ct_verdict_add(c->report, c->lacks);
}

static void conclude_exposed(struct choice *c)
{
	const struct ct_finding *beside = heavier(heavier(c->named, c->change), c->slow_op);
	struct ct_report *report = c->report;

	c->chosen = c->exposed;
	ct_verdict_exposed(c->exposed, report);
	if (beside)
		ct_verdict_mention(report, ct_finding_in_short(beside, report));
	if (beside && beside == c->named)
		ct_verdict_note(report, CT_NOTE_SLOW_RANK_BELOW, CT_NO_WORDS);
	if (c->late_pct > 0)
		note_late(c);
	if (c->waited.pct > 0)
		ct_verdict_add(report, ct_waited_in_short(&c->waited, report));
	ct_verdict_add(report, c->lacks);
}

/* Time is lost, but no rank is named. A stall may also be a late start: its text says more. */
static void conclude_lost(struct choice *c)
{
	struct ct_report *report = c->report;

	if (c->slow_op && c->slow_op->time_lost_pct >= fmax(c->waited.pct, c->late_pct)) {
		c->chosen = c->slow_op;
		ct_verdict_of_finding(c->slow_op, report);
	} else if (c->waited.pct > 0 && c->late_pct <= c->waited.pct + 100 * CT_WORTH_REPORTING) {
		ct_verdict_waited(c->j, &c->waited, c->lacks, report);
		add_oversubscribed(c);
		return;
	} else {
		report->verdict.gain_max_pct = c->late_pct;
		ct_verdict_say(report,
			       report->run.timing == CT_TIMING_EVENTS
				       ? CT_SAYS_LATE_OR_SLOW_BY_EVENTS
				       : CT_SAYS_LATE_OR_SLOW,
			       CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{n}", ct_text_count(c->j->late_or_slow->n).s },
					{ "{share}", ct_pct_text(report, c->late_pct) }));
		if (c->waited.pct > 0)
			ct_verdict_add(report, ct_waited_in_short(&c->waited, report));
		add_oversubscribed(c);
	}
	ct_verdict_add(report, c->lacks);
}

/* No finding means little where many operations lack members, so that their waits are unknown,
 * where steps took longer that were not examined one by one, or where ranks are inside operations
 * at the end of a run without recorded exits. Returns whether a text was added. */
static int conclude_unproven(struct choice *c)
{
	struct ct_report *report = c->report;
	const struct ct_model *model = c->j->model;
	uint64_t all = model->matched + model->messages + model->incomplete;
	uint64_t open = ct_open_unexplained(report);
	double kept_ns, others_ns;

	if (2 * open >= report->run.ranks_seen && open)
		ct_verdict_say(report, CT_SAYS_UNFINISHED, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{operations}",
					  ct_counted(report, open, "operation", "operations") }));
	else if (model->incomplete > CT_MOSTLY * (double)all)
		ct_verdict_say(report, CT_SAYS_INCOMPLETE, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{n}", ct_text_count(model->incomplete).s },
					{ "{all}", ct_text_count(all).s }));
	else if (ct_steps_hide(c->j->steps, CT_LEAST_GAIN, &kept_ns, &others_ns))
		ct_verdict_say(report, CT_SAYS_STEPS_NOT_SAMPLED, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{n}", ct_text_count(c->j->steps->n_kept).s },
					{ "{all}", ct_text_count(c->j->steps->n).s },
					{ "{kept}", ct_prose_ns((uint64_t)kept_ns).s },
					{ "{others}", ct_prose_ns((uint64_t)others_ns).s }));
	else
		return 0;
	return 1;
}

/* Without a replay, equally slow ranks hide each other: waits that no single rank caused may be
 * theirs. */
static int conclude_unplayed_waits(struct choice *c)
{
	struct ct_report *report = c->report;
	const char *share = ct_pct_text(report, ct_gain_wait_pct(report));

	if (!(ct_gain_wait_pct(report) > CT_NOTABLE_PCT))
		return 0;
	if (*c->lacks) {
		ct_verdict_say(report, CT_SAYS_LACKING_WAITS, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{lacks}", c->lacks }, { "{share}", share },
					{ "{remedy}", ct_remedy_of_lacking(report) }));
		return 1;
	}
	ct_verdict_say(report,
		       c->j->replay->engine.has_graphs ? CT_SAYS_WAITS_IN_GRAPHS : CT_SAYS_WAITS,
		       CT_CONFIDENCE_NONE, CT_WORDS({ "{share}", share }));
	ct_verdict_note(report, CT_NOTE_ORDER_UNKNOWN, CT_NO_WORDS);
	add_oversubscribed(c);
	return 1;
}

/* Stages of a pipeline wait because of its schedule. A rank hidden in the bubble may cause the
 * rest. Returns whether a text was added. */
static int conclude_bubble(struct choice *c)
{
	struct ct_report *report = c->report;
	double wait = ct_gain_wait_pct(report), ideal = ct_gain_bubble_pct(report);
	const struct ct_replay_judgement *r = c->j->replay;
	double beyond = wait - 100 * fmax(0, r->uneven.ns) / r->engine.played;

	if (!(beyond - (isnan(ideal) ? 0 : ideal) > CT_NOTABLE_PCT))
		return 0;
	ct_verdict_say(report, isnan(ideal) ? CT_SAYS_BUBBLE_UNKNOWN : CT_SAYS_BUBBLE,
		       CT_CONFIDENCE_NONE,
		       CT_WORDS({ "{share}", ct_pct_text(report, wait) },
				{ "{ideal}", ct_prose_pct(ideal).s }));
	return 1;
}

/* Without a slow rank the run is still not healthy if ranks wait for each other. Returns whether a
 * text was added. */
static int conclude_waits(struct choice *c)
{
	const struct ct_engine *e = &c->j->replay->engine;
	double share = ct_replay_unexplained(c->j->replay);

	if (e->under_messages > CT_MOST_UNDER_MESSAGES)
		ct_verdict_say(c->report, CT_SAYS_NOT_REPLAYED, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{why}", e->why_not }));
	else if (e->has_graphs)
		ct_verdict_say(c->report, CT_SAYS_GRAPHS, CT_CONFIDENCE_NONE, CT_NO_WORDS);
	else if (e->why_not)
		return conclude_unplayed_waits(c);
	else if (e->stages.n > 1)
		return conclude_bubble(c);
	else if (share > 0)
		ct_verdict_say(c->report, CT_SAYS_WAITS, CT_CONFIDENCE_NONE,
			       CT_WORDS({ "{share}", ct_pct_text(c->report, 100 * share) }));
	else
		return 0;
	return 1;
}

static void conclude_healthy(struct choice *c)
{
	const struct ct_model *model = c->j->model;
	struct ct_report *report = c->report;
	uint64_t open = ct_open_unexplained(report);
	const struct ct_engine *e = &c->j->replay->engine;

	ct_verdict_healthy(model, !e->why_not && e->stages.n > 1, report);
	if (*c->lacks) {
		ct_verdict_add(report, c->lacks);
		if (report->verdict.confidence == CT_CONFIDENCE_HIGH)
			report->verdict.confidence = CT_CONFIDENCE_MEDIUM;
		if (model->incomplete > model->matched + model->messages)
			report->verdict.confidence = CT_CONFIDENCE_LOW;
	}
	if (open) {
		report->verdict.confidence = CT_CONFIDENCE_LOW;
		ct_verdict_add(report, ct_open_text(report, open));
	}
}

static void conclude_nothing_found(struct choice *c)
{
	struct ct_report *report = c->report;
	double lost = fmax(c->waited.pct, c->late_pct);

	if (c->slow_op)
		lost = fmax(lost, c->slow_op->time_lost_pct);
	if (c->exposed && !(lost > c->exposed->time_lost_pct))
		conclude_exposed(c);
	else if (lost > 0)
		conclude_lost(c);
	else if (report->run.timed_ratio < CT_NEARLY_ALL)
		ct_verdict_say(
			report, CT_SAYS_FEW_TIMED, CT_CONFIDENCE_NONE,
			CT_WORDS({ "{timed}", ct_prose_pct(100 * report->run.timed_ratio).s }));
	else if (!conclude_unproven(c) && !conclude_waits(c))
		conclude_healthy(c);
}

/* Too little evidence, as was said; but it may show which of the recorded ranks arrive last. */
static void conclude_missing(struct choice *c, const char *ends)
{
	struct ct_report *report = c->report;
	const char *last = ct_last_arrivals_text(c->j, report);

	if (*last) {
		ct_verdict_say(report, CT_SAYS_LACKING_LAST, CT_CONFIDENCE_LOW,
			       CT_WORDS({ "{lacks}", c->lacks },
					{ "{remedy}", ct_remedy_of_lacking(report) }));
	} else if (!*c->lacks) {
		last = ct_waited_last_text(c->j, &c->waited, report);
	}
	ct_verdict_add(report, last);
	ct_verdict_add(report, ends);
}

/* 0 or CT_NOMEM. */
static int choose(struct choice *c)
{
	const struct ct_model *model = c->j->model;
	struct ct_report *report = c->report;
	struct ct_stuck_sum stuck;
	uint32_t processes[2];
	const char *ends;
	int st;

	ct_stuck_sum(model, &stuck);
	report->n_stuck = stuck.all;
	report->verdict.gain_max_pct = NAN;
	st = ct_two_jobs(model, processes);
	if (st < 0)
		return st;
	ends = ct_ends_text(report);
	if (st > 0) {
		ct_verdict_two_jobs(model, processes, report);
	} else if (c->hung) {
		/* the operation that ranks wait in is the one that `hang` names, whatever else was
		 * found */
		ct_verdict_hung(c->hung, report);
	} else if (c->order || leader(c)) {
		c->chosen = c->order ? c->order : leader(c);
		if (may_be_chance(c, c->chosen))
			conclude_chance(c->chosen, report);
		else
			ct_verdict_of_finding(c->chosen, report);
		/* these losses are separate from each other */
		if (c->chosen->is_replayed)
			report->verdict.gain_max_pct = fmax(c->chosen->time_lost_pct,
							    c->replayed_pct);
		if (!c->order)
			conclude_rest(c);
	} else if (stuck.all) {
		ct_verdict_unclear(report, &stuck);
	} else if (ct_verdict_missing(model, report)) {
		conclude_missing(c, ends);
	} else if (*ends || ct_ends_unseen(report)) {
		ct_verdict_unclear(report, &stuck);
	} else {
		conclude_nothing_found(c);
	}
	return CT_OK;
}

/* ---- the list ---- */

/* Missing records, and those that were left out on purpose, might have changed the result. */
static int may_differ(const struct ct_report *report)
{
	return !report->run.complete || report->run.left_out_ns;
}

static void doubt(struct ct_findings *list, const struct ct_report *report)
{
	for (size_t i = 0; i < list->n && may_differ(report); i++) {
		struct ct_finding *f = &list->all[i];

		if (f->time_lost_ns != CT_UNKNOWN && f->confidence == CT_CONFIDENCE_HIGH)
			f->confidence = CT_CONFIDENCE_MEDIUM;
	}
}

/* Numbers the verdict's finding first, then the others by cost. */
static int take_finding(const struct ct_findings *list, const struct ct_finding *chosen,
			struct ct_report *report)
{
	size_t most = list->n < MOST_FINDINGS ? list->n : MOST_FINDINGS, n = 0;

	report->findings = ct_arena_calloc(report->memory, most + 1, sizeof(*report->findings));
	if (!report->findings)
		return CT_NOMEM;
	if (chosen)
		report->findings[n++] = *chosen;
	ct_verdict_conclude(report, chosen ? report->findings : NULL);
	for (size_t i = 0; i < list->n && n < most; i++) {
		if (&list->all[i] != chosen)
			report->findings[n++] = list->all[i];
	}
	for (size_t i = 0; i < n; i++)
		report->findings[i].id = (int)i + 1;
	report->n_findings = n;
	report->findings_left_out = list->n - n;
	return CT_OK;
}

int ct_verdict_fill(const struct ct_judgement *j, struct ct_findings *list,
		    struct ct_report *report)
{
	struct choice c = { .j = j, .report = report };
	int st;

	ct_one_cause(list);
	if (list->n)
		qsort(list->all, list->n, sizeof(*list->all), ct_finding_order);
	doubt(list, report);
	for (size_t i = 0; i < list->n; i++)
		ct_headline(&list->all[i], report);
	st = gather(&c, list);
	st = st ?: choose(&c);
	/* a hang is judged by the sums of all operations, too */
	if (report->run.left_out_ns && !c.hung && report->verdict.confidence == CT_CONFIDENCE_HIGH)
		report->verdict.confidence = CT_CONFIDENCE_MEDIUM;
	return st ?: take_finding(list, c.chosen, report);
}
