/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/stream/stream_private.h"

/* Room for the seats that there are by now. */
static int grow_seats(struct ct_pass *pass)
{
	uint32_t n = pass->attempts->n_seats;
	struct ct_seat *seats = realloc(pass->seats, (n + 1) * sizeof(*seats));
	uint32_t *host_of;

	if (!seats)
		return CT_NOMEM;
	pass->seats = seats;
	host_of = realloc(pass->host_of, (n + 1) * sizeof(*host_of));
	if (!host_of)
		return CT_NOMEM;
	pass->host_of = host_of;
	for (uint32_t s = pass->n_seats; s < n; s++) {
		seats[s] = (struct ct_seat){ .rank = -1, .device = -1 };
		host_of[s] = 0;
	}
	pass->n_seats = n;
	return ct_blame_grow(&pass->blame, n);
}

int ct_pass_seat(struct ct_reading *reading, const struct ct_load_comm *comm, uint32_t *seat)
{
	struct ct_pass *pass = reading->pass;
	int64_t found = ct_attempts_seat(pass->attempts, reading->process, comm->local);
	struct ct_seat *s;

	if (found < 0 || (pass->attempts->n_seats > pass->n_seats && grow_seats(pass) != CT_OK))
		return CT_NOMEM;
	*seat = reading->seats[comm->local] = (uint32_t)found;
	s = &pass->seats[found];
	s->host = pass->host_of[found] = pass->attempts->places[reading->process].host;
	s->process = reading->process;
	s->local = comm->local;
	if (comm->rec.device)
		s->device = comm->rec.device - 1;
	return CT_OK;
}

/* The communicator of the whole job: the largest, if everybody seen has room in it. */
static const struct ct_comm *find_world(const struct ct_pass *pass)
{
	const struct ct_comm *world = NULL;

	for (uint32_t c = 0; c < pass->comms.n; c++) {
		const struct ct_comm *comm = pass->comms.all[c];

		if (!comm->shared_seat && !comm->clash && comm->nranks >= pass->n_seats &&
		    (!world || comm->nranks > world->nranks))
			world = comm;
	}
	return world;
}

int ct_pass_name_seats(struct ct_pass *pass)
{
	const struct ct_comm *world = find_world(pass);
	struct ct_table taken = { 0 };
	int st = CT_OK;

	for (uint32_t s = 0; s < pass->n_seats; s++) {
		const struct ct_seat *seat = &pass->seats[s];

		if (seat->local)
			pass->seats[pass->attempts->places[seat->process].seat].rank = -1;
	}
	for (uint32_t s = 0; s < pass->n_seats && st == CT_OK; s++) {
		if (pass->seats[s].rank >= 0)
			st = ct_table_put(&taken, (uint64_t)pass->seats[s].rank, pass->seats);
	}
	for (uint32_t r = 0; world && r < world->nranks; r++) {
		struct ct_seat *seat = world->seats[r] ? &pass->seats[world->seats[r] - 1] : NULL;

		if (seat && seat->rank < 0 && !ct_table_get(&taken, r))
			seat->rank = (int)r;
	}
	ct_table_fini(&taken);
	return st;
}
