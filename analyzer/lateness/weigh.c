/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/weigh.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/units.h"
#include "analyzer/environment/environment.h"
#include "analyzer/findings/order_findings.h"
#include "analyzer/findings/straggler_findings.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/lateness/outlier_set.h"
#include "analyzer/stream/stuck.h"

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

/* Without cycles: of the operations that come most often, so many are one round. */
#define MET_A_ROUND 8

void ct_verdict_rounds(struct ct_pass *pass, const uint64_t *cut_ns, uint32_t n_cycles)
{
	uint64_t hits = 0, on_gpu = 0, met = 0;

	for (uint32_t s = 0; s < pass->n_seats; s++) {
		const struct ct_suspect *suspect = &pass->blame.suspects[s];

		hits += suspect->hits;
		on_gpu += suspect->on_gpu;
		met = suspect->met > met ? suspect->met : met;
	}
	met /= MET_A_ROUND;
	ct_rounds_make(&pass->rounds, cut_ns, n_cycles, pass->duration_ns,
		       2 * on_gpu < hits ? CT_BLAME_BURST_NS : 0,
		       met < CT_ROUNDS_MOST ? (uint32_t)met : CT_ROUNDS_MOST);
}

static int weigh_seat(const struct ct_pass *pass, const struct ct_tally *tally, uint32_t seat,
		      struct ct_charge *charge)
{
	const struct ct_suspect *suspect = &pass->blame.suspects[seat];
	uint64_t chance = ct_blame_chance(&pass->blame, seat, NULL);
	struct ct_recurrence recurs;

	if (chance == UINT64_MAX ||
	    ct_tally_recurrence(tally, seat, ct_blame_odds(suspect), &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(suspect, &recurs, pass->duration_ns, chance, ranks_met(pass), charge);
	bound_by_exposed(pass, seat, NULL, charge);
	if (charge->guilty && (!is_clear(pass, charge) || is_contradicted(pass, seat, NULL))) {
		charge->guilty = 0;
		charge->doubt = CT_DOUBT_OTHERS;
	}
	return CT_OK;
}

int ct_verdict_weigh(const struct ct_pass *pass, struct ct_charge *charges)
{
	struct ct_tally tally;
	int st = ct_tally_make(&tally, &pass->blame.charged, &pass->rounds, pass->n_seats, NULL);

	for (uint32_t s = 0; s < pass->n_seats && st == CT_OK; s++)
		st = weigh_seat(pass, &tally, s, &charges[s]);
	ct_tally_fini(&tally);
	return st;
}

/* The set against the rest, round by round. */
static int set_recurrence(const struct ct_pass *pass, const struct ct_set_result *set,
			  struct ct_recurrence *out)
{
	struct ct_tally tally;
	int st = ct_tally_make(&tally, &set->blame->charged, &pass->rounds, 2, set->in_set);

	if (st == CT_OK)
		st = ct_tally_recurrence(&tally, 1, ct_blame_odds(&set->blame->set), out);
	ct_tally_fini(&tally);
	return st;
}

/* By how much its members come late on average, against the rest. 1, 0 or CT_NOMEM. */
static int stands_apart(const struct ct_pass *pass, const uint8_t *in_set)
{
	double *late = malloc(((size_t)pass->n_seats + 1) * sizeof(*late));
	int apart;

	if (!late)
		return CT_NOMEM;
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		const struct ct_suspect *suspect = &pass->blame.suspects[s];

		late[s] = suspect->met ? suspect->late_ns / (double)suspect->met : NAN;
	}
	apart = ct_set_stands_apart(pass, late, in_set);
	free(late);
	return apart;
}

/* Does the set explain what its members cost better than each of them alone? 1, 0 or CT_NOMEM. */
static int weigh_set(const struct ct_pass *pass, const struct ct_charge *charges,
		     struct ct_set_result *set)
{
	struct ct_charge *charge = &set->charge;
	double n = ranks_met(pass), k = set->size;
	/* Sets of this size that there could have been. */
	double family = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
	uint64_t chance = ct_blame_chance(&pass->blame, pass->n_seats, set->in_set);
	struct ct_recurrence recurs;
	uint64_t best = 0;
	int apart = stands_apart(pass, set->in_set);

	if (apart < 0)
		return apart;
	if (chance == UINT64_MAX || set_recurrence(pass, set, &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(&set->blame->set, &recurs, pass->duration_ns, chance, family, charge);
	bound_by_exposed(pass, pass->n_seats, set->in_set, charge);
	if (charge->guilty &&
	    (!is_clear(pass, charge) || is_contradicted(pass, pass->n_seats, set->in_set)))
		charge->doubt = CT_DOUBT_OTHERS;
	if (charge->doubt == CT_DOUBT_NONE && !apart)
		charge->doubt = CT_DOUBT_SPREAD;
	/* who waits for a core is chance */
	if (charge->doubt == CT_DOUBT_NONE && pass->oversubscribed.processes)
		charge->doubt = CT_DOUBT_CORES;
	charge->guilty = charge->doubt == CT_DOUBT_NONE;
	charge->replayed = set->replayed;
	ct_charge_settle(charge, pass->duration_ns);
	for (uint32_t s = 0; s < pass->n_seats; s++)
		charge->by_cycles_ns += set->in_set[s] ? charges[s].by_cycles_ns : 0;
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		if (set->in_set[s] && charges[s].guilty && charges[s].loss_ns > best)
			best = charges[s].loss_ns;
	}
	return charge->guilty && (double)charge->loss_ns > 1.25 * (double)best;
}

/* Launches of CUDA graphs that the recorder could not follow move on no order: from then on the numbers of a rank's
 * operations are not those of the others. */
uint64_t ct_verdict_order_lost(const struct ct_pass *pass)
{
	uint64_t n = 0;

	for (size_t p = 0; p < pass->run->n_processes; p++)
		if (pass->processes[p].read)
			n += pass->processes[p].gaps.losses[CT_LOSS_GRAPH_LOST];
	return n;
}

int ct_verdict_collect(const struct ct_pass *pass, const struct ct_charge *charges,
		       struct ct_set_result *set, const struct ct_report *report,
		       struct ct_findings *list)
{
	int ordered = ct_verdict_order_lost(pass) == 0;
	int use_set = ordered && set->in_set ? weigh_set(pass, charges, set) : 0;
	int losses = 0;
	int st = use_set < 0 ? use_set : CT_OK;

	if (ordered && st == CT_OK)
		st = ct_order_findings(pass, list);
	if (st == CT_OK && use_set)
		st = ct_finding_set(pass, set->blame, &set->charge, list);
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

int ct_verdict_is_contradicted(const struct ct_pass *pass, uint32_t seat)
{
	return is_contradicted(pass, seat, NULL);
}
