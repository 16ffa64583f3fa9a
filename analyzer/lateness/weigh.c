/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/weigh.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/outlier_set.h"
#include "analyzer/model/model.h"
#include "analyzer/order/order_book.h"

uint32_t ct_lateness_ranks_met(const struct ct_lateness *late)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < late->model->n_seats; s++)
		n += late->blame.suspects[s].met > 0;
	return n;
}

/* Nobody lost more time by others' lateness than he stood waiting for communication in all: where that is known of
 * everybody who met the suspects (`in_set`, or the one seat), it bounds what they cost. */
static void bound_by_exposed(const struct ct_lateness *late, uint32_t seat, const uint8_t *in_set,
			     struct ct_charge *charge)
{
	uint64_t most = 0;
	int known = 0;

	for (uint32_t s = 0; s < late->model->n_seats; s++) {
		const struct ct_exposed *sum = &late->model->seats[s].exposed;

		if (s == seat || (in_set && in_set[s]) || !late->blame.suspects[s].met)
			continue;
		if (!sum->is_known)
			return;
		known = 1;
		if (sum->exposed_ns + sum->err_ns > most)
			most = sum->exposed_ns + sum->err_ns;
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
	    (double)most < (double)late->model->duration_ns * CT_BLAME_GATE_PCT / 100)
		charge->guilty = 0;
}

/* How much later than the others, in sum, somebody else must have come to speak against the suspects. */
#define CONTRADICTION 1.25

/* Who holds others up comes late in sum more than anybody whom he holds up. Is there somebody who came later than the
 * suspects (`in_set`, or the one seat)? Then it is not known who held up whom. */
static int is_contradicted(const struct ct_model *model, uint32_t seat, const uint8_t *in_set)
{
	double own = 0, n = 0, most = 0;

	for (uint32_t s = 0; s < model->n_seats; s++) {
		const struct ct_seat *at = &model->seats[s];
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
static int is_clear(const struct ct_lateness *late, const struct ct_charge *charge)
{
	uint64_t messages = late->model->messages - late->model->to_self;

	return (double)late->window.followed >= LEAST_FOLLOWED * 2 * (double)messages ||
	       charge->loss_ns >= 2 * charge->err_ns;
}

/* Without cycles: of the operations that come most often, so many are one round. */
#define MET_A_ROUND 8

void ct_verdict_rounds(struct ct_lateness *late, const uint64_t *cut_ns, uint32_t n_cycles)
{
	uint64_t hits = 0, on_gpu = 0, met = 0;

	for (uint32_t s = 0; s < late->model->n_seats; s++) {
		const struct ct_suspect *suspect = &late->blame.suspects[s];

		hits += suspect->hits;
		on_gpu += suspect->on_gpu;
		met = suspect->met > met ? suspect->met : met;
	}
	met /= MET_A_ROUND;
	ct_rounds_make(&late->rounds, cut_ns, n_cycles, late->model->duration_ns,
		       2 * on_gpu < hits ? CT_BLAME_BURST_NS : 0,
		       met < CT_ROUNDS_MOST ? (uint32_t)met : CT_ROUNDS_MOST);
}

static int weigh_seat(const struct ct_lateness *late, const struct ct_tally *tally, uint32_t seat,
		      struct ct_charge *charge)
{
	const struct ct_suspect *suspect = &late->blame.suspects[seat];
	uint64_t chance = ct_blame_chance(&late->blame, seat, NULL);
	struct ct_recurrence recurs;

	if (chance == UINT64_MAX ||
	    ct_tally_recurrence(tally, seat, ct_blame_odds(suspect), &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(suspect, &recurs, late->model->duration_ns, chance,
		       ct_lateness_ranks_met(late), charge);
	bound_by_exposed(late, seat, NULL, charge);
	if (charge->guilty &&
	    (!is_clear(late, charge) || is_contradicted(late->model, seat, NULL))) {
		charge->guilty = 0;
		charge->doubt = CT_DOUBT_OTHERS;
	}
	return CT_OK;
}

int ct_verdict_weigh(const struct ct_lateness *late, struct ct_charge *charges)
{
	struct ct_tally tally;
	int st = ct_tally_make(&tally, &late->blame.charged, &late->rounds, late->model->n_seats,
			       NULL);

	for (uint32_t s = 0; s < late->model->n_seats && st == CT_OK; s++)
		st = weigh_seat(late, &tally, s, &charges[s]);
	ct_tally_fini(&tally);
	return st;
}

/* The set against the rest, round by round. */
static int set_recurrence(const struct ct_lateness *late, const struct ct_set_result *set,
			  struct ct_recurrence *out)
{
	struct ct_tally tally;
	int st = ct_tally_make(&tally, &set->blame->charged, &late->rounds, 2, set->in_set);

	if (st == CT_OK)
		st = ct_tally_recurrence(&tally, 1, ct_blame_odds(&set->blame->set), out);
	ct_tally_fini(&tally);
	return st;
}

/* By how much its members come late on average, against the rest. 1, 0 or CT_NOMEM. */
static int stands_apart(const struct ct_lateness *late, const uint8_t *in_set)
{
	double *slowness = malloc(((size_t)late->model->n_seats + 1) * sizeof(*slowness));
	int apart;

	if (!slowness)
		return CT_NOMEM;
	for (uint32_t s = 0; s < late->model->n_seats; s++) {
		const struct ct_suspect *suspect = &late->blame.suspects[s];

		slowness[s] = suspect->met ? suspect->late_ns / (double)suspect->met : NAN;
	}
	apart = ct_set_stands_apart(late->model, slowness, in_set);
	free(slowness);
	return apart;
}

int ct_lateness_weigh_set(const struct ct_lateness *late, const struct ct_charge *charges,
			  struct ct_set_result *set)
{
	struct ct_charge *charge = &set->charge;
	double n = ct_lateness_ranks_met(late), k = set->size;
	/* Sets of this size that there could have been. */
	double family = exp(ct_log_choose(n, k));
	uint64_t chance = ct_blame_chance(&late->blame, late->model->n_seats, set->in_set);
	struct ct_recurrence recurs;
	uint64_t best = 0;
	int apart = stands_apart(late, set->in_set);

	if (apart < 0)
		return apart;
	if (chance == UINT64_MAX || set_recurrence(late, set, &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(&set->blame->set, &recurs, late->model->duration_ns, chance, family, charge);
	bound_by_exposed(late, late->model->n_seats, set->in_set, charge);
	if (charge->guilty && (!is_clear(late, charge) ||
			       is_contradicted(late->model, late->model->n_seats, set->in_set)))
		charge->doubt = CT_DOUBT_OTHERS;
	if (charge->doubt == CT_DOUBT_NONE && !apart)
		charge->doubt = CT_DOUBT_SPREAD;
	/* who waits for a core is chance */
	if (charge->doubt == CT_DOUBT_NONE && late->oversubscribed.processes)
		charge->doubt = CT_DOUBT_CORES;
	charge->guilty = charge->doubt == CT_DOUBT_NONE;
	charge->replayed = set->replayed;
	ct_charge_settle(charge, late->model->duration_ns);
	for (uint32_t s = 0; s < late->model->n_seats; s++)
		charge->by_cycles_ns += set->in_set[s] ? charges[s].by_cycles_ns : 0;
	for (uint32_t s = 0; s < late->model->n_seats; s++) {
		if (set->in_set[s] && charges[s].guilty && charges[s].loss_ns > best)
			best = charges[s].loss_ns;
	}
	return charge->guilty && (double)charge->loss_ns > 1.25 * (double)best;
}

int ct_verdict_is_contradicted(const struct ct_model *model, uint32_t seat)
{
	return is_contradicted(model, seat, NULL);
}
