/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/partial_instances.h"

#include "trace/ops.h"

#define LEAST_MEMBERS 3u
#define STANDS_OUT 2 /* times what the next one costs */

static int counts(const struct ct_instance *i)
{
	const struct ct_comm *comm = i->comm;

	if (comm->clash || comm->shared_seat || i->n < LEAST_MEMBERS || i->n != comm->n_known ||
	    4ull * i->n < 3ull * comm->nranks || i->seq >= comm->first_difference ||
	    ct_op_class(i->members[0].op) != CT_CLASS_SYNC)
		return 0;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		if (member->captured || member->group || member->op != i->members[0].op ||
		    !member->start_ns || member->end_ns < member->start_ns)
			return 0;
	}
	return 1;
}

int ct_rest_add(struct ct_pass *pass, const struct ct_instance *i, uint32_t class)
{
	int st;

	if (!counts(i))
		return CT_OK;
	if (pass->rest.n_seats < pass->n_seats &&
	    (pass->rest.suspects ? ct_blame_grow(&pass->rest, pass->n_seats)
				 : ct_blame_init(&pass->rest, pass->n_seats, 0, NULL)) != CT_OK)
		return CT_NOMEM;
	st = ct_waits_judge(i, pass->host_of, ct_blame_skew(&pass->rest), &pass->waits);
	/* The first meeting of a communicator tells who started late. */
	if (st == CT_OK && pass->waits.judged == CT_JUDGED_WAITS && i->comm->met)
		st = ct_blame_add(&pass->rest, i, &pass->waits, class, pass->host_of, pass->shift);
	i->comm->met |= pass->waits.judged == CT_JUDGED_WAITS;
	pass->waits.judged = CT_JUDGED_NOTHING;
	return st;
}

static int weigh(const struct ct_pass *pass, const struct ct_tally *tally, uint32_t seat,
		 struct ct_charge *charge)
{
	const struct ct_suspect *suspect = &pass->rest.suspects[seat];
	uint64_t chance = ct_blame_chance(&pass->rest, seat, NULL);
	struct ct_recurrence recurs;

	if (chance == UINT64_MAX ||
	    ct_tally_recurrence(tally, seat, ct_blame_odds(suspect), &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(suspect, &recurs, pass->duration_ns, chance, pass->rest.n_seats, charge);
	return CT_OK;
}

int ct_rest_last(const struct ct_pass *pass, uint32_t *seat, struct ct_charge *charge)
{
	struct ct_tally tally;
	uint64_t most = 0, next = 0;
	int st;

	*seat = pass->n_seats;
	*charge = (struct ct_charge){ 0 };
	if (!pass->rest.suspects)
		return CT_OK;
	for (uint32_t s = 0; s < pass->rest.n_seats; s++) {
		uint64_t lost = pass->seats[s].muddled ? 0 : pass->rest.suspects[s].lost.total;

		if (lost > most) {
			next = most;
			most = lost;
			*seat = s;
		} else if (lost > next) {
			next = lost;
		}
	}
	if (!most || most < STANDS_OUT * next) {
		*seat = pass->n_seats;
		return CT_OK;
	}
	st = ct_tally_make(&tally, &pass->rest.charged, &pass->rounds, pass->rest.n_seats, NULL);
	if (st == CT_OK)
		st = weigh(pass, &tally, *seat, charge);
	ct_tally_fini(&tally);
	if (!charge->guilty)
		*seat = pass->n_seats;
	return st;
}
