/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/slow_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/slow_rows_private.h"
#include "trace/status.h"

void ct_slow_rows_fini(struct ct_slow_rows *rows)
{
	for (uint32_t k = 0; k < rows->n; k++)
		free(rows->all[k].seats);
	free(rows->all);
	free(rows->is_like_peers);
	*rows = (struct ct_slow_rows){ 0 };
}

/* ---- rows ---- */

static struct ct_slow_row *add_row(struct ct_judging *j, enum ct_slow_kind kind, uint32_t which,
				   uint32_t most)
{
	struct ct_slow_row *row = &j->out->all[j->out->n];

	*row = (struct ct_slow_row){ .kind = kind, .which = which, .last = j->e->n_steps - 1 };
	row->seats = malloc(((size_t)most + 1) * sizeof(*row->seats));
	if (!row->seats)
		return NULL;
	j->out->n++;
	return row;
}

/* Excess, steadiness and stretch of a row of several hot ranks. */
static void sum_up(struct ct_judging *j, struct ct_slow_row *row)
{
	row->t = INFINITY;
	row->first = UINT32_MAX;
	row->last = 0;
	for (uint32_t k = 0; k < row->n; k++) {
		const struct ct_standing *s = &j->seats[row->seats[k]];

		row->excess_ns += s->excess / row->n;
		row->t = s->t < row->t ? s->t : row->t;
		row->first = s->first < row->first ? s->first : row->first;
		row->last = s->last > row->last ? s->last : row->last;
	}
}

/* All of these are hot, by about as much; there are others. Then they are one row. */
static int are_alike(const struct ct_judging *j, const uint32_t *seats, uint32_t n)
{
	double least = INFINITY, most = 0;

	if (n < 2 || n >= j->e->stages.first[j->e->stages.n])
		return 0;
	for (uint32_t k = 0; k < n; k++) {
		const struct ct_standing *s = &j->seats[seats[k]];

		if (!s->is_hot || j->taken[seats[k]])
			return 0;
		least = fmin(least, s->excess);
		most = fmax(most, s->excess);
	}
	return least >= CT_ALIKE * most;
}

static int add_set(struct ct_judging *j, enum ct_slow_kind kind, uint32_t which,
		   const struct ct_comm *comm, const uint32_t *seats, uint32_t n)
{
	struct ct_slow_row *row;

	if (!are_alike(j, seats, n))
		return CT_OK;
	row = add_row(j, kind, which, n);
	if (!row)
		return CT_NOMEM;
	row->comm = comm;
	row->n = n;
	memcpy(row->seats, seats, n * sizeof(*seats));
	for (uint32_t k = 0; k < n; k++)
		j->taken[seats[k]] = 1;
	sum_up(j, row);
	return CT_OK;
}

static int add_hosts(struct ct_judging *j, uint32_t *room)
{
	int st = CT_OK;

	for (uint32_t host = 0; host < (uint32_t)j->model->starts->n_hosts && st == CT_OK; host++) {
		uint32_t n = 0;

		for (uint32_t seat = 0; seat < j->e->schedule.n_seats; seat++) {
			if (j->model->host_of[seat] == host)
				room[n++] = seat;
		}
		st = add_set(j, CT_SLOW_HOST, host, NULL, room, n);
	}
	return st;
}

static int add_groups(struct ct_judging *j, uint32_t *room)
{
	int st = CT_OK;

	for (uint32_t c = 0; c < j->model->comms.n && st == CT_OK; c++) {
		const struct ct_comm *comm = j->model->comms.all[c];
		uint32_t n = 0;

		if (comm->n_known != comm->nranks || comm->shared_seat || comm->clash)
			continue;
		for (uint32_t r = 0; r < comm->nranks; r++)
			room[n++] = comm->seats[r] - 1;
		st = add_set(j, CT_SLOW_GROUP, c, comm, room, n);
	}
	return st;
}

static double median_of_others(struct ct_judging *j, uint32_t stage, uint32_t block)
{
	size_t n = 0;

	for (uint32_t other = 0; other < j->e->stages.n; other++) {
		double v = j->stage_blocks[(size_t)other * j->n_blocks + block];

		if (other != stage && !isnan(v))
			j->values[n++] = v;
	}
	return ct_median(j->values, n);
}

/* A stage that has more to do than the others, most of its ranks. */
static int add_stages(struct ct_judging *j)
{
	const struct ct_stages *g = &j->e->stages;

	/* what a stage waits for looks like computing */
	if (j->e->under_messages > CT_UNDER_MESSAGES || j->model->incomplete ||
	    fabs(j->e->played / j->e->recorded - 1) > CT_STAGE_PLAY_ERROR)
		return CT_OK;
	for (uint32_t stage = 0; g->n > 1 && stage < g->n; stage++) {
		struct ct_stretch out;
		struct ct_slow_row *row;
		double least = INFINITY, most = 0;

		for (uint32_t b = 0; b < j->n_blocks; b++)
			j->excess[b] = j->stage_blocks[(size_t)stage * j->n_blocks + b] -
				       median_of_others(j, stage, b);
		out = ct_stands_out(j, ct_noise_of_blocks(j->excess, j->n_blocks, j->sorted));
		if (!ct_is_worth_it(j, &out))
			continue;
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			uint32_t seat = g->seats[k];
			double over = ct_mean_of_blocks(
				&j->blocks[(size_t)seat * j->n_blocks + out.first],
				out.last - out.first + 1);
			double ref = ct_mean_of_blocks(
					     &j->stage_blocks[(size_t)stage * j->n_blocks +
							      out.first],
					     out.last - out.first + 1) -
				     out.mean;

			/* who is slow in its stage besides does not tell of it */
			if (j->seats[seat].is_hot && !j->seats[seat].asked_others)
				continue;
			least = fmin(least, over - ref);
			most = fmax(most, over - ref);
		}
		if (least < CT_ALIKE * most)
			continue;
		row = add_row(j, CT_SLOW_STAGE, stage, ct_stage_size(g, stage));
		if (!row)
			return CT_NOMEM;
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			row->seats[row->n++] = g->seats[k];
			/* its few peers are the stage itself */
			j->taken[g->seats[k]] |= (uint8_t)j->seats[g->seats[k]].asked_others;
		}
		row->excess_ns = out.mean;
		row->t = out.t;
		row->first = j->block_first[out.first];
		row->last = j->block_first[out.last + 1] - 1;
	}
	return CT_OK;
}

CT_SORT_BY(by_excess, struct ct_slow_row, CT_DOWN(excess_ns) ?: CT_UP(which))

/* A rank that is slow in a part of the run. */
static int is_partly(const struct ct_judging *j, const struct ct_slow_row *row)
{
	return row->kind == CT_SLOW_RANK && (row->first > 0 || row->last + 1 < j->e->n_steps);
}

/* Parts of the run, one after the other, in which somebody is slow: the most of which no two overlap. */
static uint32_t count_turns(const struct ct_judging *j)
{
	const struct ct_slow_rows *rows = j->out;
	uint32_t turns = 0, from = 0;

	for (;;) {
		uint32_t end = UINT32_MAX;

		for (uint32_t k = 0; k < rows->n; k++) {
			const struct ct_slow_row *row = &rows->all[k];

			if (is_partly(j, row) && row->first >= from && row->last < end)
				end = row->last;
		}
		if (end == UINT32_MAX)
			return turns;
		turns++;
		from = end + 1;
	}
}

/* Ranks that are slow one after the other take turns: that is unevenness, and none of them is slow. */
static void drop_turns(struct ct_judging *j)
{
	struct ct_slow_rows *rows = j->out;
	uint32_t turns = count_turns(j), kept = 0;

	for (uint32_t k = 0; k < rows->n; k++) {
		if (turns > CT_MOST_PARTLY && is_partly(j, &rows->all[k]))
			free(rows->all[k].seats);
		else
			rows->all[kept++] = rows->all[k];
	}
	rows->n = kept;
}

static int find_rows(struct ct_judging *j)
{
	uint32_t *room = malloc(((size_t)j->e->schedule.n_seats + 1) * sizeof(*room));
	int st = room ? add_stages(j) : CT_NOMEM;

	if (st == CT_OK)
		st = add_hosts(j, room);
	if (st == CT_OK)
		st = add_groups(j, room);
	for (uint32_t seat = 0; seat < j->e->schedule.n_seats && st == CT_OK; seat++) {
		struct ct_slow_row *row;

		if (!j->seats[seat].is_hot || j->taken[seat])
			continue;
		row = add_row(j, CT_SLOW_RANK, seat, 1);
		if (!row) {
			st = CT_NOMEM;
			break;
		}
		row->seats[row->n++] = seat;
		sum_up(j, row);
		for (uint32_t k = 0; j->seats[seat].in_single_steps && k < j->e->n_steps; k++)
			row->singles += ct_is_single(j, seat, k) != 0;
	}
	free(room);
	drop_turns(j);
	qsort(j->out->all, j->out->n, sizeof(*j->out->all), by_excess);
	while (j->out->n > CT_MOST_ROWS)
		free(j->out->all[--j->out->n].seats);
	return st;
}

/* ---- the set ---- */

/* Gain (ns) if all rows but `but` were mended; each: how long each step takes then, or NULL. Negative: no memory. */
static int gain_without(struct ct_judging *j, uint32_t but, double *each, double *gain)
{
	struct ct_engine *e = j->e;

	memcpy(e->other_ns, e->gap_ns, e->schedule.n_launches * sizeof(*e->other_ns));
	for (uint32_t k = 0; k < j->out->n; k++) {
		if (k != but && ct_mend(j, &j->out->all[k]) != CT_OK)
			return CT_NOMEM;
	}
	*gain = e->played - ct_engine_play(e, e->other_ns, NULL, each);
	return CT_OK;
}

/* Has a rank of the row one or two peers? They may show which of its gaps are longer, or not. */
static int has_few_peers(const struct ct_judging *j, const struct ct_slow_row *row)
{
	const struct ct_stages *g = &j->e->stages;

	for (uint32_t k = 0; row->kind != CT_SLOW_STAGE && k < row->n; k++) {
		const struct ct_standing *s = &j->seats[row->seats[k]];

		if (s->asked_others && !s->in_single_steps &&
		    ct_stage_size(g, g->stage_of[row->seats[k]]) > 1)
			return 1;
	}
	return 0;
}

static int gain_alone(struct ct_judging *j, struct ct_slow_row *row)
{
	struct ct_engine *e = j->e;
	int ways = 1 + has_few_peers(j, row), st = CT_OK;

	row->gain_ns = 0;
	for (int way = 0; way < ways && st == CT_OK; way++) {
		j->trusts_few = way;
		memcpy(e->other_ns, e->gap_ns, e->schedule.n_launches * sizeof(*e->other_ns));
		st = ct_mend(j, row);
		row->gain_ns += (e->played - ct_engine_play(e, e->other_ns, NULL, NULL)) / ways;
	}
	j->trusts_few = 0;
	return st;
}

/* Where a rank has few peers there are two ways to mend it, and the gain lies between: its middle, *err: from there to both. 0 or
 * CT_NOMEM. */
static int gain_between(struct ct_judging *j, double *each, double *err)
{
	double other, half;
	int any = 0, st;

	*err = 0;
	for (uint32_t k = 0; k < j->out->n; k++)
		any |= has_few_peers(j, &j->out->all[k]);
	if (!any)
		return CT_OK;
	j->trusts_few = 1;
	st = gain_without(j, UINT32_MAX, each, &other);
	j->trusts_few = 0;
	half = (other - j->out->gain_ns) / 2;
	j->out->gain_ns += half;
	/* when they were ready is as open as in queues */
	*err = fabs(half) + CT_ERROR_IN_QUEUES * j->out->gain_ns;
	return st;
}

static void drop(struct ct_slow_rows *rows, uint32_t at)
{
	free(rows->all[at].seats);
	memmove(&rows->all[at], &rows->all[at + 1], (rows->n - at - 1) * sizeof(*rows->all));
	rows->n--;
}

/* Is this step one in which a rank of the set is late, of those that are so in single steps? *any: are there such ranks? */
static int is_peak(struct ct_judging *j, uint32_t step, int *any)
{
	int is = 0;

	*any = 0;
	for (uint32_t k = 0; k < j->out->n; k++) {
		for (uint32_t i = 0; i < j->out->all[k].n; i++) {
			uint32_t seat = j->out->all[k].seats[i];

			if (!j->seats[seat].in_single_steps)
				continue;
			*any = 1;
			is |= ct_is_single(j, seat, step);
		}
	}
	return is;
}

/* Of a gain that lies in single steps: how much these differ, how much the others do, and one at an end of the run that is in none
 * of the engine's steps. NAN: it does not. */
static double peaks_error(struct ct_judging *j, const double *mended)
{
	double n[2] = { 0 }, sum[2] = { 0 }, squares[2] = { 0 }, all = 0;

	for (uint32_t k = 0; k < j->e->n_steps; k++) {
		double gain = j->e->played_ns[k] - mended[k];
		int any, peak = is_peak(j, k, &any);

		if (!any)
			return NAN;
		n[peak]++;
		sum[peak] += gain;
		squares[peak] += gain * gain;
	}
	for (int peak = 0; peak < 2; peak++)
		all += n[peak] > 1 ? fmax(0, squares[peak] - sum[peak] * sum[peak] / n[peak]) : 0;
	return CT_TOLD_ERRORS * sqrt(all) + (n[1] > 0 ? fabs(sum[1]) / n[1] : 0);
}

/* Of a gain, by blocks of steps. */
static double gain_error(struct ct_judging *j, const double *mended)
{
	double noise = peaks_error(j, mended);

	if (!isnan(noise))
		return noise;
	for (uint32_t b = 0; b < j->n_blocks; b++) {
		j->excess[b] = 0;
		for (uint32_t k = j->block_first[b]; k < j->block_first[b + 1]; k++)
			j->excess[b] += j->e->played_ns[k] - mended[k];
	}
	noise = ct_noise_of_blocks(j->excess, j->n_blocks, j->sorted);
	return isfinite(noise) ? CT_TOLD_ERRORS * noise * sqrt(j->n_blocks) : 0;
}

/* Where in a block a row begins or ends is not known. */
static double ends_error(const struct ct_judging *j)
{
	double block = (double)j->e->n_steps / j->n_blocks, sum = 0;

	for (uint32_t k = 0; k < j->out->n; k++) {
		const struct ct_slow_row *row = &j->out->all[k];
		int ends = (row->first > 0) + (row->last + 1 < j->e->n_steps);

		sum += ends * block / 2 * row->excess_ns;
	}
	return sum;
}

/* The smallest set: without the least row again and again, as long as little is lost. */
static int choose(struct ct_judging *j)
{
	struct ct_slow_rows *rows = j->out;
	double *each = malloc(((size_t)j->e->n_steps + 1) * sizeof(*each)), full, between;
	int st = each ? gain_without(j, UINT32_MAX, NULL, &full) : CT_NOMEM;

	for (uint32_t k = rows->n; k-- > 0 && st == CT_OK;) {
		double gain;

		st = gain_without(j, k, NULL, &gain);
		if (st == CT_OK && gain >= full - fmax(CT_SET_LOSES * fabs(full),
						       CT_LEAST_GAIN / 2 * j->e->played)) {
			drop(rows, k);
			full = gain;
		}
	}
	if (st == CT_OK)
		st = gain_without(j, UINT32_MAX, each, &rows->gain_ns);
	if (st == CT_OK)
		st = gain_between(j, each, &between);
	if (st == CT_OK)
		rows->gain_err_ns = gain_error(j, each) + ends_error(j) + between +
				    ct_engine_error(j->e) * rows->gain_ns;
	free(each);
	if (st == CT_OK && rows->gain_ns <= fmax(CT_LEAST_GAIN * j->e->played, rows->gain_err_ns)) {
		while (rows->n)
			drop(rows, rows->n - 1);
		rows->gain_ns = rows->gain_err_ns = 0;
	}
	for (uint32_t k = 0; k < rows->n && st == CT_OK; k++)
		st = gain_alone(j, &rows->all[k]);
	return st;
}

static int judge(struct ct_judging *j)
{
	int st;

	st = ct_single_steps_find(j);
	if (st == CT_OK) {
		ct_judge_seats(j);
		st = find_rows(j);
		j->out->singles_ns = j->all_singles.sum;
		for (uint32_t seat = 0; seat < j->e->schedule.n_seats; seat++)
			j->out->n_stalled += j->singles[seat].sum >
					     CT_LEAST_EXCESS * j->all_singles.sum;
	}
	return st == CT_OK && j->out->n ? choose(j) : st;
}

int ct_slow_rows_find(struct ct_slow_rows *rows, struct ct_engine *e, const struct ct_model *model)
{
	size_t seats = (size_t)e->schedule.n_seats + 1;
	size_t blocks = CT_MOST_BLOCKS + 1, levels = (size_t)e->positions.n * e->stages.most + 1;
	struct ct_judging j = { .e = e, .model = model, .out = rows };
	int st = CT_NOMEM;

	*rows = (struct ct_slow_rows){ 0 };
	if (e->why_not)
		return CT_OK;
	rows->is_like_peers = calloc(seats, 1);
	rows->all = calloc(3 * seats + model->comms.n, sizeof(*rows->all));
	j.block_first = calloc(blocks, sizeof(*j.block_first));
	j.blocks = calloc(seats * blocks, sizeof(*j.blocks));
	j.stage_blocks = calloc(((size_t)e->stages.n + 1) * blocks, sizeof(*j.stage_blocks));
	j.excess = calloc(blocks, sizeof(*j.excess));
	j.sorted = calloc(blocks, sizeof(*j.sorted));
	j.values = calloc(seats + e->stages.n, sizeof(*j.values));
	j.noises = calloc(seats, sizeof(*j.noises));
	j.seats = calloc(seats, sizeof(*j.seats));
	j.level_ns = calloc(levels, sizeof(*j.level_ns));
	j.times = calloc(levels, sizeof(*j.times));
	j.taken = calloc(seats, 1);
	if (rows->all && rows->is_like_peers && j.block_first && j.blocks && j.stage_blocks &&
	    j.excess && j.sorted && j.values && j.noises && j.seats && j.level_ns && j.times &&
	    j.taken)
		st = judge(&j);
	free(j.block_first);
	free(j.blocks);
	free(j.stage_blocks);
	free(j.excess);
	free(j.sorted);
	free(j.values);
	free(j.noises);
	free(j.seats);
	free(j.level_ns);
	free(j.times);
	free(j.taken);
	ct_single_steps_fini(&j);
	return st;
}
