/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/whatif.h"
#include "analyzer/stream/instance_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/union_find.h"
#include "trace/status.h"

/* Of a window's length, for it to count. */
#define WINDOW_SHARE 0.005

void ct_whatif_fini(struct ct_whatif *w)
{
	ct_schedule_fini(&w->schedule);
	ct_peers_fini(&w->peers);
	ct_usual_fini(&w->usual);
	ct_replay_fini(&w->replay);
	free(w->gap_ns);
	free(w->base_window_ns);
	free(w->base_span_ns);
	free(w->is_asked);
	free(w->ranks);
	for (uint32_t k = 0; k < w->n_sets; k++)
		free(w->sets[k].seats);
	free(w->sets);
	*w = (struct ct_whatif){ 0 };
}

/* By how much the play is shorter than that of what was measured, and in how many windows. */
static struct ct_whatif_loss loss_of(const struct ct_whatif *w)
{
	const struct ct_schedule *s = &w->schedule;
	struct ct_whatif_loss loss = { .loss_ns = w->replayed_ns - w->replay.total_ns };

	for (uint32_t k = 0; k < s->n_windows; k++) {
		int64_t base = w->base_window_ns[k], played = w->replay.window_ns[k];

		if (k % s->windows_each) {
			base -= w->base_window_ns[k - 1];
			played -= w->replay.window_ns[k - 1];
		}
		loss.windows += (double)(base - played) > WINDOW_SHARE * (double)base;
	}
	return loss;
}

/* Into w->gap_ns. 0 or CT_NOMEM. */
static int pace(struct ct_whatif *w, const uint32_t *seats, uint32_t n)
{
	uint8_t *in = calloc((size_t)w->schedule.n_seats + 1, 1);
	int st = CT_NOMEM;

	for (uint32_t k = 0; in && k < n; k++)
		in[seats[k]] = 1;
	if (in)
		st = ct_usual_together(&w->usual, &w->schedule, &w->peers, in, w->gap_ns);
	free(in);
	return st;
}

struct ct_whatif_loss ct_whatif_play(struct ct_whatif *w, const uint32_t *seats, uint32_t n)
{
	const struct ct_schedule *s = &w->schedule;
	struct ct_whatif_loss loss;

	if (pace(w, seats, n) != CT_OK)
		return (struct ct_whatif_loss){ 0 };
	ct_replay_run(&w->replay, s, w->gap_ns, NULL, 0);
	loss = loss_of(w);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t first = s->seat_first[seats[k]], end = s->seat_first[seats[k] + 1];

		memcpy(w->gap_ns + first, s->gap_ns + first, (end - first) * sizeof(*w->gap_ns));
	}
	return loss;
}

int64_t ct_whatif_alone(struct ct_whatif *w, const uint32_t *seats, uint32_t n)
{
	const struct ct_schedule *s = &w->schedule;
	const int64_t *gap_ns = s->gap_ns, *usual_ns = w->usual.usual_ns;
	int64_t even_ns, with_ns;

	for (uint32_t l = 0; l < s->n_launches; l++)
		w->gap_ns[l] = usual_ns[l] < gap_ns[l] ? usual_ns[l] : gap_ns[l];
	even_ns = ct_replay_run(&w->replay, s, w->gap_ns, NULL, 0);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t first = s->seat_first[seats[k]], end = s->seat_first[seats[k] + 1];

		memcpy(w->gap_ns + first, gap_ns + first, (end - first) * sizeof(*gap_ns));
	}
	with_ns = ct_replay_run(&w->replay, s, w->gap_ns, NULL, 0);
	memcpy(w->gap_ns, gap_ns, s->n_launches * sizeof(*gap_ns));
	return with_ns > even_ns ? with_ns - even_ns : 0;
}

/* ---- ranks ---- */

/* Those with the longest gaps beyond the usual ones are asked for, too. */
static void ask(struct ct_whatif *w)
{
	for (uint32_t k = 0; k < CT_WHATIF_RANKS; k++) {
		uint32_t most = UINT32_MAX;

		for (uint32_t s = 0; s < w->schedule.n_seats; s++) {
			if (w->is_asked[s] || !w->usual.by_peers[s])
				continue;
			if (most == UINT32_MAX || w->usual.excess_ns[s] > w->usual.excess_ns[most])
				most = s;
		}
		if (most == UINT32_MAX)
			return;
		w->is_asked[most] = 1;
	}
}

static void play_ranks(struct ct_whatif *w, const uint8_t *asked)
{
	for (uint32_t s = 0; asked && s < w->schedule.n_seats; s++)
		w->is_asked[s] = asked[s];
	ask(w);
	for (uint32_t s = 0; s < w->schedule.n_seats; s++) {
		if (w->is_asked[s])
			w->ranks[s] = ct_whatif_play(w, &s, 1);
	}
}

int ct_whatif_is_known(const struct ct_whatif *w, const uint32_t *seats, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		if (!w->usual.by_peers[seats[k]])
			return 0;
	}
	return n > 0;
}

/* Communication that takes no time: with all gaps counted from the last end before them, so that no transfer is in a gap. Some
 * computing may be: what it hid is not known, and the run comes out shorter than it could be. */
static int play_free(struct ct_whatif *w)
{
	struct ct_replay free_of_it = { 0 };
	int st = ct_replay_init(&free_of_it, &w->schedule);

	if (st == CT_OK)
		w->free_ns = ct_replay_run(&free_of_it, &w->schedule, w->schedule.gap_ns, NULL, 1);
	ct_replay_fini(&free_of_it);
	return st;
}

static int prepare(struct ct_whatif *w, const struct ct_tape *tape, const uint32_t *host_of)
{
	struct ct_schedule *s = &w->schedule;
	int st = ct_schedule_build(s, tape, host_of);

	if (st == CT_OK)
		st = ct_schedule_order(s);
	if (st == CT_OK)
		st = play_free(w);
	if (st == CT_OK)
		st = ct_peers_find(&w->peers, s);
	if (st == CT_OK)
		st = ct_peers_anchor(&w->peers, s);
	if (st == CT_OK)
		st = ct_schedule_order(s);
	if (st == CT_OK)
		st = ct_usual_find(&w->usual, s, &w->peers);
	if (st == CT_OK)
		st = ct_replay_init(&w->replay, s);
	w->gap_ns = malloc(((size_t)s->n_launches + 1) * sizeof(*w->gap_ns));
	w->base_window_ns = malloc(((size_t)s->n_windows + 1) * sizeof(*w->base_window_ns));
	w->base_span_ns = calloc((size_t)s->n_seats + 1, sizeof(*w->base_span_ns));
	w->is_asked = calloc((size_t)s->n_seats + 1, 1);
	w->ranks = calloc((size_t)s->n_seats + 1, sizeof(*w->ranks));
	if (st != CT_OK || !w->gap_ns || !w->base_window_ns || !w->base_span_ns || !w->is_asked ||
	    !w->ranks)
		return CT_NOMEM;
	memcpy(w->gap_ns, s->gap_ns, s->n_launches * sizeof(*w->gap_ns));
	return CT_OK;
}

/* Do all ranks hang together? Of two that do not the longer one would hide what the other one lost. 1, 0 or CT_NOMEM. */
static int is_connected(const struct ct_schedule *s)
{
	uint32_t *up = malloc(((size_t)s->n_seats + 1) * sizeof(*up)), root = UINT32_MAX;
	int connected = 1;

	if (!up)
		return CT_NOMEM;
	for (uint32_t k = 0; k < s->n_seats; k++)
		up[k] = k;
	for (uint32_t m = 0; m < s->n_meetings; m++) {
		const struct ct_schedule_part *parts = &s->parts[s->meetings[m].first_part];
		uint32_t first = ct_group_of(up, s->launches[parts[0].launch].seat);

		for (uint32_t p = 1; p < s->meetings[m].n; p++)
			up[ct_group_of(up, s->launches[parts[p].launch].seat)] = first;
	}
	for (uint32_t k = 0; k < s->n_seats; k++) {
		if (s->seat_first[k] == s->seat_first[k + 1])
			continue;
		if (root == UINT32_MAX)
			root = ct_group_of(up, k);
		connected &= ct_group_of(up, k) == root;
	}
	free(up);
	return connected;
}

/* What was measured, played: it should take as long. */
static int check(struct ct_whatif *w)
{
	const struct ct_schedule *s = &w->schedule;
	double meetings = (double)s->n_meetings + s->untimed;
	int connected = is_connected(s);

	if (connected < 0)
		return connected;
	w->total_ns = s->total_ns;
	w->replayed_ns = ct_replay_run(&w->replay, s, s->gap_ns, NULL, 0);
	memcpy(w->base_window_ns, w->replay.window_ns, s->n_windows * sizeof(*w->base_window_ns));
	for (uint32_t seat = 0; seat < s->n_seats; seat++)
		w->base_span_ns[seat] = ct_replay_spans(&w->replay, s, seat);
	w->error_pct = w->total_ns ? 100 * fabs((double)w->replayed_ns - (double)w->total_ns) /
					     (double)w->total_ns
				   : NAN;
	w->left_out_pct = meetings > 0 ? 100 * (s->untimed + (double)s->broken) / meetings : NAN;
	w->is_close = connected && w->error_pct <= CT_WHATIF_ERROR_PCT &&
		      w->left_out_pct <= CT_WHATIF_LEFT_OUT_PCT;
	ct_replay_run(&w->replay, s, w->usual.usual_ns, NULL, 0);
	w->usual_ns = w->replay.total_ns;
	return CT_OK;
}

int ct_whatif_run(struct ct_whatif *w, const struct ct_tape *tape, const struct ct_comms *comms,
		  const uint32_t *host_of, const uint8_t *asked)
{
	int st = prepare(w, tape, host_of);

	if (st == CT_OK)
		st = check(w);
	if (st != CT_OK)
		return st;
	play_ranks(w, asked);
	return ct_whatif_sets(w, comms, host_of);
}
