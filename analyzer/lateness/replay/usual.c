/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/usual.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/pace.h"
#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/status.h"

/* Windows that a median is made of where there are no peers. */
#define LEAST_WINDOWS 5u
/* One of so many peers, and less, are few: without them the median of all is another by 0.16 standard deviations. */
#define FEW 8u

void ct_usual_fini(struct ct_usual *u)
{
	free(u->usual_ns);
	free(u->paced_ns);
	free(u->excess_ns);
	free(u->by_peers);
	*u = (struct ct_usual){ 0 };
}

struct finding_usual {
	int64_t *usual_ns, *paced_ns; /* by launch */
	const struct ct_schedule *s;
	const struct ct_peers *peers;
	const struct ct_peer_group *g;
	const uint8_t *
		in; /* by seat: the set whose gaps are looked for, held against all others; NULL: each against all others */
	int64_t *values; /* of a median */
	/* by position x window, of one member: sums, and how often */
	double *own, *usual;
	uint32_t *times;
};

/* Median of sorted values. */
static int64_t middle(const int64_t *sorted, uint32_t n)
{
	return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
}

static int64_t median(int64_t *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), ct_by_i64);
	return middle(values, n);
}

static int is_in(const struct finding_usual *f, uint32_t member)
{
	return f->in && f->in[f->peers->seats[f->g->first + member]];
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

/* A launch that queued up behind the one that it counts from was ready before: nobody knows when. */
static int is_told(const struct finding_usual *f, uint32_t launch)
{
	const struct ct_schedule_launch *l = &f->s->launches[launch];

	return l->from == CT_NO_LAUNCH || l->from != l->after || !ct_schedule_is_queued(f->s, l);
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
 * is not in the measure, alone or with all of the set. */
static void among_peers(const struct finding_usual *f, uint32_t place)
{
	uint32_t most = most_reach(f, place), n = 0;

	for (uint32_t m = 0; m < f->g->n; m++) {
		uint32_t l = launch_of(f, m, place);

		f->usual_ns[l] = f->s->gap_ns[l];
		if (reach(f, l) == most && !is_in(f, m) && is_told(f, l))
			f->values[n++] = f->s->gap_ns[l];
	}
	if (most == UINT32_MAX || n < (f->in ? CT_PEERS_LEAST - 1 : CT_PEERS_LEAST))
		return;
	qsort(f->values, n, sizeof(*f->values), ct_by_i64);
	for (uint32_t m = 0; m < f->g->n; m++) {
		uint32_t l = launch_of(f, m, place);

		if (reach(f, l) != most)
			continue;
		f->usual_ns[l] = is_in(f, m) || !is_told(f, l)
					 ? middle(f->values, n)
					 : median_of_others(f->values, n, f->s->gap_ns[l]);
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
		f->usual[c] += (double)f->usual_ns[l];
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

static void pace_by_itself(const struct finding_usual *f, uint32_t member)
{
	add_up(f, member);
	by_itself(f);
	for (uint32_t k = 0; k < f->g->len; k++) {
		uint32_t l = launch_of(f, member, k), c = cell(f, member, k);
		double gap = (double)f->s->gap_ns[l];

		/* without any time of its own there is nothing to scale; when it was started tells nothing */
		if (f->own[c] > 0 && reach(f, l) != UINT32_MAX)
			f->paced_ns[l] = (int64_t)(gap * (f->usual[c] / f->own[c]));
	}
}

static int pace_by_peers(const struct finding_usual *f)
{
	const struct ct_pacing pacing = { .schedule = f->s,
					  .peers = f->peers,
					  .group = f->g,
					  .in = f->in,
					  .usual_ns = f->usual_ns,
					  .paced_ns = f->paced_ns };

	return ct_pace(&pacing);
}

static void add_excess(const struct finding_usual *f, uint32_t member, struct ct_usual *u)
{
	uint32_t seat = f->peers->seats[f->g->first + member];

	u->by_peers[seat] = f->g->n >= CT_PEERS_LEAST;
	for (uint32_t k = 0; k < f->g->len; k++)
		u->excess_ns[seat] += (double)f->s->gap_ns[launch_of(f, member, k)] -
				      (double)f->usual_ns[launch_of(f, member, k)];
}

static int allocate(struct finding_usual *f)
{
	size_t cells = (size_t)f->g->n_positions * f->s->n_windows + 2;
	size_t values = (size_t)f->g->n + f->s->n_windows;

	f->values = malloc((values + 1) * sizeof(*f->values));
	f->own = malloc(cells * sizeof(*f->own));
	f->usual = malloc(cells * sizeof(*f->usual));
	f->times = malloc(cells * sizeof(*f->times));
	return f->values && f->own && f->usual && f->times ? CT_OK : CT_NOMEM;
}

static void release(struct finding_usual *f)
{
	free(f->values);
	free(f->own);
	free(f->usual);
	free(f->times);
}

static int find_group(const struct finding_usual *f, struct ct_usual *u)
{
	int by_peers = f->g->n >= CT_PEERS_LEAST;

	for (uint32_t k = 0; k < f->g->len; k++)
		among_peers(f, k);
	for (uint32_t m = 0; m < f->g->n; m++) {
		for (uint32_t k = 0; k < f->g->len; k++)
			f->paced_ns[launch_of(f, m, k)] = f->s->gap_ns[launch_of(f, m, k)];
		if (!by_peers)
			pace_by_itself(f, m);
		add_excess(f, m, u);
	}
	return by_peers ? pace_by_peers(f) : CT_OK;
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
		struct finding_usual f = { .usual_ns = u->usual_ns,
					   .paced_ns = u->paced_ns,
					   .s = s,
					   .peers = peers,
					   .g = &peers->groups[g] };

		st = allocate(&f);
		if (st == CT_OK)
			st = find_group(&f, u);
		release(&f);
	}
	return st;
}

/* Of a group, how many are in the set. */
static uint32_t shared(const struct ct_peers *peers, const struct ct_peer_group *g,
		       const uint8_t *in)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m < g->n; m++)
		n += in[peers->seats[g->first + m]];
	return n;
}

/* One is held against the others anyway, few hardly move the median, and all have nobody to be held against. */
static void copy_paced(const struct finding_usual *f, const struct ct_usual *u)
{
	for (uint32_t m = 0; m < f->g->n; m++) {
		uint32_t first = launch_of(f, m, 0);

		if (is_in(f, m))
			memcpy(f->paced_ns + first, u->paced_ns + first,
			       f->g->len * sizeof(*f->paced_ns));
	}
}

static int pace_set(const struct finding_usual *f)
{
	for (uint32_t k = 0; k < f->g->len; k++)
		among_peers(f, k);
	for (uint32_t m = 0; m < f->g->n; m++) {
		for (uint32_t k = 0; k < f->g->len && is_in(f, m); k++)
			f->paced_ns[launch_of(f, m, k)] = f->s->gap_ns[launch_of(f, m, k)];
	}
	return pace_by_peers(f);
}

int ct_usual_together(const struct ct_usual *u, const struct ct_schedule *s,
		      const struct ct_peers *peers, const uint8_t *in, int64_t *paced_ns)
{
	int64_t *usual_ns = malloc(((size_t)s->n_launches + 1) * sizeof(*usual_ns));
	int st = usual_ns ? CT_OK : CT_NOMEM;

	for (uint32_t g = 0; g < peers->n_groups && st == CT_OK; g++) {
		struct finding_usual f = { .usual_ns = usual_ns,
					   .paced_ns = paced_ns,
					   .s = s,
					   .peers = peers,
					   .g = &peers->groups[g],
					   .in = in };
		uint32_t n = shared(peers, f.g, in);

		if (n == 0)
			continue;
		if (n == 1 || FEW * n <= f.g->n || n + CT_PEERS_LEAST - 1 > f.g->n) {
			copy_paced(&f, u);
			continue;
		}
		st = allocate(&f);
		if (st == CT_OK)
			st = pace_set(&f);
		release(&f);
	}
	free(usual_ns);
	return st;
}
