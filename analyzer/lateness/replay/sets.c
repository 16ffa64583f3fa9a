/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that may be slow together: which of them are worth playing. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/whatif.h"
#include "trace/status.h"

/* Of the longest gaps beyond the usual ones, to be among the latest. */
#define LATEST_SHARE 0.5

/* A set before it is played, with what its gaps hold on average beyond the usual ones. */
struct candidate {
	struct ct_whatif_set set;
	double excess_ns;
};

struct candidates {
	struct candidate *all;
	uint32_t n, cap;
};

/* Takes the seats over. A set that is all ranks, one, or more than half says nothing; nor does one that is there already. */
static int add(struct candidates *c, const struct ct_whatif *w, struct ct_whatif_set set)
{
	double excess = 0;

	if (set.n < 2 || 2 * set.n > w->schedule.n_seats ||
	    !ct_whatif_is_known(w, set.seats, set.n)) {
		free(set.seats);
		return CT_OK;
	}
	qsort(set.seats, set.n, sizeof(*set.seats), ct_by_u32);
	for (uint32_t k = 0; k < c->n; k++) {
		const struct ct_whatif_set *known = &c->all[k].set;

		if (known->kind == set.kind && known->n == set.n &&
		    memcmp(known->seats, set.seats, set.n * sizeof(*set.seats)) == 0) {
			free(set.seats);
			return CT_OK;
		}
	}
	if (ct_grow(&c->all, &c->cap, c->n + 1, sizeof(*c->all))) {
		free(set.seats);
		return CT_NOMEM;
	}
	for (uint32_t k = 0; k < set.n; k++)
		excess += w->usual.excess_ns[set.seats[k]] / set.n;
	c->all[c->n++] = (struct candidate){ .set = set, .excess_ns = excess };
	return CT_OK;
}

static int add_latest(struct candidates *c, const struct ct_whatif *w)
{
	struct ct_whatif_set set = { .kind = CT_WHATIF_LATEST };
	double most = 0;

	set.seats = malloc(((size_t)w->schedule.n_seats + 1) * sizeof(*set.seats));
	if (!set.seats)
		return CT_NOMEM;
	for (uint32_t s = 0; s < w->schedule.n_seats; s++)
		most = w->usual.excess_ns[s] > most ? w->usual.excess_ns[s] : most;
	for (uint32_t s = 0; s < w->schedule.n_seats; s++) {
		if (w->usual.by_peers[s] && most > 0 &&
		    w->usual.excess_ns[s] >= LATEST_SHARE * most)
			set.seats[set.n++] = s;
	}
	return add(c, w, set);
}

static int add_hosts(struct candidates *c, const struct ct_whatif *w, const uint32_t *host_of)
{
	uint32_t n_seats = w->schedule.n_seats, hosts = 0;

	for (uint32_t s = 0; s < n_seats; s++)
		hosts = host_of[s] >= hosts ? host_of[s] + 1 : hosts;
	for (uint32_t h = 0; h < hosts; h++) {
		struct ct_whatif_set set = { .kind = CT_WHATIF_HOST, .host = h };

		set.seats = malloc(((size_t)n_seats + 1) * sizeof(*set.seats));
		if (!set.seats)
			return CT_NOMEM;
		for (uint32_t s = 0; s < n_seats; s++) {
			if (host_of[s] == h)
				set.seats[set.n++] = s;
		}
		if (add(c, w, set) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

static int add_groups(struct candidates *c, const struct ct_whatif *w, const struct ct_comms *comms)
{
	for (uint32_t k = 0; comms && k < comms->n; k++) {
		const struct ct_comm *comm = comms->all[k];
		struct ct_whatif_set set = { .kind = CT_WHATIF_GROUP, .comm = comm };

		if (comm->clash || comm->shared_seat || comm->n_known != comm->nranks ||
		    !comm->seats || 2 * comm->nranks > w->schedule.n_seats)
			continue;
		set.seats = malloc(((size_t)comm->nranks + 1) * sizeof(*set.seats));
		if (!set.seats)
			return CT_NOMEM;
		for (uint32_t r = 0; r < comm->nranks; r++) {
			if (comm->seats[r] && comm->seats[r] <= w->schedule.n_seats)
				set.seats[set.n++] = comm->seats[r] - 1;
		}
		if (add(c, w, set) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

CT_SORT_BY(by_excess, struct candidate, CT_UP(set.kind) ?: CT_DOWN(excess_ns))

/* The first ones of each kind; the others are freed. */
static int play(struct ct_whatif *w, struct candidates *c)
{
	static const uint32_t most[] = { 1, CT_WHATIF_HOSTS, CT_WHATIF_GROUPS };
	uint32_t taken[] = { 0, 0, 0 };

	w->sets = calloc(1 + CT_WHATIF_HOSTS + CT_WHATIF_GROUPS, sizeof(*w->sets));
	if (c->n)
		qsort(c->all, c->n, sizeof(*c->all), by_excess);
	for (uint32_t k = 0; k < c->n; k++) {
		struct ct_whatif_set *set = &c->all[k].set;

		if (!w->sets || taken[set->kind] == most[set->kind]) {
			free(set->seats);
			continue;
		}
		taken[set->kind]++;
		set->loss = ct_whatif_play(w, set->seats, set->n);
		w->sets[w->n_sets++] = *set;
	}
	free(c->all);
	return w->sets ? CT_OK : CT_NOMEM;
}

int ct_whatif_sets(struct ct_whatif *w, const struct ct_comms *comms, const uint32_t *host_of)
{
	struct candidates c = { 0 };
	int st = add_latest(&c, w);

	if (st == CT_OK)
		st = add_hosts(&c, w, host_of);
	if (st == CT_OK)
		st = add_groups(&c, w, comms);
	if (st != CT_OK) {
		for (uint32_t k = 0; k < c.n; k++)
			free(c.all[k].set.seats);
		free(c.all);
		return st;
	}
	return play(w, &c);
}
