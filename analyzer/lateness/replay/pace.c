/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/stats.h"
#include "trace/status.h"

/* Of the members, for how far gaps usually lie apart. */
#define SPREAD_MEMBERS 16u
/* A gap at the usual pace lies no farther from the usual one, but for a few: one in so many. */
#define MOST_SIGMA 3
#define RARE 10u
/* Who needs less than half of what is usual does something else there, and its gaps stay as they are. */
#define ANOTHER_PACE 0.5
/* A step in the pace: so many launches before and behind it at least, and this share of the window's; the means lie so many standard
 * errors apart. A launch counts for three deviations at most: a few stalls are no step. */
#define STEP_LAUNCHES 8u
#define STEP_SHARE 16u
#define STEP_ERRORS 5

struct pacing {
	const struct ct_pacing *p;
	const struct ct_peer_group *g;
	uint32_t *window_of;	       /* by place */
	uint32_t *places, *cell_first; /* places by position and window */
	uint32_t *by_window, *window_first;
	double *spread; /* by cell */
	double *ratios; /* of a median */
	/* of one member */
	double *before, *after;	  /* by cell: pace, and from the step of its window on */
	uint32_t *step;		  /* by window: a place; UINT32_MAX: none */
	uint32_t *often, *stalls; /* by position */
};

int ct_pacing_is_in(const struct ct_pacing *p, uint32_t member)
{
	return p->in && p->in[p->peers->seats[p->group->first + member]];
}

uint32_t ct_pacing_launch(const struct ct_pacing *p, uint32_t member, uint32_t place)
{
	return p->schedule->seat_first[p->peers->seats[p->group->first + member]] + place;
}

/* ---- where ---- */

static uint32_t position_of(const struct pacing *f, uint32_t place)
{
	return f->p->peers->positions[f->g->first_position + place];
}

static uint32_t cell_of(const struct pacing *f, uint32_t place)
{
	return position_of(f, place) * f->p->schedule->n_windows + f->window_of[place];
}

/* Counts at [k] become the end of k's list, which filling from behind turns into its begin. */
static void sum_up(uint32_t *first, uint32_t n)
{
	for (uint32_t k = 1; k <= n; k++)
		first[k] += first[k - 1];
}

/* Places by cell and by window; whose window: that of the first member. */
static void sort_places(const struct pacing *f)
{
	const struct ct_schedule *s = f->p->schedule;
	uint32_t cells = f->g->n_positions * s->n_windows;

	memset(f->cell_first, 0, ((size_t)cells + 1) * sizeof(*f->cell_first));
	memset(f->window_first, 0, ((size_t)s->n_windows + 1) * sizeof(*f->window_first));
	for (uint32_t k = 0; k < f->g->len; k++) {
		f->window_of[k] = ct_schedule_window(s, &s->launches[ct_pacing_launch(f->p, 0, k)]);
		f->cell_first[cell_of(f, k)]++;
		f->window_first[f->window_of[k]]++;
	}
	sum_up(f->cell_first, cells);
	sum_up(f->window_first, s->n_windows);
	for (uint32_t k = f->g->len; k-- > 0;) {
		f->places[--f->cell_first[cell_of(f, k)]] = k;
		f->by_window[--f->window_first[f->window_of[k]]] = k;
	}
}

/* ---- how even ---- */

/* A gap as a multiple of the usual one; where that is nothing there is no pace. */
static double ratio(const struct pacing *f, uint32_t launch)
{
	int64_t usual = f->p->usual_ns[launch];

	return usual > 0 ? (double)f->p->schedule->gap_ns[launch] / (double)usual : 1;
}

/* How far gaps usually lie from the usual one, in standard deviations (1.4826 times the median distance). */
static double spread_of(const struct pacing *f, const uint32_t *places, uint32_t n)
{
	uint32_t count = 0, taken = 0;

	for (uint32_t m = 0; m < f->g->n && taken < SPREAD_MEMBERS; m++) {
		if (ct_pacing_is_in(f->p, m))
			continue;
		taken++;
		for (uint32_t k = 0; k < n; k++)
			f->ratios[count++] = fabs(ratio(f, ct_pacing_launch(f->p, m, places[k])) -
						  1);
	}
	return count ? CT_SD_OF_MAD * ct_median(f->ratios, count) : 0;
}

/* ---- one member ---- */

static double pace_of(const struct pacing *f, uint32_t member, const uint32_t *places, uint32_t n)
{
	double pace;

	for (uint32_t k = 0; k < n; k++)
		f->ratios[k] = ratio(f, ct_pacing_launch(f->p, member, places[k]));
	pace = n ? ct_median(f->ratios, n) : 1;
	return pace > 0 ? pace : 1;
}

/* Where the means before and behind lie farthest apart, of values with a standard deviation of 1; 0: nowhere far enough. */
static uint32_t find_step(const double *values, uint32_t n)
{
	uint32_t least = n / STEP_SHARE > STEP_LAUNCHES ? n / STEP_SHARE : STEP_LAUNCHES, step = 0;
	double all = 0, before = 0, best = STEP_ERRORS;

	for (uint32_t k = 0; k < n; k++)
		all += values[k];
	for (uint32_t k = 1; k + least <= n; k++) {
		double apart, errors;

		before += values[k - 1];
		apart = fabs((all - before) / (n - k) - before / k);
		errors = apart * sqrt((double)k * (n - k) / n);
		if (k >= least && errors > best) {
			best = errors;
			step = k;
		}
	}
	return step;
}

/* From which place on the member's pace is another one, in a window, by all positions. */
static uint32_t step_of(const struct pacing *f, uint32_t member, uint32_t window)
{
	uint32_t first = f->window_first[window], n = f->window_first[window + 1] - first, step;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t place = f->by_window[first + k], c = cell_of(f, place);
		double off = ratio(f, ct_pacing_launch(f->p, member, place)) - f->before[c];

		f->ratios[k] = f->spread[c] > 0
				       ? fmax(-MOST_SIGMA, fmin(MOST_SIGMA, off / f->spread[c]))
				       : 0;
	}
	step = find_step(f->ratios, n);
	return step ? f->by_window[first + step] : UINT32_MAX;
}

/* The pace of each cell; two of them where a step lies within. */
static void find_paces(const struct pacing *f, uint32_t member)
{
	uint32_t windows = f->p->schedule->n_windows, cells = f->g->n_positions * windows;

	for (uint32_t c = 0; c < cells; c++)
		f->before[c] = f->after[c] = pace_of(f, member, f->places + f->cell_first[c],
						     f->cell_first[c + 1] - f->cell_first[c]);
	for (uint32_t w = 0; w < windows; w++)
		f->step[w] = step_of(f, member, w);
	for (uint32_t c = 0; c < cells; c++) {
		const uint32_t *places = f->places + f->cell_first[c];
		uint32_t n = f->cell_first[c + 1] - f->cell_first[c], k = 0;

		while (k < n && places[k] < f->step[c % windows])
			k++;
		if (k == 0 || k == n)
			continue;
		f->before[c] = pace_of(f, member, places, k);
		f->after[c] = pace_of(f, member, places + k, n - k);
	}
}

static double pace_at(const struct pacing *f, uint32_t cell, uint32_t place)
{
	return place < f->step[cell % f->p->schedule->n_windows] ? f->before[cell] : f->after[cell];
}

/* What is left of a gap beside the pace. */
static double rest_of(const struct pacing *f, uint32_t launch, double pace)
{
	return ratio(f, launch) / pace - 1;
}

/* How many of a cell lie far off. */
static uint32_t far_off(const struct pacing *f, uint32_t member, uint32_t cell)
{
	uint32_t far = 0;

	for (uint32_t k = f->cell_first[cell]; k < f->cell_first[cell + 1]; k++)
		far += fabs(rest_of(f, ct_pacing_launch(f->p, member, f->places[k]),
				    pace_at(f, cell, f->places[k]))) > MOST_SIGMA * f->spread[cell];
	return far;
}

/* Those far off are limited, but for stalls that are rare: pace has nothing to do with these. */
static void pace_cell(const struct pacing *f, uint32_t member, uint32_t cell)
{
	uint32_t position = cell / f->p->schedule->n_windows;
	uint32_t n = f->cell_first[cell + 1] - f->cell_first[cell], stalls = f->stalls[position];
	double most = MOST_SIGMA * f->spread[cell];
	int rare = (stalls < 2 || stalls * RARE <= f->often[position]) &&
		   4 * far_off(f, member, cell) <= n;

	for (uint32_t k = f->cell_first[cell]; k < f->cell_first[cell + 1]; k++) {
		uint32_t l = ct_pacing_launch(f->p, member, f->places[k]);
		double pace = pace_at(f, cell, f->places[k]), rest = rest_of(f, l, pace);

		if (f->p->schedule->launches[l].from == CT_NO_LAUNCH || pace < ANOTHER_PACE)
			continue;
		if (!rare)
			rest = fmax(-most, fmin(most, rest));
		f->p->paced_ns[l] = (int64_t)((double)f->p->usual_ns[l] * fmax(0, 1 + rest));
	}
}

static void pace_member(const struct pacing *f, uint32_t member)
{
	uint32_t windows = f->p->schedule->n_windows, cells = f->g->n_positions * windows;

	find_paces(f, member);
	memset(f->often, 0, f->g->n_positions * sizeof(*f->often));
	memset(f->stalls, 0, f->g->n_positions * sizeof(*f->stalls));
	for (uint32_t c = 0; c < cells; c++) {
		f->often[c / windows] += f->cell_first[c + 1] - f->cell_first[c];
		f->stalls[c / windows] += far_off(f, member, c);
	}
	for (uint32_t c = 0; c < cells; c++)
		pace_cell(f, member, c);
}

/* ---- all ---- */

static int allocate(struct pacing *f)
{
	size_t windows = (size_t)f->p->schedule->n_windows + 1, len = (size_t)f->g->len + 1;
	size_t positions = (size_t)f->g->n_positions + 1, cells = positions * windows;

	f->window_of = malloc(len * sizeof(*f->window_of));
	f->places = malloc(len * sizeof(*f->places));
	f->by_window = malloc(len * sizeof(*f->by_window));
	f->cell_first = malloc(cells * sizeof(*f->cell_first));
	f->window_first = malloc(windows * sizeof(*f->window_first));
	f->spread = malloc(cells * sizeof(*f->spread));
	f->ratios = malloc(SPREAD_MEMBERS * len * sizeof(*f->ratios));
	f->before = malloc(cells * sizeof(*f->before));
	f->after = malloc(cells * sizeof(*f->after));
	f->step = malloc(windows * sizeof(*f->step));
	f->often = malloc(positions * sizeof(*f->often));
	f->stalls = malloc(positions * sizeof(*f->stalls));
	return f->window_of && f->places && f->by_window && f->cell_first && f->window_first &&
			       f->spread && f->ratios && f->before && f->after && f->step &&
			       f->often && f->stalls
		       ? CT_OK
		       : CT_NOMEM;
}

static void release(struct pacing *f)
{
	free(f->window_of);
	free(f->places);
	free(f->by_window);
	free(f->cell_first);
	free(f->window_first);
	free(f->spread);
	free(f->ratios);
	free(f->before);
	free(f->after);
	free(f->step);
	free(f->often);
	free(f->stalls);
}

int ct_pace(const struct ct_pacing *pacing)
{
	struct pacing f = { .p = pacing, .g = pacing->group };
	int st = allocate(&f);

	if (st == CT_OK) {
		sort_places(&f);
		for (uint32_t c = 0; c < f.g->n_positions * pacing->schedule->n_windows; c++)
			f.spread[c] = spread_of(&f, f.places + f.cell_first[c],
						f.cell_first[c + 1] - f.cell_first[c]);
		for (uint32_t m = 0; m < f.g->n; m++) {
			if (!pacing->in || ct_pacing_is_in(pacing, m))
				pace_member(&f, m);
		}
	}
	release(&f);
	return st;
}
