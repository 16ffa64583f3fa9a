/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/stream/stream_private.h"

/* Room for the seats that there are by now. */
static int grow_seats(struct ct_stream *stream)
{
	struct ct_model *model = &stream->model;
	uint32_t n = model->starts->n_seats;
	struct ct_seat *seats = realloc(model->seats, (n + 1) * sizeof(*seats));
	struct ct_activity *activities;
	uint32_t *host_of;

	if (!seats)
		return CT_NOMEM;
	model->seats = seats;
	host_of = realloc(model->host_of, (n + 1) * sizeof(*host_of));
	if (!host_of)
		return CT_NOMEM;
	model->host_of = host_of;
	activities = realloc(stream->activities, (n + 1) * sizeof(*activities));
	if (!activities)
		return CT_NOMEM;
	stream->activities = activities;
	for (uint32_t s = model->n_seats; s < n; s++) {
		seats[s] = (struct ct_seat){ .rank = -1, .device = -1 };
		activities[s] = (struct ct_activity){ 0 };
		host_of[s] = 0;
	}
	model->n_seats = n;
	return CT_OK;
}

int ct_stream_seat(struct ct_reading *reading, const struct ct_load_comm *comm, uint32_t *seat)
{
	struct ct_stream *stream = reading->stream;
	int64_t found = ct_starts_seat(stream->model.starts, reading->process, comm->local);
	struct ct_seat *s;

	if (found < 0 ||
	    (stream->model.starts->n_seats > stream->model.n_seats && grow_seats(stream) != CT_OK))
		return CT_NOMEM;
	*seat = reading->seats[comm->local] = (uint32_t)found;
	s = &stream->model.seats[found];
	if (reading->process < s->process)
		return CT_OK;
	s->host = stream->model.host_of[found] = stream->model.starts->places[reading->process].host;
	s->process = reading->process;
	s->local = comm->local;
	if (comm->rec.device)
		s->device = comm->rec.device - 1;
	return CT_OK;
}

/* The communicator of the whole job: the largest, if everybody seen has room in it. */
static const struct ct_comm *find_world(const struct ct_stream *stream)
{
	const struct ct_comm *world = NULL;

	for (uint32_t c = 0; c < stream->model.comms.n; c++) {
		const struct ct_comm *comm = stream->model.comms.all[c];

		if (!comm->shared_seat && !comm->clash && comm->nranks >= stream->model.n_seats &&
		    (!world || comm->nranks > world->nranks))
			world = comm;
	}
	return world;
}

int ct_stream_name_seats(struct ct_stream *stream)
{
	const struct ct_comm *world = find_world(stream);
	struct ct_table taken = { 0 };
	int st = CT_OK;

	for (uint32_t s = 0; s < stream->model.n_seats; s++) {
		const struct ct_seat *seat = &stream->model.seats[s];

		if (seat->local)
			stream->model.seats[stream->model.starts->places[seat->process].seat]
				.rank = -1;
	}
	for (uint32_t s = 0; s < stream->model.n_seats && st == CT_OK; s++) {
		if (stream->model.seats[s].rank >= 0)
			st = ct_table_put(&taken, (uint64_t)stream->model.seats[s].rank,
					  stream->model.seats);
	}
	for (uint32_t r = 0; world && r < world->nranks; r++) {
		struct ct_seat *seat = world->seats[r] ? &stream->model.seats[world->seats[r] - 1]
						       : NULL;

		if (seat && seat->rank < 0 && !ct_table_get(&taken, r))
			seat->rank = (int)r;
	}
	ct_table_fini(&taken);
	return st;
}
