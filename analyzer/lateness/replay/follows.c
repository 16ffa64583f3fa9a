/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/follows.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/status.h"

/* How many launches back. */
#define FARTHEST 16u
#define LEAST_TIMES 8u
#define SHARE 0.9
/* To be one of two: what the other one does not explain. */
#define SHARE_OF_SECOND 0.05
/* From the end on one stream to the start on another that waits for it: a few us on GPUs. */
#define HANDOVER_NS 5000

struct times {
	uint32_t n; /* launches that did not queue up */
	uint32_t touching[FARTHEST + 1];
};

/* Did it start as the launch so many places before it ended? */
static int touches(const struct ct_schedule *s, uint32_t launch, uint32_t lag)
{
	const struct ct_schedule_launch *l = &s->launches[launch], *c = l - lag;
	int64_t between = l->start_ns - ct_schedule_end(c), near = (int64_t)l->err_ns + HANDOVER_NS;

	return c->stretch == l->stretch && between <= near && between >= -near;
}

/* How often launches of a position touch what lies before them; those that touch what is followed already do not count again. */
static void count(const struct ct_peers *peers, const struct ct_peer_group *g,
		  const struct ct_schedule *s, const struct ct_follows *follows,
		  struct times *times)
{
	memset(times, 0, g->n_positions * sizeof(*times));
	for (uint32_t m = 0; m < g->n; m++) {
		uint32_t first = s->seat_first[peers->seats[g->first + m]];

		for (uint32_t k = FARTHEST; k < g->len; k++) {
			uint32_t p = peers->positions[g->first_position + k], l = first + k;
			struct times *t = &times[p];

			if (ct_schedule_is_queued(s, &s->launches[l]))
				continue;
			t->n++;
			if (follows[p].first && touches(s, l, follows[p].first))
				continue;
			for (uint32_t lag = 1; lag <= FARTHEST; lag++)
				t->touching[lag] += touches(s, l, lag);
		}
	}
}

/* The nearest of those that are touched most often. */
static uint8_t most_touched(const struct times *t)
{
	uint8_t most = 1;

	for (uint8_t lag = 2; lag <= FARTHEST; lag++)
		most = t->touching[lag] > t->touching[most] ? lag : most;
	return most;
}

int ct_follows_find(const struct ct_peers *peers, const struct ct_peer_group *g,
		    const struct ct_schedule *s, struct ct_follows *follows)
{
	struct times *times = malloc(((size_t)g->n_positions + 1) * sizeof(*times));
	uint32_t *of_first = malloc(((size_t)g->n_positions + 1) * sizeof(*of_first));

	memset(follows, 0, g->n_positions * sizeof(*follows));
	if (times && of_first) {
		count(peers, g, s, follows, times);
		for (uint32_t p = 0; p < g->n_positions; p++) {
			follows[p].first = most_touched(&times[p]);
			of_first[p] = times[p].touching[follows[p].first];
		}
		count(peers, g, s, follows, times);
	}
	for (uint32_t p = 0; times && of_first && p < g->n_positions; p++) {
		uint8_t lag = most_touched(&times[p]);
		double n = times[p].n, second = times[p].touching[lag];

		if (second >= SHARE_OF_SECOND * n)
			follows[p].second = lag;
		else
			second = 0;
		if (n < LEAST_TIMES || of_first[p] + second < SHARE * n)
			follows[p] = (struct ct_follows){ 0 };
	}
	free(times);
	free(of_first);
	return times && of_first ? CT_OK : CT_NOMEM;
}
