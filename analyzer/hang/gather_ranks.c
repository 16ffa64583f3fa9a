/* SPDX-License-Identifier: Apache-2.0 */
/* Which global rank a seat has that was told none, and who is in a communicator. */
#include <stdlib.h>

#include "analyzer/hang/gather.h"

/* The communicator of the whole job: the largest, if everybody seen has room in it. */
static const struct ct_comm *find_world(const struct ct_gather *g)
{
	const struct ct_comm *world = NULL;

	for (uint32_t c = 0; c < g->comms.n; c++) {
		const struct ct_comm *comm = g->comms.all[c];

		if (!comm->shared_seat && !comm->clash && comm->nranks >= g->n_seats &&
		    (!world || comm->nranks > world->nranks))
			world = comm;
	}
	return world;
}

int ct_gather_name_seats(struct ct_gather *g)
{
	const struct ct_comm *world = find_world(g);
	struct ct_table taken = { 0 };
	int st = CT_OK;

	/* what a process with several ranks was told is the rank of none of them */
	for (uint32_t s = 0; s < g->n_seats; s++) {
		const struct ct_hang_seat *seat = &g->seats[s];

		if (seat->is_used && seat->local)
			g->seats[g->attempts.places[seat->process].seat].rank = -1;
	}
	for (uint32_t s = 0; s < g->n_seats && st == CT_OK; s++) {
		if (g->seats[s].rank >= 0)
			st = ct_table_put(&taken, (uint64_t)g->seats[s].rank, g->seats);
	}
	for (uint32_t r = 0; world && r < world->nranks; r++) {
		struct ct_hang_seat *seat = world->seats[r] ? &g->seats[world->seats[r] - 1] : NULL;

		if (seat && seat->rank < 0 && !ct_table_get(&taken, r))
			seat->rank = (int)r;
	}
	ct_table_fini(&taken);
	return st;
}
