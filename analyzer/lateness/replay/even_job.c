/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/even_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/table.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* Of S - 1: below, shares of it are noise. */
#define LEAST_SLOWDOWN 0.005

struct even {
	struct ct_engine *e;
	int64_t *gap_ns;      /* by launch */
	int64_t *transfer_ns; /* by meeting */
	double time;
	uint8_t *chosen; /* by seat */
};

void ct_even_job_fini(struct ct_even_job *job)
{
	free(job->s_stage);
	free(job->s_worker);
	*job = (struct ct_even_job){ 0 };
}

/* ---- transfers ---- */

/* The median over time between the same ranks: that some are on one host and others are not is no unevenness of theirs. */
struct transfer {
	uint64_t class;
	int64_t ns;
	uint32_t meeting;
};

CT_SORT_BY(by_class, struct transfer, CT_UP(class) ?: CT_UP(ns))

static int even_transfers(struct even *v)
{
	const struct ct_schedule *s = &v->e->schedule;
	struct transfer *all = malloc(((size_t)s->n_meetings + 1) * sizeof(*all));

	if (!all)
		return CT_NOMEM;
	for (uint32_t m = 0; m < s->n_meetings; m++) {
		const struct ct_schedule_meeting *meeting = &s->meetings[m];
		const struct ct_schedule_part *parts = &s->parts[meeting->first_part];
		const struct ct_schedule_launch *l = &s->launches[parts[0].launch];
		uint32_t other = s->launches[parts[meeting->n - 1].launch].seat;
		uint64_t between = ct_mix((uint64_t)l->seat << 32 | other) ^
				   (meeting->comm ? meeting->comm->index : 0);

		all[m] = (struct transfer){ ct_mix(ct_mix(l->kind) ^ between), meeting->transfer_ns,
					    m };
	}
	ct_sort(all, s->n_meetings, sizeof(*all), by_class);
	for (uint32_t first = 0, end; first < s->n_meetings; first = end) {
		end = first;
		while (end < s->n_meetings && all[end].class == all[first].class)
			end++;
		for (uint32_t k = first; k < end; k++)
			v->transfer_ns[all[k].meeting] = all[first + (end - first) / 2].ns;
	}
	free(all);
	return CT_OK;
}

/* ---- gaps ---- */

static double mean_of_all(const struct ct_engine *e)
{
	double sum = 0, n = 0;

	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		sum += ct_engine_stage_mean(e, stage) * ct_stage_size(&e->stages, stage);
		n += ct_stage_size(&e->stages, stage);
	}
	return n > 0 ? sum / n : 0;
}

/* By position, the mean over its launches, brought to the length of all stages. */
static int even_gaps(struct even *v)
{
	const struct ct_engine *e = v->e;
	double *level = calloc((size_t)e->positions.n + 1, sizeof(*level)), all = mean_of_all(e);

	if (!level)
		return CT_NOMEM;
	for (uint32_t p = 0; p < e->positions.n; p++) {
		double of_stage = ct_engine_stage_mean(e, e->positions.all[p].stage);

		level[p] = of_stage > 0 ? ct_engine_position_mean(e, p) * all / of_stage : 0;
	}
	for (uint32_t l = 0; l < e->schedule.n_launches; l++) {
		uint32_t p = e->positions.position_of[l];

		/* what no step has stays; what few have is in the gap of the next one */
		if (e->schedule.launches[l].from == CT_NO_LAUNCH)
			v->gap_ns[l] = e->gap_ns[l];
		else if (p != CT_NO_POSITION)
			v->gap_ns[l] = (int64_t)level[p];
		else
			v->gap_ns[l] = e->is_carried[l] ? 0 : e->gap_ns[l];
	}
	free(level);
	return CT_OK;
}

/* ---- plays ---- */

/* The chosen ranks compute as recorded and the others evenly, or the other way round. */
static double play_chosen(struct even *v, int chosen_are_even)
{
	struct ct_engine *e = v->e;

	for (uint32_t seat = 0; seat < e->schedule.n_seats; seat++) {
		uint32_t first = e->schedule.seat_first[seat];
		uint32_t n = e->schedule.seat_first[seat + 1] - first;
		int is_even = v->chosen[seat] == chosen_are_even;

		memcpy(&e->other_ns[first], is_even ? &v->gap_ns[first] : &e->gap_ns[first],
		       n * sizeof(*e->other_ns));
	}
	return ct_engine_play(e, e->other_ns, chosen_are_even ? NULL : v->transfer_ns, NULL);
}

static void choose_stage(struct even *v, uint32_t stage)
{
	for (uint32_t seat = 0; seat < v->e->schedule.n_seats; seat++)
		v->chosen[seat] = v->e->stages.stage_of[seat] == stage;
}

static void choose_place(struct even *v, uint32_t place)
{
	for (uint32_t seat = 0; seat < v->e->schedule.n_seats; seat++)
		v->chosen[seat] = v->e->stages.place_of[seat] == place;
}

/* By place: how much longer its ranks compute than is usual, for those of which the rest is played. */
static void rank_places(const struct ct_engine *e, double *excess)
{
	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		double mean = ct_engine_stage_mean(e, stage);

		for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1]; k++) {
			uint32_t place = k - e->stages.first[stage];

			excess[place] = fmax(excess[place], e->mean_ns[e->stages.seats[k]] - mean);
		}
	}
}

static int play_workers(struct even *v, struct ct_even_job *job)
{
	const struct ct_engine *e = v->e;
	double *excess = calloc((size_t)e->stages.most + 1, sizeof(*excess));
	double *sorted = calloc((size_t)e->stages.most + 1, sizeof(*sorted)), least = -1;

	if (!excess || !sorted) {
		free(excess);
		free(sorted);
		return CT_NOMEM;
	}
	rank_places(e, excess);
	if ((double)e->stages.most * e->schedule.n_parts > CT_MOST_WORK) {
		memcpy(sorted, excess, e->stages.most * sizeof(*sorted));
		qsort(sorted, e->stages.most, sizeof(*sorted), ct_by_double_down);
		least = sorted[CT_MOST_ROWS < e->stages.most ? CT_MOST_ROWS : e->stages.most - 1];
	}
	for (uint32_t place = 0, played = 0; place < e->stages.most; place++) {
		double s;

		if (excess[place] < least || (least >= 0 && played++ > CT_MOST_ROWS))
			continue;
		choose_place(v, place);
		s = play_chosen(v, 0) / v->time;
		for (uint32_t seat = 0; seat < e->schedule.n_seats; seat++) {
			double of_stage = job->s_stage[e->stages.stage_of[seat]];

			if (e->stages.place_of[seat] == place)
				job->s_worker[seat] = e->stages.n > 1 ? fmin(s, of_stage) : s;
		}
	}
	free(excess);
	free(sorted);
	return CT_OK;
}

/* The worst by S_w are chosen. */
static int choose_worst(struct even *v, const struct ct_even_job *job)
{
	const struct ct_engine *e = v->e;
	double *sorted = malloc(((size_t)e->schedule.n_seats + 1) * sizeof(*sorted));
	uint32_t n = 0, most, left;

	if (!sorted)
		return CT_NOMEM;
	for (uint32_t seat = 0; seat < e->schedule.n_seats; seat++) {
		v->chosen[seat] = 0;
		if (!isnan(job->s_worker[seat]))
			sorted[n++] = job->s_worker[seat];
	}
	most = (uint32_t)(CT_WORST_RANKS * e->schedule.n_seats);
	left = most = most ? most : 1;
	if (n)
		qsort(sorted, n, sizeof(*sorted), ct_by_double_down);
	for (uint32_t seat = 0; n && seat < e->schedule.n_seats && left; seat++) {
		if (job->s_worker[seat] >= sorted[most <= n ? most - 1 : n - 1]) {
			v->chosen[seat] = 1;
			left--;
		}
	}
	free(sorted);
	return CT_OK;
}

/* Of S: the steps' own ratios, by what the play is off, and by what an even job was off where it is known (docs/ACCURACY.md). */
static double error_of(const struct ct_engine *e, const double *even, double s)
{
	double sum = 0, n = e->n_steps;

	for (uint32_t k = 0; k < e->n_steps; k++) {
		double off = e->played_ns[k] - s * even[k];

		sum += off * off;
	}
	return sqrt(sum / n / (n - 1)) * n * s / e->played +
	       s * (fabs(e->played / e->recorded - 1) + CT_EVEN_ERROR);
}

static int play_all(struct even *v, struct ct_even_job *job)
{
	struct ct_engine *e = v->e;
	double *each = calloc((size_t)e->n_steps + 1, sizeof(*each));
	int st = each ? CT_OK : CT_NOMEM;

	if (st != CT_OK)
		return st;
	v->time = ct_engine_play(e, v->gap_ns, v->transfer_ns, each);
	if (!(v->time > 0)) {
		free(each);
		return CT_OK;
	}
	job->s = e->played / v->time;
	job->s_err = error_of(e, each, job->s);
	free(each);
	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		choose_stage(v, stage);
		job->s_stage[stage] = play_chosen(v, 0) / v->time;
	}
	st = play_workers(v, job);
	if (st != CT_OK || fabs(e->played - v->time) <= LEAST_SLOWDOWN * e->played)
		return st;
	st = choose_worst(v, job);
	job->m_worst = (e->played - play_chosen(v, 1)) / (e->played - v->time);
	choose_stage(v, e->stages.n - 1);
	if (e->stages.n > 1)
		job->m_last = (e->played - play_chosen(v, 1)) / (e->played - v->time);
	return st;
}

int ct_even_job_play(struct ct_even_job *job, struct ct_engine *e)
{
	struct even v = { .e = e };
	int st = CT_NOMEM;

	*job = (struct ct_even_job){ .s = NAN, .s_err = NAN, .m_worst = NAN, .m_last = NAN };
	if (e->why_not || e->under_messages > CT_UNDER_MESSAGES ||
	    (e->stages.n > 1 &&
	     (e->has_holes || fabs(e->played / e->recorded - 1) > CT_STAGE_PLAY_ERROR)))
		return CT_OK;
	v.gap_ns = malloc(((size_t)e->schedule.n_launches + 1) * sizeof(*v.gap_ns));
	v.transfer_ns = malloc(((size_t)e->schedule.n_meetings + 1) * sizeof(*v.transfer_ns));
	v.chosen = calloc((size_t)e->schedule.n_seats + 1, 1);
	job->s_stage = calloc((size_t)e->stages.n + 1, sizeof(*job->s_stage));
	job->s_worker = malloc(((size_t)e->schedule.n_seats + 1) * sizeof(*job->s_worker));
	if (v.gap_ns && v.transfer_ns && v.chosen && job->s_stage && job->s_worker) {
		for (uint32_t seat = 0; seat < e->schedule.n_seats; seat++)
			job->s_worker[seat] = NAN;
		st = even_transfers(&v);
	}
	if (st == CT_OK)
		st = even_gaps(&v);
	if (st == CT_OK)
		st = play_all(&v, job);
	free(v.gap_ns);
	free(v.transfer_ns);
	free(v.chosen);
	return st;
}
