/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/weigh.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/base/units.h"
#include "analyzer/lateness/lateness.h"
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
 * everybody who met the suspect, it bounds what that cost. */
static void bound_by_exposed(const struct ct_lateness *late, uint32_t seat,
			     struct ct_charge *charge)
{
	uint64_t most = 0;
	int known = 0;

	for (uint32_t s = 0; s < late->model->n_seats; s++) {
		const struct ct_exposed *sum = &late->model->seats[s].exposed;

		if (s == seat || !late->blame.suspects[s].met)
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

/* How much later than the suspect, in sum, somebody else must have come to speak against it. */
#define CONTRADICTION 1.25

/* Who holds others up comes late in sum more than anybody whom he holds up. */
int ct_verdict_is_contradicted(const struct ct_model *model, uint32_t seat)
{
	double own = (double)model->seats[seat].lateness_ns, most = 0;

	for (uint32_t s = 0; s < model->n_seats; s++) {
		const struct ct_seat *at = &model->seats[s];
		double late = (double)at->lateness_ns - (double)at->err_ns;

		if (s != seat && at->judged && late > most)
			most = late;
	}
	return most > CONTRADICTION * own;
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
	uint64_t chance = ct_blame_chance(&late->blame, seat);
	struct ct_recurrence recurs;

	if (chance == UINT64_MAX ||
	    ct_tally_recurrence(tally, seat, ct_blame_odds(suspect), &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(suspect, &recurs, late->model->duration_ns, chance,
		       ct_lateness_ranks_met(late), charge);
	bound_by_exposed(late, seat, charge);
	if (charge->guilty &&
	    (!is_clear(late, charge) || ct_verdict_is_contradicted(late->model, seat))) {
		charge->guilty = 0;
		charge->doubt = CT_DOUBT_OTHERS;
	}
	return CT_OK;
}

int ct_verdict_weigh(const struct ct_lateness *late, struct ct_charge *charges)
{
	struct ct_tally tally;
	int st = ct_tally_make(&tally, &late->blame.charged, &late->rounds, late->model->n_seats);

	for (uint32_t s = 0; s < late->model->n_seats && st == CT_OK; s++)
		st = weigh_seat(late, &tally, s, &charges[s]);
	ct_tally_fini(&tally);
	return st;
}
