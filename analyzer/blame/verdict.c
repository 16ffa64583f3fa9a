/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/blame/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/blame/findings.h"
#include "analyzer/blame/gain.h"
#include "analyzer/blame/order_findings.h"
#include "analyzer/blame/stuck.h"
#include "analyzer/blame/two_jobs.h"
#include "analyzer/environment.h"
#include "analyzer/units.h"

/* In the report; the weightiest. */
#define MOST_FINDINGS 20u

/* Times the gate: what a rank is charged with while the rule does not hold, and what others wait for it in one row of
 * the report, whosever doing that was. */
#define SUSPICIOUS 3
#define SUSPICIOUS_ROW 5
#define OFTEN 3 /* once or twice is a late start, or an accident */

/* Ranks that could be suspected. */
static uint32_t ranks_met(const struct ct_pass *pass)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < pass->n_seats; s++)
		n += pass->blame.suspects[s].met > 0;
	return n;
}

/* Nobody lost more time by others' lateness than he stood waiting for communication in all: where that is known of
 * everybody who met the suspects (`in_set`, or the one seat), it bounds what they cost. */
static void bound_by_exposed(const struct ct_pass *pass, uint32_t seat, const uint8_t *in_set,
			     struct ct_charge *charge)
{
	uint64_t most = 0;
	int known = 0;

	for (uint32_t s = 0; s < pass->n_seats; s++) {
		struct ct_exposed sum;

		if (s == seat || (in_set && in_set[s]) || !pass->blame.suspects[s].met)
			continue;
		ct_pass_exposed(pass, s, &sum);
		if (!sum.is_known)
			return;
		known = 1;
		if (sum.exposed_ns + sum.err_ns > most)
			most = sum.exposed_ns + sum.err_ns;
	}
	if (!known)
		return;
	charge->has_hidden = 1;
	charge->most_ns = most;
	if (charge->loss_ns <= most)
		return;
	charge->hidden_ns = charge->loss_ns - most;
	charge->loss_ns = most;
	if (most <= charge->err_ns ||
	    (double)most < (double)pass->duration_ns * CT_BLAME_GATE_PCT / 100)
		charge->guilty = 0;
}

/* How much later than the others, in sum, somebody else must have come to speak against the suspects. */
#define CONTRADICTION 1.25

/* Who holds others up comes late in sum more than anybody whom he holds up. Is there somebody who came later than the
 * suspects (`in_set`, or the one seat)? Then it is not known who held up whom. */
static int is_contradicted(const struct ct_pass *pass, uint32_t seat, const uint8_t *in_set)
{
	double own = 0, n = 0, most = 0;

	for (uint32_t s = 0; s < pass->n_seats; s++) {
		const struct ct_seat *at = &pass->seats[s];
		double late = (double)at->lateness_ns;

		if (in_set ? in_set[s] : s == seat) {
			own += late;
			n++;
		} else if (at->judged && late - (double)at->err_ns > most) {
			most = late - (double)at->err_ns;
		}
	}
	return n > 0 && most > CONTRADICTION * own / n;
}

/* Of the ends of messages that lie in windows which were judged. */
#define LEAST_FOLLOWED 0.9

/* Who waits for a message may be held up in ways that were not followed: where there are such messages, a loss has to
 * stand out more clearly. */
static int is_clear(const struct ct_pass *pass, const struct ct_charge *charge)
{
	uint64_t messages = pass->messages - pass->to_self;

	return (double)pass->followed >= LEAST_FOLLOWED * 2 * (double)messages ||
	       charge->loss_ns >= 2 * charge->err_ns;
}

int ct_verdict_weigh(const struct ct_pass *pass, struct ct_charge *charges)
{
	double family = ranks_met(pass);

	for (uint32_t s = 0; s < pass->n_seats; s++) {
		uint64_t chance = ct_blame_chance(&pass->blame, s, NULL);

		if (chance == UINT64_MAX)
			return CT_NOMEM;
		ct_blame_weigh(&pass->blame.suspects[s], pass->duration_ns, chance, family,
			       &charges[s]);
		bound_by_exposed(pass, s, NULL, &charges[s]);
		if (charges[s].guilty &&
		    (!is_clear(pass, &charges[s]) || is_contradicted(pass, s, NULL)))
			charges[s].guilty = 0;
	}
	return CT_OK;
}

/* Does the set explain what its members cost better than each of them alone? */
static int weigh_set(const struct ct_pass *pass, const struct ct_charge *charges,
		     const struct ct_set_result *set, struct ct_charge *charge)
{
	double n = ranks_met(pass), k = set->size;
	/* Sets of this size that there could have been. */
	double family = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
	uint64_t chance = ct_blame_chance(&pass->blame, pass->n_seats, set->in_set);
	uint64_t best = 0;

	ct_blame_weigh(&set->blame->set, pass->duration_ns, chance, family, charge);
	bound_by_exposed(pass, pass->n_seats, set->in_set, charge);
	if (charge->guilty &&
	    (!is_clear(pass, charge) || is_contradicted(pass, pass->n_seats, set->in_set)))
		charge->guilty = 0;
	charge->replayed = set->replayed;
	ct_charge_settle(charge, pass->duration_ns);
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		if (set->in_set[s] && charges[s].guilty && charges[s].loss_ns > best)
			best = charges[s].loss_ns;
	}
	return charge->guilty && (double)charge->loss_ns > 1.25 * (double)best;
}

/* Launches of CUDA graphs that the recorder could not follow move on no order: from then on the numbers of a rank's
 * operations are not those of the others. */
static uint64_t order_lost(const struct ct_pass *pass)
{
	uint64_t n = 0;

	for (size_t p = 0; p < pass->run->n_processes; p++)
		if (pass->processes[p].read)
			n += pass->processes[p].gaps.losses[CT_LOSS_GRAPH_LOST];
	return n;
}

int ct_verdict_collect(const struct ct_pass *pass, const struct ct_charge *charges,
		       const struct ct_set_result *set, const struct ct_report *report,
		       struct ct_findings *list)
{
	struct ct_charge together = { 0 };
	int ordered = order_lost(pass) == 0;
	int use_set = ordered && set->in_set && weigh_set(pass, charges, set, &together);
	int losses = 0;
	int st = CT_OK;

	if (ordered)
		st = ct_order_findings(pass, list);
	if (st == CT_OK && use_set)
		st = ct_finding_set(pass, set->blame, &together, list);
	for (uint32_t s = 0; s < pass->n_seats && st == CT_OK; s++) {
		if (ordered && charges[s].guilty && !(use_set && set->in_set[s]))
			st = ct_finding_straggler(pass, s, &charges[s], list);
	}
	for (size_t i = 0; i < report->n_losses; i++)
		losses |= report->losses[i].is_loss_of_records;
	if (st == CT_OK && losses)
		st = ct_finding_losses(pass, report, list);
	return st == CT_OK ? ct_finding_environment(report, list) : st;
}

/* The weightiest of the list, numbered. */
static int take(struct ct_findings *list, struct ct_report *report)
{
	size_t n = list->n < MOST_FINDINGS ? list->n : MOST_FINDINGS;

	report->findings = ct_arena_calloc(report->memory, n + 1, sizeof(*report->findings));
	if (!report->findings)
		return CT_NOMEM;
	if (list->n)
		qsort(list->all, list->n, sizeof(*list->all), ct_finding_order);
	report->n_findings = n;
	report->findings_left_out = list->n - n;
	for (size_t i = 0; i < n; i++) {
		struct ct_finding *f = &report->findings[i];

		*f = list->all[i];
		f->id = (int)i + 1;
		/* what is not on record could have told otherwise */
		if (!report->run.complete && f->loss_ns != CT_UNKNOWN &&
		    f->confidence == CT_CONFIDENCE_HIGH)
			f->confidence = CT_CONFIDENCE_MEDIUM;
	}
	return CT_OK;
}

/* ---- the sentence ---- */

static int say(struct ct_report *report, enum ct_verdict_code code, enum ct_confidence confidence,
	       const char *text)
{
	report->verdict.code = code;
	report->verdict.confidence = confidence;
	report->verdict.text = text;
	return text ? CT_OK : CT_NOMEM;
}

static int say_straggler(const struct ct_pass *pass, const struct ct_finding *f,
			 struct ct_report *report)
{
	const char *ranks = ct_ranks_text(report->memory, f->ranks, f->n_ranks, 8);
	const char *host = ct_host_word(report->memory, f->hosts[0]);
	const char *text;

	if (!ranks || !host)
		return CT_NOMEM;
	report->verdict.gain_max_pct = f->loss_pct;
	if (f->n_ranks == 1)
		text = ct_arena_printf(
			report->memory,
			"rank %s on %s keeps the others waiting: %s%s ± %s of %s (%s)", ranks, host,
			f->at_most ? "up to " : "", ct_text_ns(f->loss_ns).s,
			ct_text_ns(f->loss_err_ns).s, ct_text_ns(pass->duration_ns).s,
			ct_text_pct(f->loss_pct).s);
	else
		text = ct_arena_printf(report->memory,
				       "ranks %s%s%s keep the others waiting: %s%s ± %s of %s (%s)",
				       ranks, f->n_hosts == 1 ? " on " : "",
				       f->n_hosts == 1 ? host : "", f->at_most ? "up to " : "",
				       ct_text_ns(f->loss_ns).s, ct_text_ns(f->loss_err_ns).s,
				       ct_text_ns(pass->duration_ns).s, ct_text_pct(f->loss_pct).s);
	if (text && f->at_most && !f->is_bounded)
		text = ct_arena_printf(report->memory,
				       "%s; how much of it computing hid is not known", text);
	return say(report, CT_VERDICT_STRAGGLER, f->confidence, text);
}

static int say_slow_link(const struct ct_pass *pass, const struct ct_finding *f,
			 struct ct_report *report)
{
	const char *ranks = ct_ranks_text(report->memory, f->ranks, f->n_ranks, 8);

	if (!ranks)
		return CT_NOMEM;
	report->verdict.gain_max_pct = f->loss_pct;
	return say(report, CT_VERDICT_SLOW_LINK, f->confidence,
		   ct_arena_printf(
			   report->memory,
			   "%s rank%s %s: transfers are slow, up to %s ± %s of %s (%s)%s",
			   f->confidence == CT_CONFIDENCE_LOW ? "one of, or between," : "at",
			   f->n_ranks == 1 ? "" : "s", ranks, ct_text_ns(f->loss_ns).s,
			   ct_text_ns(f->loss_err_ns).s, ct_text_ns(pass->duration_ns).s,
			   ct_text_pct(f->loss_pct).s,
			   f->is_bounded ? "" : "; how much of it computing hid is not known"));
}

static int say_order(const struct ct_finding *f, struct ct_report *report)
{
	return say(report,
		   f->kind == CT_FINDING_UNEVEN_INPUT ? CT_VERDICT_UNEVEN_INPUT
						      : CT_VERDICT_MISMATCH,
		   f->confidence, ct_order_sentence(report->memory, f));
}

/* Why there is nothing to judge by; NULL if there is. */
static const char *what_is_missing(const struct ct_pass *pass, const struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	unsigned long long matched = pass->matched;

	if (pass->ops == 0)
		return "no communication was recorded";
	if (order_lost(pass))
		return ct_arena_printf(memory,
				       "%llu operations in CUDA graphs or their launches could not "
				       "be followed, so it is not known which operations of the "
				       "ranks belong together",
				       (unsigned long long)order_lost(pass));
	if (pass->matched >= CT_VERDICT_MIN_MATCHED)
		return NULL;
	if (report->run.timing == CT_TIMING_HOST && pass->matched == 0 && pass->time_err.n == 0)
		return "only ends were timed";
	if (report->run.timing_why && report->run.timing == CT_TIMING_OFF)
		return ct_arena_printf(memory, "nothing was timed (%s)", report->run.timing_why);
	if (report->run.ranks_untimed)
		return ct_arena_printf(memory,
				       "%llu of %llu ranks were not timed (timing off), so too few "
				       "operations have times on every rank",
				       (unsigned long long)report->run.ranks_untimed,
				       (unsigned long long)report->run.ranks_seen);
	if (report->run.n_missing)
		return ct_arena_printf(
			memory,
			"only %llu of %llu ranks left a trace, so too few operations are whole",
			(unsigned long long)report->run.ranks_seen,
			(unsigned long long)report->run.ranks_expected);
	if (pass->n_seats == 1)
		return "one rank only: there was nobody to wait for";
	if (pass->messages > pass->matched)
		return "only point-to-point messages: nobody is judged by those in this version";
	if (pass->incomplete > pass->matched)
		return ct_arena_printf(memory, "records are missing: %llu operations lack members",
				       (unsigned long long)pass->incomplete);
	return ct_arena_printf(
		memory, "only %llu operations with times on every rank, at least %u are needed",
		matched, CT_VERDICT_MIN_MATCHED);
}

/* Of launches that have a time. With fewer, nobody's gaps are whole, and lateness does not show. */
#define LEAST_TIMED 0.9

/* What of exposed communication is worth a verdict. */
static const struct ct_finding *much_exposed(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		if (f->severity < CT_SEVERITY_WARN && f->kind != CT_FINDING_BUCKETS)
			continue;
		if (f->kind == CT_FINDING_BUCKETS || f->kind == CT_FINDING_EXPOSED_COMM ||
		    f->kind == CT_FINDING_COMM_SHARE)
			return f;
	}
	return NULL;
}

/* Could it all be hidden? Not where moving the data takes longer than computing does: the rest stays however well the two
 * overlap. What is waited for others is no part of it. */
static int say_exposed(const struct ct_finding *f, struct ct_report *report)
{
	const struct ct_report_exposed *e = &report->exposed;
	double computing = 100 - e->share_pct, stays = e->transferring_pct - computing;
	int bound = f->kind != CT_FINDING_BUCKETS && stays - e->err_pct >= CT_VERDICT_COMM_PCT;

	report->verdict.gain_max_pct = f->loss_pct;
	if (bound)
		return say(report, CT_VERDICT_COMM_BOUND, f->confidence,
			   ct_arena_printf(report->memory,
					   "data moves for %s of the time and computing takes %s: "
					   "however well hidden, %s±%s would stay exposed at this "
					   "speed; %s are now, %s of the time waiting for others",
					   ct_text_pct(e->transferring_pct).s,
					   ct_text_pct(computing).s, ct_text_pct(stays).s,
					   ct_text_pct(e->err_pct).s, ct_text_pct(e->share_pct).s,
					   ct_text_pct(e->wait_pct).s));
	return say(report, CT_VERDICT_POOR_OVERLAP, f->confidence,
		   ct_arena_printf(report->memory,
				   "ranks stand waiting for communication for %s±%s of the time "
				   "(%s); at most %s would be saved",
				   ct_text_pct(e->share_pct).s, ct_text_pct(e->err_pct).s, f->cause,
				   ct_text_pct(f->loss_pct).s));
}

static int say_healthy(const struct ct_pass *pass, struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const struct ct_finding *exposed;
	double share = report->run.comm_share_pct, most = ct_gain_exposed_pct(report), wait;
	double gain = ct_gain_pct(report);
	const char *text, *coarse = ct_gain_why_not(report);

	if (report->run.timed_ratio < LEAST_TIMED)
		return say(
			report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE,
			ct_arena_printf(memory,
					"nobody was found late, but only %s of the launches were "
					"timed; COMMTRACE_SAMPLE=1 COMMTRACE_BUDGET=off times all",
					ct_text_pct(100 * report->run.timed_ratio).s));
	if (coarse)
		return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE, coarse);
	exposed = much_exposed(report);
	if (exposed)
		return say_exposed(exposed, report);
	if (most < CT_VERDICT_COMM_PCT) {
		report->verdict.gain_max_pct = most;
		return say(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_HIGH,
			   ct_arena_printf(
				   report->memory,
				   "exposed at most %s: no rank stood waiting for communication "
				   "for longer; look elsewhere",
				   ct_text_pct(most).s));
	}
	if (!isnan(share) && share < CT_VERDICT_COMM_PCT) {
		report->verdict.gain_max_pct = share;
		return say(report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_HIGH,
			   ct_arena_printf(report->memory,
					   "no rank spent more than %s of %s inside communication",
					   ct_text_pct(share).s, ct_text_ns(pass->duration_ns).s));
	}
	report->verdict.gain_max_pct = gain;
	wait = ct_gain_wait_pct(report);
	/* what has less of it by itself was told above */
	if (gain < CT_VERDICT_COMM_PCT && wait < CT_VERDICT_COMM_PCT)
		return say(
			report, CT_VERDICT_NOT_COMMUNICATION, CT_CONFIDENCE_MEDIUM,
			ct_arena_printf(memory,
					"played again without any communication the run takes at "
					"most %s less; look elsewhere",
					ct_text_pct(gain).s));
	text = ct_arena_printf(memory,
			       "no rank steadily costs the others 1 %% of the run, judged by %s "
			       "operations",
			       ct_text_count(pass->matched).s);
	if (text && !(gain < share) && isnan(ct_gain_exposed_pct(report)))
		text = ct_arena_printf(memory,
				       "%s; how much of the %s in communication computing hides is "
				       "not known",
				       text, ct_text_pct(share).s);
	else if (text && !isnan(gain))
		text = ct_arena_printf(memory, "%s; without communication at most %s faster", text,
				       ct_text_pct(gain).s);
	if (text && gain < CT_VERDICT_COMM_PCT && wait >= CT_VERDICT_COMM_PCT)
		text = ct_arena_printf(memory,
				       "%s, but ranks wait for each other for %s of the time", text,
				       ct_text_pct(wait).s);
	return say(report, CT_VERDICT_HEALTHY,
		   report->run.complete ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM, text);
}

/* Somebody for whom others waited longer than in a healthy run, though the rule does not hold: charged with more
 * than the gate, or with less because it may not have been its own doing. n_seats: nobody. */
static uint32_t suspicious(const struct ct_pass *pass, const struct ct_charge *charges,
			   uint64_t *cost_ns)
{
	double gate = (double)pass->duration_ns * CT_BLAME_GATE_PCT / 100;
	uint32_t worst = pass->n_seats;

	*cost_ns = 0;
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		uint64_t chance = ct_blame_chance(&pass->blame, s, NULL);
		uint64_t row, cost = charges[s].loss_ns;
		int much = chance != UINT64_MAX &&
			   (double)cost - (double)chance >= SUSPICIOUS * gate;

		if (charges[s].is_cleared)
			continue;
		ct_classes_costliest(&pass->classes, s, OFTEN, &row);
		if ((double)row - (double)chance >= SUSPICIOUS_ROW * gate) {
			cost = row > cost ? row : cost;
			much = chance != UINT64_MAX;
		}
		if (much && cost > *cost_ns) {
			worst = s;
			*cost_ns = cost;
		}
	}
	return worst;
}

static int say_suspicious(const struct ct_pass *pass, const struct ct_charge *charges,
			  uint64_t cost_ns, uint32_t seat, struct ct_report *report)
{
	double pct = 100 * (double)cost_ns / (double)pass->duration_ns;

	report->verdict.gain_max_pct = pct;
	if (is_contradicted(pass, seat, NULL))
		return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE,
			   ct_arena_printf(report->memory,
					   "ranks waited for each other, up to %s (%s); who held "
					   "up whom these times do not tell",
					   ct_text_ns(cost_ns).s, ct_text_pct(pct).s));
	if (charges[seat].has_no_peers)
		return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE,
			   ct_arena_printf(report->memory,
					   "others waited for rank %d, up to %s (%s), and nobody "
					   "else does its work to compare it with: a stage of a "
					   "pipeline may have more to do, or end later",
					   pass->seats[seat].rank, ct_text_ns(cost_ns).s,
					   ct_text_pct(pct).s));
	return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE,
		   ct_arena_printf(report->memory,
				   "others waited for rank %d, up to %s (%s), too unevenly to "
				   "blame it",
				   pass->seats[seat].rank, ct_text_ns(cost_ns).s,
				   ct_text_pct(pct).s));
}

/* Nobody is slow, but that is not all there is to say: something went wrong that is not judged here. */
static int say_unclear(struct ct_report *report, const struct ct_stuck_sum *stuck)
{
	struct ct_arena *memory = report->memory;
	const char *had = report->run.processes_running ? "have" : "had", *text;

	if (stuck->late)
		text = ct_arena_printf(memory,
				       "%u operation%s %s been under way for longer than "
				       "COMMTRACE_HANG_AFTER; why is not judged here",
				       stuck->late, stuck->late == 1 ? "" : "s",
				       stuck->late == 1 && had[2] == 'v' ? "has" : had);
	else if (stuck->unusual)
		text = ct_arena_printf(memory,
				       "%u operation%s under way for up to %s so far, much longer "
				       "than is usual in this run; why is not judged here",
				       stuck->unusual, stuck->unusual == 1 ? " is" : "s are",
				       ct_text_ns(stuck->longest_ns).s);
	else if (stuck->all)
		text = ct_arena_printf(memory,
				       "%u operation%s had not returned when %s ended; why is "
				       "not judged here",
				       stuck->all, stuck->all == 1 ? "" : "s",
				       report->run.processes_running ? "their processes"
								     : "recording");
	else
		text = ct_arena_printf(memory,
				       "%zu process%s did not end well; why is not judged here",
				       report->n_ended, report->n_ended == 1 ? "" : "es");
	return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE, text);
}

/* The weightiest finding of one of these kinds, a bit each; NULL: none. */
static const struct ct_finding *first_of(const struct ct_report *report, unsigned kinds)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		if (kinds >> report->findings[i].kind & 1)
			return &report->findings[i];
	}
	return NULL;
}

/* No rank is slow on average, but stalls of one, or of one after the other, follow a rule. */
static int say_stalls(const struct ct_pass *pass, const struct ct_finding *f,
		      struct ct_report *report)
{
	struct ct_arena *memory = report->memory;
	const char *ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, 8);

	if (!ranks)
		return CT_NOMEM;
	report->verdict.gain_max_pct = f->loss_pct;
	return say(report, CT_VERDICT_STRAGGLER, f->confidence,
		   ct_arena_printf(memory, "rank%s %s %s now and then: %s ± %s of %s (%s)",
				   f->n_ranks == 1 ? "" : "s", ranks,
				   f->n_ranks == 1 ? "stalls" : "stall by turns",
				   ct_text_ns(f->loss_ns).s, ct_text_ns(f->loss_err_ns).s,
				   ct_text_ns(pass->duration_ns).s, ct_text_pct(f->loss_pct).s));
}

static int say_verdict(const struct ct_pass *pass, const struct ct_charge *charges,
		       struct ct_report *report)
{
	uint64_t cost_ns;
	uint32_t worst = suspicious(pass, charges, &cost_ns);
	const char *missing = what_is_missing(pass, report);
	const struct ct_finding *order = first_of(
		report, 1u << CT_FINDING_MISMATCH | 1u << CT_FINDING_SKIPPED_OP |
				1u << CT_FINDING_EXTRA_OP | 1u << CT_FINDING_UNEVEN_INPUT);
	const struct ct_finding *straggler = first_of(
		report, 1u << CT_FINDING_STRAGGLER | 1u << CT_FINDING_STRAGGLER_HOST |
				1u << CT_FINDING_STRAGGLER_GROUP);
	const struct ct_finding *link = first_of(report, 1u << CT_FINDING_SLOW_LINK);
	const struct ct_finding *stalls = first_of(
		report, 1u << CT_FINDING_PERIODIC_STALLS | 1u << CT_FINDING_ROTATING_STALLS);
	struct ct_stuck_sum stuck;

	ct_stuck_sum(pass, &stuck);
	report->n_stuck = stuck.all;
	report->verdict.gain_max_pct = NAN;
	if (order && order->severity == CT_SEVERITY_SEVERE)
		return say_order(order, report);
	/* the costlier of the two: findings are in that order */
	if (link && (!straggler || link < straggler) &&
	    !(report->n_ended && link->severity == CT_SEVERITY_INFO))
		return say_slow_link(pass, link, report);
	if (stalls && (!straggler || stalls < straggler) && !report->n_ended)
		return say_stalls(pass, stalls, report);
	/* a death matters more than somebody's being a little late before it */
	if (straggler && !(report->n_ended && straggler->severity == CT_SEVERITY_INFO))
		return say_straggler(pass, straggler, report);
	if (stuck.all)
		return say_unclear(report, &stuck);
	if (missing)
		return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE, missing);
	if (report->n_ended)
		return say_unclear(report, &stuck);
	if (worst < pass->n_seats)
		return say_suspicious(pass, charges, cost_ns, worst, report);
	return say_healthy(pass, report);
}

/* Nothing holds of all of them together. */
static int say_two_jobs(const struct ct_pass *pass, const uint32_t processes[2],
			struct ct_report *report)
{
	const struct ct_process *a = &pass->run->processes[processes[0]].id;
	const struct ct_process *b = &pass->run->processes[processes[1]].id;
	const char *first = ct_arena_text(report->memory, a->job, sizeof(a->job));
	const char *other = ct_arena_text(report->memory, b->job, sizeof(b->job));

	if (!first || !other)
		return CT_NOMEM;
	report->run.is_two_jobs = 1;
	report->verdict.gain_max_pct = NAN;
	return say(report, CT_VERDICT_NOT_ENOUGH_EVIDENCE, CT_CONFIDENCE_NONE,
		   ct_arena_printf(report->memory,
				   "traces of two jobs, %s and %s, were read as one run: report "
				   "each by itself",
				   first, other));
}

int ct_verdict_fill(const struct ct_pass *pass, const struct ct_charge *charges,
		    struct ct_findings *list, struct ct_report *report)
{
	uint32_t processes[2];
	int st = take(list, report), two = st == CT_OK ? ct_two_jobs(pass, processes) : 0;

	if (st != CT_OK || two < 0)
		return st != CT_OK ? st : two;
	return two ? say_two_jobs(pass, processes, report) : say_verdict(pass, charges, report);
}
