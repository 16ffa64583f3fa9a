/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/unattributed_wait.h"

#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
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

static void add_last(const struct ct_judgement *j, struct ct_waited *w)
{
	uint32_t slot = ct_arrivals_latest(j->arrivals, j->model);
	uint64_t ns;

	if (!go_by_arrivals(j->replay) || slot == j->model->n_slots ||
	    (!j->replay->engine.why_not && j->replay->rows.is_like_peers[slot]))
		return;
	ns = j->arrivals->all[slot].alone_ns;
	if (100 * (double)ns < CT_WARNING_PCT * (double)j->model->duration_ns)
		return;
	w->ns = ns;
	w->slot = slot;
}

static int is_one_stall(const struct ct_stalled *s)
{
	return s->n && (double)s->longest_ns >= CT_ONE_STALL * (double)s->sum_ns;
}

static void add_stalls(const struct ct_judgement *j, struct ct_waited *w)
{
	double least = is_one_stall(&w->stalled) ? CT_WARNING_PCT : CT_NOTABLE_PCT;
	double stalls = w->stalled.of ? (double)w->stalled.sum_ns / ct_step_blame_share(j->blame)
				      : 0;

	if (2 * stalls >= (double)w->ns && 100 * stalls >= least * (double)j->model->duration_ns) {
		w->ns = stalls > (double)w->ns ? (uint64_t)stalls : w->ns;
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
	double least = CT_CRITICAL_PCT / 100 * (double)j->model->duration_ns;

	if (!waits_unfollowed(j->model, report))
		return;
	for (uint32_t s = 0; s < j->model->n_slots; s++) {
		uint64_t waited = j->model->slots[s].waited.total;

		/* streams wait for messages by the schedule of their pipeline */
		if (j->model->slots[s].timing != CT_TIMING_CALL || (double)waited < least ||
		    waited <= w->ns)
			continue;
		w->ns = waited;
		w->in_messages = 1;
		w->is_stalls = 0;
	}
}

int ct_waited_find(const struct ct_judgement *j, const struct ct_report *report,
		   struct ct_waited *w)
{
	double run = (double)j->model->duration_ns;
	int st;

	*w = (struct ct_waited){ .slot = CT_STALLED_UNKNOWN };
	st = ct_stalled_find(j->steps, j->blame, j->model->n_slots, &w->stalled);
	if (st != CT_OK || run <= 0)
		return st;
	add_last(j, w);
	add_stalls(j, w);
	add_messages(j, report, w);
	w->pct = 100 * (double)w->ns / run;
	return CT_OK;
}

/* ---- what is said of it ---- */

/* One stall is most of it: reports it without blame. */
static const char *one_stall_text(const struct ct_judgement *j, const struct ct_waited *w,
				  struct ct_report *report)
{
	const struct ct_stalled *s = &w->stalled;
	const char *by = "";

	if (s->n == 1 && s->longest_slot < j->model->n_slots &&
	    (double)s->longest_ns >= CT_ONE_STALL_NS && s->longest_ns >= 2 * j->steps->median_ns)
		by = ct_arena_printf(report->memory, " by rank %s",
				     ct_text_rank(j->model->slots[s->longest_slot].rank).s);
	return ct_arena_printf(report->memory,
			       "one stall of %s at step %u%s (%s); no rank is steadily late",
			       ct_prose_ns(s->longest_ns).s, j->steps->first + s->longest_step, by,
			       ct_share_text(report, s->longest_ns));
}

static const char *stalls_text(const struct ct_judgement *j, const struct ct_waited *w,
			       struct ct_report *report)
{
	const struct ct_stalled *s = &w->stalled;
	struct ct_arena *memory = report->memory;

	/* steps that were not examined may have had others */
	if (is_one_stall(s) && j->blame->n_kept == j->blame->n_steps)
		return one_stall_text(j, w, report);
	if (ct_stalled_is_one(s, j->model->n_slots))
		return ct_arena_printf(
			memory, "rank %s stalled in %u of %u steps, up to %s each, %s (%s) in all",
			ct_text_rank(j->model->slots[s->most_slot].rank).s, s->most_n, s->of,
			ct_prose_ns(s->longest_ns).s, ct_prose_ns(s->most_ns).s,
			ct_share_text(report, s->most_ns));
	if (s->slots < 2)
		return ct_arena_printf(memory,
				       "stalls in %u of %u steps, up to %s each, %s (%s) in all; "
				       "which rank stalled is not on record",
				       s->n, s->of, ct_prose_ns(s->longest_ns).s,
				       ct_prose_ns(w->ns).s, ct_share_text(report, w->ns));
	return ct_arena_printf(
		memory,
		"stalls on %s%u ranks, none in particular: in %u of %u steps, up to %s "
		"each, %s (%s) in all",
		s->known_n < s->n ? "at least " : "", s->slots, s->n, s->of,
		ct_prose_ns(s->longest_ns).s, ct_prose_ns(w->ns).s, ct_share_text(report, w->ns));
}

const char *ct_waited_last_text(const struct ct_judgement *j, const struct ct_waited *w,
				struct ct_report *report)
{
	const struct ct_arrival *of;

	if (w->slot == CT_STALLED_UNKNOWN)
		return "";
	of = &j->arrivals->all[w->slot];
	return ct_arena_printf(
		report->memory,
		"rank %s was last in %s of %s operations, and the others waited %s (%s) for it",
		ct_text_rank(j->model->slots[w->slot].rank).s, ct_text_count(of->last).s,
		ct_text_count(of->met).s, ct_prose_ns(w->ns).s, ct_share_text(report, w->ns));
}

/* Why not more is known of a rank that stands out. */
static const char *why_only_last(const struct ct_judgement *j, const struct ct_report *report)
{
	const struct ct_engine *e = &j->replay->engine;

	return e->why_not      ? report->whatif.reason
	       : e->has_graphs ? "CUDA graphs compute and communicate in one span"
			       : "the cause of waits is not known";
}

#define STALLS                                                                                     \
	"look for what ran at these steps: checkpoint, evaluation, garbage collection, cron "      \
	"jobs; "                                                                                   \
	"record more steps to see a pattern"
#define LAST "profile this rank between collectives; record more steps to judge it"

void ct_verdict_waited(const struct ct_judgement *j, const struct ct_waited *w, const char *lacks,
		       struct ct_report *report)
{
	report->verdict.gain_max_pct = w->pct;
	/* the stage before one without a trace seems to be late itself */
	if (*lacks)
		ct_verdict_doubt(report, ct_advice_on_lacking(report),
				 "%s; the rest waited for each other, at most %s (%s)", lacks,
				 ct_prose_ns(w->ns).s, ct_share_text(report, w->ns));
	else if (w->in_messages)
		ct_verdict_doubt(report,
				 "see who waits for whom in the timeline: commtrace timeline",
				 "ranks waited for each other's messages, at most %s (%s); which "
				 "rank delayed which is not on record",
				 ct_prose_ns(w->ns).s, ct_share_text(report, w->ns));
	else if (w->is_stalls)
		ct_verdict_doubt(report, STALLS, "%s", stalls_text(j, w, report));
	else
		ct_verdict_doubt(report, report->whatif.remedy ? report->whatif.remedy : LAST,
				 "%s; %s", ct_waited_last_text(j, w, report),
				 why_only_last(j, report));
}

const char *ct_waited_in_short(const struct ct_waited *w, struct ct_report *report)
{
	if (w->is_stalls)
		return ct_arena_printf(report->memory, "stalls in %u of %u steps cost %s",
				       w->stalled.n, w->stalled.of, ct_share_text(report, w->ns));
	return ct_arena_printf(report->memory, "ranks waited for each other, at most %s",
			       ct_share_text(report, w->ns));
}
