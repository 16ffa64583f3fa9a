/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/whatif/usual.h"

#include <stdlib.h>

#include "trace/status.h"

/* Windows that a median is made of where there are no peers. */
#define LEAST_WINDOWS 5u

void ct_usual_fini(struct ct_usual *u)
{
	free(u->usual_ns);
	free(u->paced_ns);
	free(u->excess_ns);
	free(u->by_peers);
	*u = (struct ct_usual){ 0 };
}

struct finding_usual {
	struct ct_usual *u;
	const struct ct_schedule *s;
	const struct ct_peers *peers;
	const struct ct_peer_group *g;
	int64_t *values; /* of a median */
	/* by position x window, of one member: sums, and how often */
	double *own, *usual;
	uint32_t *times;
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median(int64_t *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : values[n / 2 - 1] + (values[n / 2] - values[n / 2 - 1]) / 2;
}

static uint32_t launch_of(const struct finding_usual *f, uint32_t member, uint32_t place)
{
	return f->s->seat_first[f->peers->seats[f->g->first + member]] + place;
}

/* How many launches back its gap begins; UINT32_MAX: at the stretch's begin. */
static uint32_t reach(const struct finding_usual *f, uint32_t launch)
{
	uint32_t from = f->s->launches[launch].from;

	return from == CT_NO_LAUNCH ? UINT32_MAX : launch - from;
}

/* Where most gaps begin. */
static uint32_t most_reach(const struct finding_usual *f, uint32_t place)
{
	uint32_t most = UINT32_MAX, votes = 0;

	for (uint32_t m = 0; m < f->g->n; m++) {
		uint32_t r = reach(f, launch_of(f, m, place));

		if (!votes)
			most = r;
		votes += r == most ? 1u : -1u;
	}
	return most;
}

/* Median of sorted values but one of this value. */
static int64_t median_of_others(const int64_t *sorted, uint32_t n, int64_t but)
{
	uint32_t at = 0, low = (n - 2) / 2, high = (n - 1) / 2;

	while (sorted[at] < but)
		at++;
	low += low >= at;
	high += high >= at;
	return sorted[low] + (sorted[high] - sorted[low]) / 2;
}

/* Gaps that begin at the same launch can be compared. First starts tell who was started late, not who is slow. Who is judged
 * is not in the measure. */
static void among_peers(const struct finding_usual *f, uint32_t place)
{
	uint32_t most = most_reach(f, place), n = 0;

	for (uint32_t m = 0; m < f->g->n; m++) {
		uint32_t l = launch_of(f, m, place);

		f->u->usual_ns[l] = f->s->gap_ns[l];
		if (reach(f, l) == most)
			f->values[n++] = f->s->gap_ns[l];
	}
	if (most == UINT32_MAX || n < CT_PEERS_LEAST)
		return;
	qsort(f->values, n, sizeof(*f->values), by_value);
	for (uint32_t m = 0; m < f->g->n; m++) {
		uint32_t l = launch_of(f, m, place);

		if (reach(f, l) == most)
			f->u->usual_ns[l] = median_of_others(f->values, n, f->s->gap_ns[l]);
	}
}

static uint32_t cell(const struct finding_usual *f, uint32_t member, uint32_t place)
{
	uint32_t window = ct_schedule_window(f->s, &f->s->launches[launch_of(f, member, place)]);

	return f->peers->positions[f->g->first_position + place] * f->s->n_windows + window;
}

static void add_up(const struct finding_usual *f, uint32_t member)
{
	uint32_t cells = f->g->n_positions * f->s->n_windows;

	for (uint32_t c = 0; c < cells; c++) {
		f->own[c] = f->usual[c] = 0;
		f->times[c] = 0;
	}
	for (uint32_t k = 0; k < f->g->len; k++) {
		uint32_t l = launch_of(f, member, k), c = cell(f, member, k);

		f->own[c] += (double)f->s->gap_ns[l];
		f->usual[c] += (double)f->u->usual_ns[l];
		f->times[c]++;
	}
}

/* Without peers: usual is the median window's mean. */
static void by_itself(const struct finding_usual *f)
{
	for (uint32_t p = 0; p < f->g->n_positions; p++) {
		uint32_t first = p * f->s->n_windows, n = 0;
		int64_t usual;

		for (uint32_t c = first; c < first + f->s->n_windows; c++) {
			if (f->times[c])
				f->values[n++] = (int64_t)(f->own[c] / f->times[c]);
		}
		if (n < LEAST_WINDOWS)
			continue;
		usual = median(f->values, n);
		for (uint32_t c = first; c < first + f->s->n_windows; c++)
			f->usual[c] = (double)usual * f->times[c];
	}
}

static void pace(const struct finding_usual *f, uint32_t member)
{
	uint32_t seat = f->peers->seats[f->g->first + member];
	int by_peers = f->g->n >= CT_PEERS_LEAST;

	f->u->by_peers[seat] = (uint8_t)by_peers;
	add_up(f, member);
	if (!by_peers)
		by_itself(f);
	for (uint32_t k = 0; k < f->g->len; k++) {
		uint32_t l = launch_of(f, member, k), c = cell(f, member, k);
		double gap = (double)f->s->gap_ns[l], paced = gap;

		/* without any time of its own there is nothing to scale; when it was started tells nothing */
		if (f->own[c] > 0 && reach(f, l) != UINT32_MAX)
			paced = gap * (f->usual[c] / f->own[c]);
		f->u->paced_ns[l] = (int64_t)paced;
		f->u->excess_ns[seat] += gap - paced;
	}
}

static int find_group(struct finding_usual *f)
{
	size_t cells = (size_t)f->g->n_positions * f->s->n_windows + 1;
	uint32_t values = f->g->n > f->s->n_windows ? f->g->n : f->s->n_windows;
	int ok;

	f->values = malloc(((size_t)values + 1) * sizeof(*f->values));
	f->own = malloc(cells * sizeof(*f->own));
	f->usual = malloc(cells * sizeof(*f->usual));
	f->times = malloc(cells * sizeof(*f->times));
	ok = f->values && f->own && f->usual && f->times;
	for (uint32_t k = 0; ok && k < f->g->len; k++)
		among_peers(f, k);
	for (uint32_t m = 0; ok && m < f->g->n; m++)
		pace(f, m);
	free(f->values);
	free(f->own);
	free(f->usual);
	free(f->times);
	return ok ? CT_OK : CT_NOMEM;
}

int ct_usual_find(struct ct_usual *u, const struct ct_schedule *s, const struct ct_peers *peers)
{
	int st = CT_OK;

	*u = (struct ct_usual){ 0 };
	u->usual_ns = calloc((size_t)s->n_launches + 1, sizeof(*u->usual_ns));
	u->paced_ns = calloc((size_t)s->n_launches + 1, sizeof(*u->paced_ns));
	u->excess_ns = calloc((size_t)s->n_seats + 1, sizeof(*u->excess_ns));
	u->by_peers = calloc((size_t)s->n_seats + 1, 1);
	if (!u->usual_ns || !u->paced_ns || !u->excess_ns || !u->by_peers)
		return CT_NOMEM;
	for (uint32_t g = 0; g < peers->n_groups && st == CT_OK; g++) {
		struct finding_usual f = { .u = u, .s = s, .peers = peers, .g = &peers->groups[g] };

		st = find_group(&f);
	}
	return st;
}
