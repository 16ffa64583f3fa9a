/* SPDX-License-Identifier: Apache-2.0 */
/* Who is a stage of a pipeline that nobody else is: how long it computes is compared with nobody's. */
#include <stdlib.h>

#include "analyzer/lateness/replay/judge.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"
#include "trace/status.h"

/* Communicators whose members all send to all others hand nothing on, whatever the sizes. From this size on: three stages
 * that each do two parts of the work (interleaved) send to each other too. Up to that one it is looked at. */
#define LEAST_EXCHANGE 4u
#define MOST_EXCHANGE 1024u

enum { UNKNOWN, EXCHANGES, HANDS_ON };

/* Does everybody in it send to everybody else? EXCHANGES, HANDS_ON or CT_NOMEM. */
static int kind_of(const struct ct_tape *tape, const struct ct_comm *comm)
{
	size_t n = comm->nranks, pairs = 0;
	uint8_t *seen;

	if (n < LEAST_EXCHANGE || n > MOST_EXCHANGE)
		return HANDS_ON;
	seen = calloc(n * n, 1);
	if (!seen)
		return CT_NOMEM;
	for (uint32_t k = 0; k < tape->n_instances; k++) {
		const struct ct_tape_instance *i = &tape->instances[k];
		uint8_t *pair;

		if (i->comm != comm || i->src < 0 || i->dst < 0 || i->src == i->dst ||
		    (size_t)i->src >= n || (size_t)i->dst >= n)
			continue;
		pair = &seen[(size_t)i->src * n + (size_t)i->dst];
		pairs += !*pair;
		*pair = 1;
	}
	free(seen);
	return pairs == n * (n - 1) ? EXCHANGES : HANDS_ON;
}

/* 1, 0 or CT_NOMEM. kinds by communicator. */
static int hands_on(const struct ct_tape *tape, uint32_t seat, int8_t *kinds)
{
	for (uint32_t k = tape->seat_first[seat]; k < tape->seat_first[seat + 1]; k++) {
		const struct ct_tape_instance
			*i = &tape->instances[tape->parts[tape->order[k]].instance];
		int kind;

		if (i->src < 0)
			continue;
		kind = kinds[i->comm->index];
		if (kind == UNKNOWN)
			kind = kind_of(tape, i->comm);
		if (kind < 0)
			return kind;
		kinds[i->comm->index] = (int8_t)kind;
		if (kind == HANDS_ON)
			return 1;
	}
	return 0;
}

int ct_whatif_peerless(const struct ct_whatif *w, const struct ct_model *model,
		       const struct ct_tape *log, uint8_t *alone)
{
	int8_t *kinds = calloc((size_t)model->comms.n + 1, sizeof(*kinds));
	int is = kinds ? 0 : CT_NOMEM;

	for (uint32_t s = 0; s < w->schedule.n_seats && is >= 0; s++) {
		uint32_t group = w->peers.group_of[s];

		if (group == UINT32_MAX || w->peers.n_groups < 2 || w->peers.groups[group].n > 1)
			continue;
		is = hands_on(log, s, kinds);
		alone[s] = is > 0;
	}
	free(kinds);
	return is < 0 ? is : CT_OK;
}
