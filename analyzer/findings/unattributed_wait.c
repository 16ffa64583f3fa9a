/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/unattributed_wait.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/weigh.h"
#include "trace/ops.h"

/* Times the gate: what a rank is charged with while the rule does not hold, or one stall costs; and what others wait for a
 * rank in one row of the report, whosever doing that was, or stalls of several ranks cost together. */
#define SUSPICIOUS 3
#define SUSPICIOUS_ROW 5
/* Of the run, in which a rank waited in messages of which it is not known who held up whom, times the gate. */
#define SUSPICIOUS_MESSAGES 10
/* Of the ends of messages that lie in windows which were judged: with fewer, they tell not who held up whom. */
#define LEAST_FOLLOWED 0.9
#define OFTEN 3 /* once or twice is a late start, or an accident */

/* Of the time of all stalls, for the longest one to be all there is to say. */
#define NEARLY_ALL 0.8
/* A single stall has its rank told if there was no other, and it is as long and no less than two cycles: shorter ones every
 * machine has, and one of several may hit anybody. */
#define LEAST_TOLD_NS 200e6
/* Who stands out costs so many times what the next one does, and was last more often than chance (log10). */
#define STANDS_OUT 2.0
#define CHANCE (-5.0)

/* ---- how much ---- */

/* What the others waited for the seat: what it is charged with, or a row of the report if that is more. *much: it is worth
 * telling. */
static uint64_t cost_of(const struct ct_judgement *j, uint32_t seat, int *is_charge, int *much)
{
	double gate = (double)j->model->duration_ns * CT_BLAME_GATE_PCT / 100;
	uint64_t chance = ct_blame_chance(&j->late->blame, seat);
	uint64_t row, cost = j->charges[seat].loss_ns;

	*is_charge = 1;
	*much = 0;
	if (chance == UINT64_MAX || j->charges[seat].is_cleared)
		return 0;
	*much = (double)cost - (double)chance >= SUSPICIOUS * gate;
	ct_classes_costliest(&j->model->classes, seat, OFTEN, &row);
	if ((double)row - (double)chance >= SUSPICIOUS_ROW * gate && row > cost) {
		*is_charge = *much;
		*much = 1;
		cost = row;
	}
	return cost;
}

static int is_one_stall(const struct ct_stalled *s)
{
	return s->n && (double)s->longest_ns >= NEARLY_ALL * (double)s->sum_ns;
}

static void add_stalls(const struct ct_judgement *j, struct ct_waited *w)
{
	double least = is_one_stall(&w->stalled) ? SUSPICIOUS : SUSPICIOUS_ROW;
	double stalls = w->stalled.of ? (double)w->stalled.sum_ns / ct_hits_share(j->hits) : 0;

	if (stalls > (double)w->ns &&
	    100 * stalls >= least * CT_BLAME_GATE_PCT * (double)j->model->duration_ns)
		w->ns = (uint64_t)stalls;
}

/* Did ranks mostly wait in messages, of which neither windows (lateness/windows.h) nor a replay tell who held up whom? */
static int waits_unfollowed(const struct ct_lateness *late, const struct ct_report *report)
{
	uint64_t messages = late->model->messages - late->model->to_self, all = 0, in_messages = 0;

	if (!isnan(report->whatif.balance_ratio) ||
	    (double)late->window.followed >= LEAST_FOLLOWED * 2 * (double)messages)
		return 0;
	for (uint32_t c = 0; c < late->model->classes.n; c++) {
		const struct ct_class *class = late->model->classes.all[c];

		all += class->wait_ns;
		if (class->op && ct_op_class(class->op) == CT_CLASS_P2P)
			in_messages += class->wait_ns;
	}
	return 2 * in_messages > all;
}

static void add_messages(const struct ct_judgement *j, const struct ct_report *report,
			 struct ct_waited *w)
{
	double least = SUSPICIOUS_MESSAGES * CT_BLAME_GATE_PCT / 100 *
		       (double)j->model->duration_ns;

	if (!waits_unfollowed(j->late, report))
		return;
	for (uint32_t s = 0; s < j->model->n_seats; s++) {
		uint64_t waited = j->model->seats[s].waited.total;

		/* streams wait for messages by the schedule of their pipeline */
		if (j->model->seats[s].timing != CT_TIMING_CALL || (double)waited < least ||
		    waited <= w->ns)
			continue;
		w->ns = waited;
		w->in_messages = 1;
	}
}

int ct_waited_find(const struct ct_judgement *j, const struct ct_report *report,
		   struct ct_waited *w)
{
	double run = (double)j->model->duration_ns;
	int st;

	*w = (struct ct_waited){ .seat = CT_STALLED_NOBODY };
	st = ct_stalled_find(j->cycles, j->hits, j->model->n_seats, &w->stalled);
	if (st != CT_OK || run <= 0)
		return st;
	for (uint32_t s = 0; s < j->model->n_seats; s++) {
		int is_charge, much;
		uint64_t cost = cost_of(j, s, &is_charge, &much);

		if (!much || cost <= w->ns)
			continue;
		w->ns = cost;
		w->seat = s;
		w->is_charge = is_charge;
	}
	add_stalls(j, w);
	add_messages(j, report, w);
	w->pct = 100 * (double)w->ns / run;
	return CT_OK;
}

/* ---- what is said of it ---- */

/* Is most of it a few stalls, and of how many ranks? */
static int is_stalls(const struct ct_waited *w)
{
	return w->stalled.n && 2 * w->stalled.sum_ns >= w->ns;
}

/* Does the seat stand out among all others? By what it is charged with only: a row holds what others caused. */
static int stands_out(const struct ct_judgement *j, const struct ct_waited *w)
{
	uint64_t next = 0;

	if (w->seat >= j->model->n_seats || !w->is_charge ||
	    ct_verdict_is_contradicted(j->model, w->seat))
		return 0;
	for (uint32_t s = 0; s < j->model->n_seats; s++) {
		if (s != w->seat && j->charges[s].loss_ns > next)
			next = j->charges[s].loss_ns;
	}
	return (double)j->charges[w->seat].loss_ns >= STANDS_OUT * (double)next &&
	       j->charges[w->seat].recurs.log10_p + log10(ct_lateness_ranks_met(j->late)) < CHANCE;
}

static int say(struct ct_report *report, const char *text)
{
	return ct_verdict_say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE, text);
}

/* One stall is most of it: what was seen, and no blame. */
static int say_one_stall(const struct ct_judgement *j, const struct ct_waited *w,
			 struct ct_report *report)
{
	const struct ct_stalled *s = &w->stalled;
	double pct = 100 * (double)s->longest_ns / (double)j->model->duration_ns;
	const char *by = "";

	if (s->n == 1 && s->longest_seat < j->model->n_seats &&
	    (double)s->longest_ns >= LEAST_TOLD_NS && s->longest_ns >= 2 * j->cycles->median_ns)
		by = ct_arena_printf(report->memory, " by rank %s",
				     ct_text_rank(j->model->seats[s->longest_seat].rank).s);
	if (!by)
		return CT_NOMEM;
	return say(report, ct_arena_printf(report->memory,
					   "one stall of %s at cycle %u%s (%s of the run): once is "
					   "no pattern, and nobody is steadily late",
					   ct_text_ns(s->longest_ns).s, s->longest_cycle, by,
					   ct_text_pct(pct).s));
}

static int say_stalls(const struct ct_judgement *j, const struct ct_waited *w,
		      struct ct_report *report)
{
	const struct ct_stalled *s = &w->stalled;
	struct ct_arena *memory = report->memory;

	if (is_one_stall(s))
		return say_one_stall(j, w, report);
	if (ct_stalled_is_one(s, ct_lateness_ranks_met(j->late)))
		return say(report,
			   ct_arena_printf(memory,
					   "rank %s stalled in %u of %u cycles, up to %s each, %s "
					   "(%s) in all: too irregular to tell why",
					   ct_text_rank(j->model->seats[s->most_seat].rank).s,
					   s->most_n, s->of, ct_text_ns(s->longest_ns).s,
					   ct_text_ns(s->most_ns).s,
					   ct_text_pct(100 * (double)s->most_ns /
						       (double)j->model->duration_ns)
						   .s));
	if (s->seats < 2)
		return say(report, ct_arena_printf(memory,
						   "stalls in %u of %u cycles, up to %s each, %s "
						   "(%s) in all: who stalled they do not tell",
						   s->n, s->of, ct_text_ns(s->longest_ns).s,
						   ct_text_ns(w->ns).s, ct_text_pct(w->pct).s));
	return say(report,
		   ct_arena_printf(memory,
				   "stalls on %s%u ranks, none of them alone: in %u of %u cycles, "
				   "up to %s each, %s (%s) in all",
				   s->known_n < s->n ? "at least " : "", s->seats, s->n, s->of,
				   ct_text_ns(s->longest_ns).s, ct_text_ns(w->ns).s,
				   ct_text_pct(w->pct).s));
}

/* Which part of the rule does not hold (lateness/straggler.h). */
static const char *why_not(const struct ct_charge *charge)
{
	switch (charge->doubt) {
	case CT_DOUBT_SMALL:
		return "but the error is too large to blame it";
	case CT_DOUBT_STALLS:
		return "most of that in few cycles: too few to blame it";
	case CT_DOUBT_FEW:
	case CT_DOUBT_CHANCE:
		return "in too few cycles to blame it";
	case CT_DOUBT_NONE:
	case CT_DOUBT_OTHERS:
		break;
	}
	return "what held it up these times do not tell";
}

/* One rank stands out, though the rule does not hold. */
static int say_one_rank(const struct ct_judgement *j, const struct ct_waited *w,
			struct ct_report *report)
{
	int rank = j->model->seats[w->seat].rank;

	return say(report,
		   ct_arena_printf(report->memory, "others waited for rank %s, up to %s (%s), %s",
				   ct_text_rank(rank).s, ct_text_ns(w->ns).s, ct_text_pct(w->pct).s,
				   why_not(&j->charges[w->seat])));
}

/* Why the latest of them is not named. */
static const char *why_nobody(const struct ct_charge *latest)
{
	if (latest->doubt == CT_DOUBT_FEW)
		return "in too few cycles to tell who held up whom";
	return "none of them alone; who held up whom these times do not tell";
}

int ct_waited_say(const struct ct_judgement *j, const struct ct_waited *w, const char *lacks,
		  struct ct_report *report)
{
	const char *why = "none of them alone; who held up whom these times do not tell";

	report->verdict.gain_max_pct = w->pct;
	/* the stage before one without a trace seems to be late itself */
	if (*lacks)
		return say(report,
			   ct_arena_printf(report->memory,
					   "%s; ranks waited for each other, up to %s (%s), "
					   "and for whom is not known without the rest",
					   lacks, ct_text_ns(w->ns).s, ct_text_pct(w->pct).s));
	if (w->in_messages)
		return say(report,
			   ct_arena_printf(report->memory,
					   "ranks waited for each other's messages, up to %s (%s); "
					   "who held up whom is not on record",
					   ct_text_ns(w->ns).s, ct_text_pct(w->pct).s));
	if (is_stalls(w))
		return say_stalls(j, w, report);
	if (stands_out(j, w))
		return say_one_rank(j, w, report);
	if (w->seat < j->model->n_seats)
		why = why_nobody(&j->charges[w->seat]);
	return say(report,
		   ct_arena_printf(report->memory, "ranks waited for each other, up to %s (%s), %s",
				   ct_text_ns(w->ns).s, ct_text_pct(w->pct).s, why));
}

const char *ct_waited_in_short(const struct ct_waited *w, struct ct_report *report)
{
	if (is_stalls(w))
		return ct_arena_printf(report->memory, "stalls in %u of %u cycles cost %s",
				       w->stalled.n, w->stalled.of, ct_text_pct(w->pct).s);
	return ct_arena_printf(report->memory, "ranks waited for each other, up to %s",
			       ct_text_pct(w->pct).s);
}
