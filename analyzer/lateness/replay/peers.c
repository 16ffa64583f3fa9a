/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/peers.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "trace/status.h"

/* Launches that have to be alike, with the one itself, for two places to be one position. */
#define CONTEXT 8u
#define MOST_MEMBERS 31u

struct sequence {
	uint64_t hash;
	uint32_t seat, len;
};

void ct_peers_fini(struct ct_peers *peers)
{
	free(peers->groups);
	free(peers->seats);
	free(peers->positions);
	free(peers->group_of);
	*peers = (struct ct_peers){ 0 };
}

static struct sequence sequence_of(const struct ct_schedule *s, uint32_t seat)
{
	struct sequence q = { .seat = seat, .len = s->seat_first[seat + 1] - s->seat_first[seat] };

	for (uint32_t l = s->seat_first[seat]; l < s->seat_first[seat + 1]; l++)
		q.hash = ct_mix(q.hash ^ s->launches[l].kind) + s->launches[l].stretch;
	return q;
}

/* What is done at a place, and after how long. */
struct timed_kind {
	uint64_t kind;
	int64_t interval_ns;
	uint32_t place;
};

CT_SORT_BY(by_kind, struct timed_kind, CT_UP(kind) ?: CT_UP(interval_ns))

CT_SORT_BY(by_hash, struct sequence, CT_UP(hash) ?: CT_UP(len) ?: CT_UP(seat))

/* Since the launch before it, of the member that is in the middle. */
static int64_t interval(const struct ct_peers *peers, const struct ct_peer_group *g,
			const struct ct_schedule *s, uint32_t place, int64_t *values)
{
	uint32_t n = g->n < MOST_MEMBERS ? g->n : MOST_MEMBERS;

	for (uint32_t m = 0; m < n && place; m++) {
		const struct ct_schedule_launch
			*l = &s->launches[s->seat_first[peers->seats[g->first + m]] + place];

		values[m] = l->start_ns - l[-1].start_ns;
	}
	if (!place)
		return 0;
	qsort(values, n, sizeof(*values), ct_by_i64);
	return values[n / 2];
}

/* Where the same operation comes again and again the time before it tells one place from another: what comes after a pause
 * (twice the shorter quarter of its kind) is another kind. */
static void tell_pauses(uint64_t *kinds, struct timed_kind *all, uint32_t n)
{
	qsort(all, n, sizeof(*all), by_kind);
	for (uint32_t first = 0, end = 0; first < n; first = end) {
		int64_t usual;

		while (end < n && all[end].kind == all[first].kind)
			end++;
		usual = all[first + (end - first) / 4].interval_ns;
		for (uint32_t k = first; k < end; k++) {
			if (all[k].interval_ns / 2 > usual)
				kinds[all[k].place] = ct_mix(all[k].kind + 1);
		}
	}
}

/* What a group does at each place. NULL: out of memory; else the caller's. */
static uint64_t *kinds_of(const struct ct_peers *peers, const struct ct_peer_group *g,
			  const struct ct_schedule *s)
{
	uint32_t first = s->seat_first[peers->seats[g->first]];
	uint64_t *kinds = malloc(((size_t)g->len + 1) * sizeof(*kinds));
	struct timed_kind *all = malloc(((size_t)g->len + 1) * sizeof(*all));
	int64_t values[MOST_MEMBERS];

	for (uint32_t k = 0; kinds && all && k < g->len; k++) {
		kinds[k] = s->launches[first + k].kind;
		all[k] = (struct timed_kind){ kinds[k], interval(peers, g, s, k, values), k };
	}
	if (kinds && all) {
		tell_pauses(kinds, all, g->len);
	} else {
		free(kinds);
		kinds = NULL;
	}
	free(all);
	return kinds;
}

/* Of the launches from this place on. */
static uint64_t what_follows(const uint64_t *kinds, uint32_t place)
{
	uint64_t hash = 0;

	for (uint32_t j = 0; j < CONTEXT; j++)
		hash = ct_mix(hash + 1) ^ kinds[place + j];
	return hash;
}

/* The first places have nothing before them: they are like the next ones that go on alike. */
static void number_first(const struct ct_peer_group *g, const uint64_t *kinds, uint32_t *positions)
{
	for (uint32_t k = 0; k < CONTEXT && k + CONTEXT <= g->len; k++) {
		uint64_t hash = what_follows(kinds, k);
		uint32_t like = CONTEXT;

		while (like + CONTEXT <= g->len && what_follows(kinds, like) != hash)
			like++;
		if (like + CONTEXT <= g->len)
			positions[k] = positions[like];
	}
}

static int number(struct ct_peers *peers, struct ct_peer_group *g, const struct ct_schedule *s)
{
	uint32_t *positions = &peers->positions[g->first_position];
	uint64_t *kinds = kinds_of(peers, g, s);
	struct ct_table known = { 0 };
	int st = kinds ? CT_OK : CT_NOMEM;

	for (uint32_t k = 0; k < g->len && st == CT_OK; k++) {
		uint64_t context = 0;
		uintptr_t at;

		for (uint32_t j = k; j + CONTEXT > k && j != UINT32_MAX; j--)
			context = ct_mix(context + 1) ^ kinds[j];
		at = (uintptr_t)ct_table_get(&known, context);
		if (!at) {
			at = known.n < CT_PEERS_POSITIONS ? known.n + 1 : CT_PEERS_POSITIONS;
			if (known.n < CT_PEERS_POSITIONS)
				st = ct_table_put(&known, context, (void *)at);
		}
		positions[k] = (uint32_t)at - 1;
	}
	if (st == CT_OK)
		number_first(g, kinds, positions);
	g->n_positions = (uint32_t)known.n;
	ct_table_fini(&known);
	free(kinds);
	return st;
}

/* Of the launch at a place and those before it. */
static uint64_t what_precedes(const struct ct_peers *peers, const struct ct_peer_group *g,
			      const struct ct_schedule *s, uint32_t place)
{
	uint32_t first = s->seat_first[peers->seats[g->first]];
	uint64_t hash = 0;

	for (uint32_t j = place; j + CONTEXT > place && j != UINT32_MAX; j--)
		hash = ct_mix(hash + 1) ^ s->launches[first + j].kind;
	return hash;
}

int ct_peers_alike(const struct ct_peers *peers, const struct ct_peer_group *g,
		   const struct ct_schedule *s, uint32_t *alike, uint32_t *times)
{
	const uint32_t *positions = &peers->positions[g->first_position];
	struct ct_table leaders = { 0 };
	int st = CT_OK;

	for (uint32_t p = 0; p < g->n_positions; p++) {
		alike[p] = p;
		times[p] = 0;
	}
	for (uint32_t k = 0; k < g->len; k++)
		times[positions[k]]++;
	for (uint32_t k = 0; k < g->len && st == CT_OK; k++) {
		uint64_t key = what_precedes(peers, g, s, k);
		uintptr_t known = (uintptr_t)ct_table_get(&leaders, key);

		if (!known || times[positions[k]] > times[known - 1])
			st = ct_table_put(&leaders, key, (void *)((uintptr_t)positions[k] + 1));
	}
	for (uint32_t k = 0; k < g->len && st == CT_OK; k++)
		alike[positions[k]] = (uint32_t)(uintptr_t)ct_table_get(
					      &leaders, what_precedes(peers, g, s, k)) -
				      1;
	ct_table_fini(&leaders);
	return st;
}

static int group_up(struct ct_peers *peers, const struct ct_schedule *s, const struct sequence *all,
		    uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < n; k++) {
		struct ct_peer_group *g;

		peers->seats[k] = all[k].seat;
		if (k == 0 || all[k].hash != all[k - 1].hash || all[k].len != all[k - 1].len) {
			peers->groups[peers->n_groups++] = (struct ct_peer_group){
				.first = k,
				.len = all[k].len,
				.first_position = at,
			};
			at += all[k].len;
		}
		g = &peers->groups[peers->n_groups - 1];
		g->n++;
		peers->group_of[all[k].seat] = peers->n_groups - 1;
	}
	for (uint32_t g = 0; g < peers->n_groups; g++) {
		if (number(peers, &peers->groups[g], s) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

int ct_peers_find(struct ct_peers *peers, const struct ct_schedule *s)
{
	size_t seats = (size_t)s->n_seats + 1;
	struct sequence *all = malloc(seats * sizeof(*all));
	uint32_t n = 0;
	int st = CT_NOMEM;

	*peers = (struct ct_peers){ 0 };
	peers->groups = malloc(seats * sizeof(*peers->groups));
	peers->seats = malloc(seats * sizeof(*peers->seats));
	peers->group_of = malloc(seats * sizeof(*peers->group_of));
	peers->positions = malloc(((size_t)s->n_launches + 1) * sizeof(*peers->positions));
	if (all && peers->groups && peers->seats && peers->group_of && peers->positions) {
		for (uint32_t seat = 0; seat < s->n_seats; seat++) {
			peers->group_of[seat] = UINT32_MAX;
			all[n] = sequence_of(s, seat);
			n += all[n].len > 0;
		}
		qsort(all, n, sizeof(*all), by_hash);
		st = group_up(peers, s, all, n);
	}
	free(all);
	return st;
}
