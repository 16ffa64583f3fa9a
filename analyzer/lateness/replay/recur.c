/* SPDX-License-Identifier: Apache-2.0 */
/* Do ranks take longer than their peers round after round, or is it that somebody always takes longest? */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/stats.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/replay/judge.h"
#include "trace/status.h"

/* What ranks of a group of peers hold beyond the usual gaps, by member and round. */
struct excess {
	float *all;   /* by seat x round */
	float *own;   /* by round: the least of the suspects, summed over groups */
	float *other; /* by round: the most of their peers, likewise */
	float *room;
	uint32_t n;
};

/* Peers do the same at the same place of their sequences: so a part of the sequence is the same round for all of them. */
static void add_up(const struct ct_whatif *w, uint32_t seat, struct excess *e)
{
	const struct ct_schedule *s = &w->schedule;
	uint32_t first = s->seat_first[seat], len = s->seat_first[seat + 1] - first;

	for (uint32_t k = 0; k < len; k++) {
		uint32_t round = (uint32_t)((uint64_t)k * e->n / len);

		e->all[(size_t)seat * e->n + round] += (float)(s->gap_ns[first + k] -
							       w->usual.usual_ns[first + k]);
	}
}

static int is_one_of(const uint32_t *seats, uint32_t n, uint32_t seat)
{
	for (uint32_t k = 0; k < n; k++) {
		if (seats[k] == seat)
			return 1;
	}
	return 0;
}

/* Suspects in a group of peers against the others there. log10 of the number of sets of so many; 0: there are no others. */
static double add_group(const struct ct_whatif *w, const struct ct_peer_group *g,
			const uint32_t *seats, uint32_t n, struct excess *e)
{
	double in = 0, all = g->n;

	for (uint32_t m = 0; m < g->n; m++)
		in += is_one_of(seats, n, w->peers.seats[g->first + m]);
	if (in == 0 || in == all)
		return 0;
	for (uint32_t u = 0; u < e->n; u++) {
		float least = INFINITY, most = -INFINITY;

		for (uint32_t m = 0; m < g->n; m++) {
			uint32_t seat = w->peers.seats[g->first + m];
			float excess = e->all[(size_t)seat * e->n + u];

			if (is_one_of(seats, n, seat))
				least = excess < least ? excess : least;
			else
				most = excess > most ? excess : most;
		}
		e->own[u] += least;
		e->other[u] += most;
	}
	return ct_log_choose(all, in) / log(10);
}

/* Ranks of one host, or of one group, may have something in common that comes and goes: then it is not more unlikely than
 * that it is one of so many hosts. */
static double least_log10(const struct ct_whatif *w, uint32_t n)
{
	return log10((double)n / (double)w->schedule.n_seats);
}

int ct_whatif_recurs(const struct ct_whatif *w, const struct ct_lateness *late,
		     const uint32_t *seats, uint32_t n, int is_chosen, struct ct_recurrence *out)
{
	struct excess e = { .n = late->rounds.n };
	double log10_sets = 0, log10_p, sum = 0;
	int st = CT_NOMEM;

	*out = (struct ct_recurrence){ .rounds = e.n, .spread_ns = INFINITY };
	if (e.n < CT_ROUNDS_LEAST)
		return CT_OK;
	e.all = calloc((size_t)w->schedule.n_seats * e.n + 1, sizeof(*e.all));
	e.own = calloc(3 * ((size_t)e.n + 1), sizeof(*e.own));
	if (e.all && e.own) {
		e.other = e.own + e.n + 1;
		e.room = e.other + e.n + 1;
		for (uint32_t s = 0; s < w->schedule.n_seats; s++)
			add_up(w, s, &e);
		for (uint32_t g = 0; g < w->peers.n_groups; g++)
			log10_sets += add_group(w, &w->peers.groups[g], seats, n, &e);
		log10_p = is_chosen ? -log10_sets : fmax(-log10_sets, least_log10(w, n));
		ct_recurrence_of(e.own, e.other, e.n, pow(10, log10_p), e.room, out);
		for (uint32_t u = 0; u < e.n; u++)
			sum += (double)e.own[u];
		out->spread_ns = sum > 0 ? out->spread_ns / sum : INFINITY;
		if (is_chosen)
			out->log10_p += log10_sets;
		else
			out->log10_p -= least_log10(w, n);
		st = CT_OK;
	}
	free(e.all);
	free(e.own);
	return st;
}
