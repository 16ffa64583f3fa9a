/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/partial_instances.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/stream.h"

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

int ct_rest_add(struct ct_rest *rest, const struct ct_stream *stream,
		const struct ct_instance_event *event)
{
	const struct ct_model *model = &stream->model;
	const struct ct_instance *i = event->instance;
	struct ct_waits *w = &rest->waits;
	int st;

	if (!counts(i))
		return CT_OK;
	if (rest->blame.n_seats < model->n_seats &&
	    (rest->blame.suspects ? ct_blame_grow(&rest->blame, model->n_seats)
				  : ct_blame_init(&rest->blame, model->n_seats)) != CT_OK)
		return CT_NOMEM;
	st = ct_waits_judge(i, model->host_of, ct_stream_skew(stream), w);
	/* The first meeting of a communicator tells who started late. */
	if (st == CT_OK && w->judged == CT_JUDGED_WAITS && i->comm->met)
		st = ct_blame_add(&rest->blame, i, w, event->class->index, model->host_of,
				  model->shift);
	i->comm->met |= w->judged == CT_JUDGED_WAITS;
	return st;
}

static int weigh(const struct ct_rest *rest, const struct ct_model *model,
		 const struct ct_tally *tally, uint32_t seat, struct ct_charge *charge)
{
	const struct ct_suspect *suspect = &rest->blame.suspects[seat];
	uint64_t chance = ct_blame_chance(&rest->blame, seat);
	struct ct_recurrence recurs;

	if (chance == UINT64_MAX ||
	    ct_tally_recurrence(tally, seat, ct_blame_odds(suspect), &recurs) != CT_OK)
		return CT_NOMEM;
	ct_blame_weigh(suspect, &recurs, model->duration_ns, chance, rest->blame.n_seats, charge);
	return CT_OK;
}

int ct_rest_last(const struct ct_rest *rest, const struct ct_model *model,
		 const struct ct_rounds *rounds, uint32_t *seat, struct ct_charge *charge)
{
	struct ct_tally tally;
	uint64_t most = 0, next = 0;
	int st;

	*seat = model->n_seats;
	*charge = (struct ct_charge){ 0 };
	if (!rest->blame.suspects)
		return CT_OK;
	for (uint32_t s = 0; s < rest->blame.n_seats; s++) {
		uint64_t lost = model->seats[s].muddled ? 0 : rest->blame.suspects[s].lost.total;

		if (lost > most) {
			next = most;
			most = lost;
			*seat = s;
		} else if (lost > next) {
			next = lost;
		}
	}
	if (!most || most < STANDS_OUT * next) {
		*seat = model->n_seats;
		return CT_OK;
	}
	st = ct_tally_make(&tally, &rest->blame.charged, rounds, rest->blame.n_seats);
	if (st == CT_OK)
		st = weigh(rest, model, &tally, *seat, charge);
	ct_tally_fini(&tally);
	if (!charge->guilty)
		*seat = model->n_seats;
	return st;
}

void ct_rest_fini(struct ct_rest *rest)
{
	ct_blame_fini(&rest->blame);
	ct_waits_fini(&rest->waits);
}
