/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/even_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/base/table.h"
#include "analyzer/lateness/replay/even_job_private.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* A thread that has every step-th play. */
struct player {
	struct ct_even v;	 /* the job, but for what plays write */
	struct ct_engine engine; /* of all but the first */
	struct ct_even_play *plays;
	uint32_t first, n, step;
	struct ct_task task;
};

void ct_even_job_fini(struct ct_even_job *job)
{
	free(job->s_stage);
	free(job->s_worker);
	*job = (struct ct_even_job){ 0 };
}

/* ---- transfers ---- */

/* The median over time between the same ranks: that some are on one host and others are not is no
 * unevenness of theirs. */
struct even_transfer {
	uint64_t class;
	int64_t ns;
	uint32_t exchange;
};

CT_SORT_BY(by_class, struct even_transfer, CT_UP(class) ?: CT_UP(ns))

static int even_transfers(struct ct_even *v)
{
	const struct ct_schedule *s = &v->e->schedule;
	struct even_transfer *all = malloc(((size_t)s->n_exchanges + 1) * sizeof(*all));

	if (!all)
		return CT_NOMEM;
	for (uint32_t m = 0; m < s->n_exchanges; m++) {
		const struct ct_schedule_exchange *exchange = &s->exchanges[m];
		const struct ct_schedule_part *parts = &s->parts[exchange->first_part];
		const struct ct_schedule_launch *l = &s->launches[parts[0].launch];
		uint32_t other = s->launches[parts[exchange->n - 1].launch].slot;
		uint64_t between = ct_mix((uint64_t)l->slot << 32 | other) ^
				   (exchange->comm ? exchange->comm->index : 0);

		all[m] = (struct even_transfer){ ct_mix(ct_mix(l->kind) ^ between),
						 exchange->transfer_ns, m };
	}
	ct_sort(all, s->n_exchanges, sizeof(*all), by_class);
	for (uint32_t first = 0, end; first < s->n_exchanges; first = end) {
		end = first;
		while (end < s->n_exchanges && all[end].class == all[first].class)
			end++;
		for (uint32_t k = first; k < end; k++)
			v->transfer_ns[all[k].exchange] = all[first + (end - first) / 2].ns;
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
static int even_gaps(struct ct_even *v)
{
	const struct ct_engine *e = v->e;
	double *level = calloc((size_t)e->positions.n + 1, sizeof(*level)), all = mean_of_all(e);

	if (!level)
		return CT_NOMEM;
	for (uint32_t p = 0; p < e->positions.n; p++) {
		double of_stage = ct_engine_stage_mean(e, e->positions.all[p].stage);

		level[p] = of_stage > 0 ? e->position_ns[p] * all / of_stage : 0;
	}
	for (uint32_t l = 0; l < e->schedule.n_launches; l++) {
		uint32_t p = e->positions.position_of[l];

		/* what no step has stays; what few have is in the gap of the next one */
		if (e->schedule.launches[l].from == CT_NO_LAUNCH)
			v->gap_ns[l] = e->schedule.gap_ns[l];
		else if (p != CT_NO_POSITION)
			v->gap_ns[l] = (int64_t)level[p];
		else
			v->gap_ns[l] = e->is_carried[l] ? 0 : e->schedule.gap_ns[l];
	}
	free(level);
	return CT_OK;
}

/* ---- plays ---- */

double ct_even_play_chosen(struct ct_even *v, int chosen_are_even)
{
	struct ct_engine *e = v->e;

	for (uint32_t slot = 0; slot < e->schedule.n_slots; slot++) {
		uint32_t first = e->schedule.slot_first[slot];
		uint32_t n = e->schedule.slot_first[slot + 1] - first;
		int is_even = v->chosen[slot] == chosen_are_even;

		memcpy(&e->other_ns[first],
		       is_even ? &v->gap_ns[first] : &e->schedule.gap_ns[first],
		       n * sizeof(*e->other_ns));
	}
	return ct_engine_play(e, e->other_ns, chosen_are_even ? NULL : v->transfer_ns, v->each_ns);
}

double ct_even_share_of_chosen(struct ct_even *v)
{
	return (v->e->played - ct_even_play_chosen(v, 1)) / (v->e->played - v->time);
}

uint32_t ct_even_n_blocks(const struct ct_engine *e)
{
	return e->n_steps < CT_MOST_BLOCKS ? e->n_steps : CT_MOST_BLOCKS;
}

/* What was played last, by blocks. */
static void add_up_blocks(const struct ct_even *v, double *blocks)
{
	uint32_t n = ct_even_n_blocks(v->e);

	for (uint32_t k = 0; k < v->e->n_steps; k++)
		blocks[(uint64_t)k * n / v->e->n_steps] += v->each_ns[k];
}

/* ---- which ranks are chosen ---- */

static void choose_stage(struct ct_even *v, uint32_t stage)
{
	for (uint32_t slot = 0; slot < v->e->schedule.n_slots; slot++)
		v->chosen[slot] = v->e->stages.stage_of[slot] == stage;
}

static void choose_worker(struct ct_even *v, uint32_t worker)
{
	for (uint32_t slot = 0; slot < v->e->schedule.n_slots; slot++)
		v->chosen[slot] = v->e->stages.worker_of[slot] == worker;
}

/* By worker: how much longer its ranks compute than is usual, for those of which the rest is played.
 */
static void rank_workers(const struct ct_engine *e, double *excess)
{
	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		double mean = ct_engine_stage_mean(e, stage);

		for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1]; k++) {
			uint32_t worker = k - e->stages.first[stage];

			excess[worker] = fmax(excess[worker],
					      e->mean_ns[e->stages.slots[k]] - mean);
		}
	}
}

/* The workers that are played, into `plays`. */
static int list_workers(const struct ct_engine *e, struct ct_even_play *plays, uint32_t *n)
{
	double *excess = calloc((size_t)e->stages.most + 1, sizeof(*excess));
	double *sorted = calloc((size_t)e->stages.most + 1, sizeof(*sorted)), least = -1;

	if (!excess || !sorted) {
		free(excess);
		free(sorted);
		return CT_NOMEM;
	}
	rank_workers(e, excess);
	if ((double)e->stages.most * e->schedule.n_parts > CT_MOST_WORK) {
		memcpy(sorted, excess, e->stages.most * sizeof(*sorted));
		qsort(sorted, e->stages.most, sizeof(*sorted), ct_by_double_down);
		least = sorted[CT_MOST_ROWS < e->stages.most ? CT_MOST_ROWS : e->stages.most - 1];
	}
	for (uint32_t worker = 0, played = 0; worker < e->stages.most; worker++) {
		if (excess[worker] < least || (least >= 0 && played++ > CT_MOST_ROWS))
			continue;
		plays[(*n)++] = (struct ct_even_play){ .choose = choose_worker, .which = worker };
	}
	free(excess);
	free(sorted);
	return CT_OK;
}

static int play_share(void *arg)
{
	struct player *p = arg;

	for (uint32_t k = p->first; k < p->n; k += p->step) {
		struct ct_even_play *play = &p->plays[k];

		play->choose(&p->v, play->which);
		play->s = ct_even_play_chosen(&p->v, 0) / p->v.time;
		add_up_blocks(&p->v, play->blocks);
	}
	return CT_OK;
}

/* Those behind the first get an engine of their own. */
static int make_player(struct player *p, const struct ct_even *v)
{
	p->v = *v;
	p->task = (struct ct_task){ .run = play_share, .arg = p };
	if (!p->first)
		return CT_OK;
	p->v.e = &p->engine;
	p->v.chosen = calloc((size_t)v->e->schedule.n_slots + 1, 1);
	p->v.each_ns = calloc((size_t)v->e->n_steps + 1, sizeof(*p->v.each_ns));
	return ct_engine_share(&p->engine, v->e) == CT_OK && p->v.chosen && p->v.each_ns ? CT_OK
											 : CT_NOMEM;
}

static int play_each(struct ct_even *v, struct ct_even_play *plays, uint32_t n)
{
	struct player players[CT_MOST_PLAYERS] = { 0 };
	uint32_t n_players = ct_tasks_threads(v->tasks), made = 0;
	int st = CT_OK;

	n_players = n_players < CT_MOST_PLAYERS ? n_players : CT_MOST_PLAYERS;
	n_players = n_players < n ? n_players : n;
	for (; made < n_players && st == CT_OK; made++) {
		players[made] = (struct player){
			.plays = plays, .first = made, .n = n, .step = n_players
		};
		st = make_player(&players[made], v);
	}
	for (uint32_t k = 1; k < made && st == CT_OK; k++)
		ct_task_begin(v->tasks, &players[k].task);
	if (made && st == CT_OK)
		play_share(&players[0]);
	for (uint32_t k = 1; k < made; k++) {
		if (st == CT_OK)
			ct_task_end(v->tasks, &players[k].task);
		free(players[k].v.chosen);
		free(players[k].v.each_ns);
		ct_engine_leave(&players[k].engine);
	}
	return st;
}

/* What a play of a stage or of a worker says of it. of_slot: as in ct_worst_ranks_play(). */
static void take_outcome(const struct ct_engine *e, const struct ct_even_play *play,
			 const struct ct_even_play **of_slot, struct ct_even_job *job)
{
	if (play->choose == choose_stage) {
		job->s_stage[play->which] = play->s;
		for (uint32_t slot = 0; e->stages.n > 1 && slot < e->schedule.n_slots; slot++) {
			if (e->stages.stage_of[slot] != play->which)
				continue;
			of_slot[slot] = play;
			/* the stage is this rank */
			if (e->stages.most == 1)
				job->s_worker[slot] = play->s;
		}
		return;
	}
	for (uint32_t slot = 0; slot < e->schedule.n_slots; slot++) {
		if (e->stages.worker_of[slot] != play->which)
			continue;
		if (!of_slot[slot] || play->s < of_slot[slot]->s)
			of_slot[slot] = play;
		job->s_worker[slot] = of_slot[slot]->s;
	}
}

/* Stages first: what is said of a worker depends on them. */
static int play_parts(struct ct_even *v, struct ct_even_job *job)
{
	const struct ct_engine *e = v->e;
	size_t most = (size_t)e->stages.n + e->stages.most + 1;
	struct ct_even_play *plays = calloc(most, sizeof(*plays));
	const struct ct_even_play **of_slot = calloc((size_t)e->schedule.n_slots + 1,
						     sizeof(struct ct_even_play *));
	uint32_t n = 0;
	int st = plays && of_slot ? CT_OK : CT_NOMEM;

	for (; plays && n < e->stages.n; n++)
		plays[n] = (struct ct_even_play){ .choose = choose_stage, .which = n };
	if (st == CT_OK && (e->stages.n == 1 || e->stages.most > 1))
		st = list_workers(e, plays, &n);
	if (st == CT_OK)
		st = play_each(v, plays, n);
	for (uint32_t k = 0; k < n && st == CT_OK; k++)
		take_outcome(e, &plays[k], of_slot, job);
	/* what may be nothing is not shared out */
	if (st == CT_OK && job->s - 1 > job->s_err)
		st = ct_worst_ranks_play(v, of_slot, job);
	free(plays);
	free(of_slot);
	return st;
}

/* Of S: the steps' own ratios, by what the play is off, and by what an even job was off where it is
 * known (docs/ACCURACY.md). Where it is a guess when launches were ready, their part of the gain
 * may have been hidden behind computing. */
static double error_of(const struct ct_engine *e, const double *even, double s)
{
	double sum = 0, n = e->n_steps;

	for (uint32_t k = 0; k < e->n_steps; k++) {
		double off = e->played_ns[k] - s * even[k];

		sum += off * off;
	}
	return sqrt(sum / n / (n - 1)) * n * s / e->played +
	       s * (fabs(e->played / e->recorded - 1) + CT_EVEN_ERROR) +
	       fmax(s - 1, 0) * ct_engine_guessed(e);
}

static int play_all(struct ct_even *v, struct ct_even_job *job)
{
	struct ct_engine *e = v->e;
	int st;

	v->time = ct_engine_play(e, v->gap_ns, v->transfer_ns, v->each_ns);
	if (!(v->time > 0))
		return CT_OK;
	job->s = e->played / v->time;
	job->s_err = error_of(e, v->each_ns, job->s);
	st = play_parts(v, job);
	if (st != CT_OK || e->stages.n < 2 || !(job->s - 1 > job->s_err))
		return st;
	choose_stage(v, e->stages.n - 1);
	job->m_last = ct_even_share_of_chosen(v);
	return CT_OK;
}

int ct_even_job_play(struct ct_even_job *job, struct ct_engine *e, struct ct_tasks *tasks)
{
	struct ct_even v = { .e = e, .tasks = tasks };
	int st = CT_NOMEM;

	*job = (struct ct_even_job){ .s = NAN,
				     .s_err = NAN,
				     .m_worst = NAN,
				     .m_worst_least = NAN,
				     .m_worst_most = NAN,
				     .m_last = NAN };
	if (e->why_not || e->under_messages > CT_HARDLY_ANY ||
	    (e->stages.n > 1 &&
	     (e->has_holes || fabs(e->played / e->recorded - 1) > CT_MODEL_ERROR)))
		return CT_OK;
	v.gap_ns = malloc(((size_t)e->schedule.n_launches + 1) * sizeof(*v.gap_ns));
	v.transfer_ns = malloc(((size_t)e->schedule.n_exchanges + 1) * sizeof(*v.transfer_ns));
	v.chosen = calloc((size_t)e->schedule.n_slots + 1, 1);
	v.each_ns = calloc((size_t)e->n_steps + 1, sizeof(*v.each_ns));
	job->s_stage = calloc((size_t)e->stages.n + 1, sizeof(*job->s_stage));
	job->s_worker = malloc(((size_t)e->schedule.n_slots + 1) * sizeof(*job->s_worker));
	if (v.gap_ns && v.transfer_ns && v.chosen && v.each_ns && job->s_stage && job->s_worker) {
		for (uint32_t slot = 0; slot < e->schedule.n_slots; slot++)
			job->s_worker[slot] = NAN;
		st = even_transfers(&v);
	}
	if (st == CT_OK)
		st = even_gaps(&v);
	if (st == CT_OK)
		st = play_all(&v, job);
	free(v.gap_ns);
	free(v.transfer_ns);
	free(v.chosen);
	free(v.each_ns);
	return st;
}
