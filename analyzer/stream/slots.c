/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/stream/stream_private.h"

/* Space for the slots that there are by now. */
static int grow_slots(struct ct_stream *stream)
{
	struct ct_model *model = &stream->model;
	uint32_t n = model->starts->n_slots;
	struct ct_rank_state *slots = realloc(model->slots, (n + 1) * sizeof(*slots));
	struct ct_activity *activities;
	uint32_t *host_of;

	if (!slots)
		return CT_NOMEM;
	model->slots = slots;
	host_of = realloc(model->host_of, (n + 1) * sizeof(*host_of));
	if (!host_of)
		return CT_NOMEM;
	model->host_of = host_of;
	activities = realloc(stream->activities, (n + 1) * sizeof(*activities));
	if (!activities)
		return CT_NOMEM;
	stream->activities = activities;
	for (uint32_t s = model->n_slots; s < n; s++) {
		slots[s] = (struct ct_rank_state){ .rank = -1, .device = -1 };
		activities[s] = (struct ct_activity){ 0 };
		host_of[s] = 0;
	}
	model->n_slots = n;
	return CT_OK;
}

int ct_stream_slot(struct ct_reading *reading, const struct ct_load_comm *comm, uint32_t *slot)
{
	struct ct_stream *stream = reading->stream;
	int64_t found = ct_starts_slot(stream->model.starts, reading->process, comm->local);
	struct ct_rank_state *s;

	if (found < 0 ||
	    (stream->model.starts->n_slots > stream->model.n_slots && grow_slots(stream) != CT_OK))
		return CT_NOMEM;
	*slot = reading->slots[comm->local] = (uint32_t)found;
	s = &stream->model.slots[found];
	if (reading->process < s->process)
		return CT_OK;
	s->host = stream->model.host_of[found] = stream->model.starts->processes[reading->process]
							 .host;
	s->process = reading->process;
	s->local = comm->local;
	if (comm->rec.device)
		s->device = comm->rec.device - 1;
	return CT_OK;
}

/* The communicator of the whole job: the largest, if every rank seen has space in it. */
static const struct ct_comm *find_world(const struct ct_stream *stream)
{
	const struct ct_comm *world = NULL;

	for (uint32_t c = 0; c < stream->model.comms.n; c++) {
		const struct ct_comm *comm = stream->model.comms.all[c];

		if (!comm->shared_slot && !comm->clash && comm->nranks >= stream->model.n_slots &&
		    (!world || comm->nranks > world->nranks))
			world = comm;
	}
	return world;
}

int ct_stream_name_slots(struct ct_stream *stream)
{
	const struct ct_comm *world = find_world(stream);
	struct ct_table taken = { 0 };
	int st = CT_OK;

	for (uint32_t s = 0; s < stream->model.n_slots; s++) {
		const struct ct_rank_state *slot = &stream->model.slots[s];

		if (slot->local)
			stream->model.slots[stream->model.starts->processes[slot->process].slot]
				.rank = -1;
	}
	for (uint32_t s = 0; s < stream->model.n_slots && st == CT_OK; s++) {
		if (stream->model.slots[s].rank >= 0)
			st = ct_table_put(&taken, (uint64_t)stream->model.slots[s].rank,
					  stream->model.slots);
	}
	for (uint32_t r = 0; world && r < world->nranks; r++) {
		struct ct_rank_state *slot = world->slots[r]
						     ? &stream->model.slots[world->slots[r] - 1]
						     : NULL;

		if (slot && slot->rank < 0 && !ct_table_get(&taken, r))
			slot->rank = (int)r;
	}
	ct_table_fini(&taken);
	return st;
}
