/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/slow_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* How a rank stands to those that do the same work. */
struct standing {
	double excess, t; /* ns a step; in the steps below */
	double ratio;	  /* of what the reference computes to what it computes, there */
	uint32_t first, last;
	int asked_others; /* its stage has too few ranks: the other stages are the reference */
	int is_hot;
};

struct judging {
	struct ct_engine *e;
	const struct ct_model *model;
	struct ct_slow_rows *out;
	uint32_t n_blocks;
	uint32_t *block_first; /* of the engine's steps: block b is block_first[b] .. block_first[b + 1] - 1 */
	double *blocks;	      /* by seat x block: mean of what it computes in a step; NAN unknown */
	double *stage_blocks; /* by stage x block: median of its ranks */
	double *excess;	      /* by block, of one rank or stage */
	double *sorted;	      /* room for one of each block */
	double *values;	      /* room for one of each seat and stage */
	double *noises;	      /* by seat: how much the blocks of its excess differ */
	struct standing *seats; /* by seat */
	double *level_ns;	/* like the engine's, of some steps */
	uint32_t *times;
	uint8_t *taken; /* by seat: it is in a row of several */
};

void ct_slow_rows_fini(struct ct_slow_rows *rows)
{
	for (uint32_t k = 0; k < rows->n; k++)
		free(rows->all[k].seats);
	free(rows->all);
	free(rows->is_like_peers);
	*rows = (struct ct_slow_rows){ 0 };
}

/* ---- blocks ---- */

static uint32_t most_blocks(const struct ct_engine *e)
{
	uint32_t n = e->n_steps / CT_STEPS_A_BLOCK;

	n = n < CT_LEAST_STEPS ? CT_LEAST_STEPS : n > CT_MOST_BLOCKS ? CT_MOST_BLOCKS : n;
	return n < e->n_steps ? n : e->n_steps;
}

static void cut_blocks(struct judging *j, uint32_t n)
{
	j->n_blocks = n;
	for (uint32_t b = 0; b <= j->n_blocks; b++)
		j->block_first[b] = (uint32_t)((uint64_t)b * j->e->n_steps / j->n_blocks);
}

static double mean_of(const double *values, uint32_t n)
{
	double sum = 0, known = 0;

	for (uint32_t k = 0; k < n; k++) {
		if (isnan(values[k]))
			continue;
		sum += values[k];
		known++;
	}
	return known > 0 ? sum / known : NAN;
}

static void fill_blocks(struct judging *j)
{
	const struct ct_engine *e = j->e;

	for (uint32_t seat = 0; seat < e->schedule.n_seats; seat++) {
		const double *own = &e->own_ns[(size_t)seat * e->n_steps];

		for (uint32_t b = 0; b < j->n_blocks; b++)
			j->blocks[(size_t)seat * j->n_blocks + b] = mean_of(
				own + j->block_first[b], j->block_first[b + 1] - j->block_first[b]);
	}
	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		for (uint32_t b = 0; b < j->n_blocks; b++) {
			size_t n = 0;

			for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1];
			     k++) {
				double v = j->blocks[(size_t)e->stages.seats[k] * j->n_blocks + b];

				if (!isnan(v))
					j->values[n++] = v;
			}
			j->stage_blocks[(size_t)stage * j->n_blocks + b] = ct_median(j->values, n);
		}
	}
}

/* ---- who stands out ---- */

/* Standard deviation of blocks by how much neighbours differ (von Neumann), but for the two that differ most: what becomes slow, or
 * fast again, does not add to it. room: n. */
static double noise_of(const double *x, uint32_t n, double *room)
{
	double sum = 0;
	uint32_t pairs = 0;

	for (uint32_t b = 1; b < n; b++) {
		if (!isnan(x[b]) && !isnan(x[b - 1]))
			room[pairs++] = (x[b] - x[b - 1]) * (x[b] - x[b - 1]);
	}
	if (pairs < CT_CHANGES + 2)
		return INFINITY;
	qsort(room, pairs, sizeof(*room), ct_by_double);
	for (uint32_t k = 0; k < pairs - CT_CHANGES; k++)
		sum += room[k];
	return sqrt(sum / (pairs - CT_CHANGES) / 2);
}

/* So clear has it to be. */
static double least_t(uint32_t blocks, int is_window)
{
	double t = CT_STEADY_T * (1 + CT_FEW_BLOCKS / (blocks > 1 ? blocks - 1 : 1));

	return is_window ? CT_WINDOW_T * t : t;
}

/* Most blocks from `first` to `last` hold about as much as their mean: a stall or two are no steady excess. room: n_blocks. */
static int is_steady(const struct judging *j, uint32_t first, uint32_t last, double mean)
{
	size_t n = 0;

	for (uint32_t b = first; b <= last; b++) {
		if (!isnan(j->excess[b]))
			j->sorted[n++] = j->excess[b];
	}
	return n && ct_median(j->sorted, n) >= CT_STEADY * mean;
}

struct stretch {
	double mean, t;
	uint32_t first, last; /* blocks */
};

/* Where the excess (by block) stands out most: all of the run, or a part of it. */
static struct stretch stands_out(const struct judging *j, double noise)
{
	uint32_t n = j->n_blocks, least = (uint32_t)ceil(CT_LEAST_WINDOW * n);
	struct stretch all = { mean_of(j->excess, n), 0, 0, n - 1 }, best = all;
	double floor = noise > 0 ? noise : 1;

	all.t = best.t = all.mean * sqrt(n) / floor;
	if (best.t < least_t(n, 0) || !is_steady(j, 0, n - 1, all.mean))
		best.t = 0;
	for (uint32_t from = 0; from < n && n >= CT_BLOCKS_FOR_WINDOW; from++) {
		double sum = 0, known = 0;

		for (uint32_t to = from; to < n; to++) {
			double t;

			sum += isnan(j->excess[to]) ? 0 : j->excess[to];
			known += !isnan(j->excess[to]);
			t = known > 0 ? sum / sqrt(known) / floor : 0;
			if (to - from + 1 < (least > CT_WINDOW_BLOCKS ? least : CT_WINDOW_BLOCKS) ||
			    t < least_t(n, 1) || t <= 1.05 * best.t ||
			    !is_steady(j, from, to, sum / known))
				continue;
			best = (struct stretch){ sum / known, t, from, to };
		}
	}
	if (best.t <= 0)
		all.t = all.t < least_t(n, 0) ? all.t : 0;
	return best.t > 0 ? best : all;
}

/* Of the seat's stage's others, and of other stages where these are few, at a block. */
static double reference(struct judging *j, uint32_t seat, uint32_t block, int ask_others)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t stage = g->stage_of[seat];
	size_t n = 0;

	/* of so many the one itself does not move the median */
	if (ct_stage_size(g, stage) > CT_MANY_PEERS)
		return j->stage_blocks[(size_t)stage * j->n_blocks + block];
	for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
		double v = j->blocks[(size_t)g->seats[k] * j->n_blocks + block];

		if (g->seats[k] != seat && !isnan(v))
			j->values[n++] = v;
	}
	for (uint32_t other = 0; ask_others && other < g->n; other++) {
		double v = j->stage_blocks[(size_t)other * j->n_blocks + block];

		if (other != stage && !isnan(v))
			j->values[n++] = v;
	}
	return ct_median(j->values, n);
}

static double step_ns(const struct ct_engine *e)
{
	return e->played / e->n_steps;
}

static int is_worth_it(const struct judging *j, const struct stretch *s)
{
	double share = (double)(s->last - s->first + 1) / j->n_blocks;

	/* of the run, as of a step all through it */
	return s->mean * share > CT_LEAST_EXCESS * step_ns(j->e) &&
	       s->t >= least_t(j->n_blocks, s->last - s->first + 1 < j->n_blocks);
}

/* No luckier than the median of its stage. */
static double noise_among(struct judging *j, uint32_t seat)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t stage = g->stage_of[seat];
	size_t n = 0;

	for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
		if (isfinite(j->noises[g->seats[k]]))
			j->values[n++] = j->noises[g->seats[k]];
	}
	return n ? fmax(ct_median(j->values, n), j->noises[seat]) : j->noises[seat];
}

/* Its blocks beyond those of its peers. */
static void find_excess(struct judging *j, uint32_t seat)
{
	for (uint32_t b = 0; b < j->n_blocks; b++)
		j->excess[b] = j->blocks[(size_t)seat * j->n_blocks + b] -
			       reference(j, seat, b, j->seats[seat].asked_others);
}

/* What the seat computes in a step, over the median of its stage's others; NAN: not known. *theirs: that median. */
static double over_peers(struct judging *j, uint32_t seat, uint32_t k, double *theirs)
{
	const struct ct_engine *e = j->e;
	const struct ct_stages *g = &e->stages;
	uint32_t stage = g->stage_of[seat];
	size_t n = 0;

	for (uint32_t i = g->first[stage]; i < g->first[stage + 1]; i++) {
		double v = e->own_ns[(size_t)g->seats[i] * e->n_steps + k];

		if (g->seats[i] != seat && !isnan(v))
			j->values[n++] = v;
	}
	*theirs = n ? ct_median(j->values, n) : 0;
	return e->own_ns[(size_t)seat * e->n_steps + k] - *theirs;
}

/* In how many steps its excess over its stage lies, as if they all held as much: (sum)^2 / sum of squares. */
static double steps_held(struct judging *j, uint32_t seat)
{
	double sum = 0, squares = 0;

	for (uint32_t k = 0; k < j->e->n_steps; k++) {
		double theirs, own = over_peers(j, seat, k, &theirs);

		if (isnan(own))
			continue;
		sum += own;
		squares += own * own;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

static void judge_seat(struct judging *j, uint32_t seat)
{
	struct standing *s = &j->seats[seat];
	struct stretch out;
	double own;

	find_excess(j, seat);
	out = stands_out(j, noise_among(j, seat));
	s->excess = out.mean;
	s->t = out.t;
	s->first = j->block_first[out.first];
	s->last = j->block_first[out.last + 1] - 1;
	s->is_hot = is_worth_it(j, &out);
	/* few long blocks hide how few steps it is: those are stalls */
	if (s->is_hot && j->n_blocks < most_blocks(j->e))
		s->is_hot = steps_held(j, seat) >= CT_STEPS_A_BLOCK_HELD * j->n_blocks;
	own = mean_of(&j->blocks[(size_t)seat * j->n_blocks + out.first], out.last - out.first + 1);
	s->ratio = own > 0 ? (own - out.mean) / own : 1;
}

/* ---- rows ---- */

static struct ct_slow_row *add_row(struct judging *j, enum ct_slow_kind kind, uint32_t which,
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
static void sum_up(struct judging *j, struct ct_slow_row *row)
{
	row->t = INFINITY;
	row->first = UINT32_MAX;
	row->last = 0;
	for (uint32_t k = 0; k < row->n; k++) {
		const struct standing *s = &j->seats[row->seats[k]];

		row->excess_ns += s->excess / row->n;
		row->t = s->t < row->t ? s->t : row->t;
		row->first = s->first < row->first ? s->first : row->first;
		row->last = s->last > row->last ? s->last : row->last;
	}
}

/* All of these are hot, by about as much; there are others. Then they are one row. */
static int are_alike(const struct judging *j, const uint32_t *seats, uint32_t n)
{
	double least = INFINITY, most = 0;

	if (n < 2 || n >= j->e->stages.first[j->e->stages.n])
		return 0;
	for (uint32_t k = 0; k < n; k++) {
		const struct standing *s = &j->seats[seats[k]];

		if (!s->is_hot || j->taken[seats[k]])
			return 0;
		least = fmin(least, s->excess);
		most = fmax(most, s->excess);
	}
	return least >= CT_ALIKE * most;
}

static int add_set(struct judging *j, enum ct_slow_kind kind, uint32_t which,
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

static int add_hosts(struct judging *j, uint32_t *room)
{
	int st = CT_OK;

	for (uint32_t host = 0; host < (uint32_t)j->model->attempts->n_hosts && st == CT_OK;
	     host++) {
		uint32_t n = 0;

		for (uint32_t seat = 0; seat < j->e->schedule.n_seats; seat++) {
			if (j->model->host_of[seat] == host)
				room[n++] = seat;
		}
		st = add_set(j, CT_SLOW_HOST, host, NULL, room, n);
	}
	return st;
}

static int add_groups(struct judging *j, uint32_t *room)
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

static double median_of_others(struct judging *j, uint32_t stage, uint32_t block)
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
static int add_stages(struct judging *j)
{
	const struct ct_stages *g = &j->e->stages;

	/* what a stage waits for looks like computing */
	if (j->e->under_messages > CT_UNDER_MESSAGES || j->model->incomplete ||
	    fabs(j->e->played / j->e->recorded - 1) > CT_STAGE_PLAY_ERROR)
		return CT_OK;
	for (uint32_t stage = 0; g->n > 1 && stage < g->n; stage++) {
		struct stretch out;
		struct ct_slow_row *row;
		double least = INFINITY, most = 0;

		for (uint32_t b = 0; b < j->n_blocks; b++)
			j->excess[b] = j->stage_blocks[(size_t)stage * j->n_blocks + b] -
				       median_of_others(j, stage, b);
		out = stands_out(j, noise_of(j->excess, j->n_blocks, j->sorted));
		if (!is_worth_it(j, &out))
			continue;
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			uint32_t seat = g->seats[k];
			double over = mean_of(&j->blocks[(size_t)seat * j->n_blocks + out.first],
					      out.last - out.first + 1);
			double ref = mean_of(&j->stage_blocks[(size_t)stage * j->n_blocks +
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
static int is_partly(const struct judging *j, const struct ct_slow_row *row)
{
	return row->kind == CT_SLOW_RANK && (row->first > 0 || row->last + 1 < j->e->n_steps);
}

/* Parts of the run, one after the other, in which somebody is slow: the most of which no two overlap. */
static uint32_t count_turns(const struct judging *j)
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
static void drop_turns(struct judging *j)
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

static int find_rows(struct judging *j)
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
	}
	free(room);
	drop_turns(j);
	qsort(j->out->all, j->out->n, sizeof(*j->out->all), by_excess);
	while (j->out->n > CT_MOST_ROWS)
		free(j->out->all[--j->out->n].seats);
	return st;
}

/* ---- mending ---- */

/* Levels (struct ct_engine) in some of the steps. */
static void find_levels(struct judging *j, uint32_t first, uint32_t last)
{
	const struct ct_engine *e = j->e;
	const struct ct_schedule *s = &e->schedule;
	size_t n = (size_t)e->positions.n * e->stages.most;

	memset(j->level_ns, 0, n * sizeof(*j->level_ns));
	memset(j->times, 0, n * sizeof(*j->times));
	for (uint32_t seat = 0; seat < s->n_seats; seat++) {
		double carried = 0;

		for (uint32_t l = s->seat_first[seat]; l < s->seat_first[seat + 1]; l++) {
			uint32_t p = e->positions.position_of[l], step = e->positions.step_of[l];
			size_t at = (size_t)p * e->stages.most + e->stages.place_of[seat];

			carried += s->launches[l].from == CT_NO_LAUNCH ? 0 : (double)e->gap_ns[l];
			if (p == CT_NO_POSITION)
				continue;
			if (step >= e->steps[first] && step <= e->steps[last]) {
				j->level_ns[at] += carried;
				j->times[at]++;
			}
			carried = 0;
		}
	}
	for (size_t k = 0; k < n; k++)
		j->level_ns[k] = j->times[k] ? j->level_ns[k] / j->times[k] : 0;
}

/* Of the stage's ranks that are not hot; of all where all are. */
static double peers_level(struct judging *j, uint32_t stage, uint32_t position)
{
	const struct ct_stages *g = &j->e->stages;
	const double *level = &j->level_ns[(size_t)position * g->most];
	size_t n = 0;

	for (int all = 0; all < 2 && !n; all++) {
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			if (level[g->place_of[g->seats[k]]] > 0 &&
			    (all || !j->seats[g->seats[k]].is_hot))
				j->values[n++] = level[g->place_of[g->seats[k]]];
		}
	}
	return ct_median(j->values, n);
}

/* What others of the row's stage have at each position, by position. */
static void fill_peers(struct judging *j, uint32_t stage, double *peers)
{
	for (uint32_t p = 0; p < j->e->positions.n; p++)
		peers[p] = j->e->positions.all[p].stage == stage ? peers_level(j, stage, p) : 0;
}

static double stage_ratio(struct judging *j, const struct ct_slow_row *row)
{
	double own = 0, n = 0;

	for (uint32_t b = 0; b < j->n_blocks; b++) {
		if (j->block_first[b] < row->first || j->block_first[b] > row->last)
			continue;
		own += j->stage_blocks[(size_t)row->which * j->n_blocks + b];
		n++;
	}
	return own > 0 ? 1 - row->excess_ns * n / own : 1;
}

/* Scale a gap in the row's steps; what starts as it was measured has none. */
static void scale_one(struct ct_engine *e, const struct ct_slow_row *row, uint32_t launch,
		      uint32_t step, double factor)
{
	if (e->schedule.launches[launch].from != CT_NO_LAUNCH && step >= e->steps[row->first] &&
	    step <= e->steps[row->last] && step != CT_NO_STEP)
		e->other_ns[launch] = (int64_t)((double)e->other_ns[launch] * factor);
}

/* All gaps of a seat, alike. */
static void scale_all(struct ct_engine *e, const struct ct_slow_row *row, uint32_t seat,
		      double ratio)
{
	for (uint32_t l = e->schedule.seat_first[seat]; l < e->schedule.seat_first[seat + 1]; l++)
		scale_one(e, row, l, e->positions.step_of[l], ratio);
}

/* Each to the level of peers, by position; what has none goes with the next one that has. */
static void scale_to(struct judging *j, const struct ct_slow_row *row, uint32_t seat,
		     const double *peers)
{
	struct ct_engine *e = j->e;
	uint32_t since = e->schedule.seat_first[seat];

	for (uint32_t l = since; l < e->schedule.seat_first[seat + 1]; l++) {
		uint32_t p = e->positions.position_of[l];
		double own;

		if (p == CT_NO_POSITION)
			continue;
		own = j->level_ns[(size_t)p * e->stages.most + e->stages.place_of[seat]];
		for (; since <= l; since++)
			scale_one(e, row, since, e->positions.step_of[l],
				  own > 0 && !isnan(peers[p]) ? peers[p] / own : 1);
	}
}

/* Who is late in some steps only: in those in which it is so by more than on average, all gaps are scaled to what its peers compute. */
static void cut_peaks(struct judging *j, const struct ct_slow_row *row, uint32_t seat)
{
	struct ct_engine *e = j->e;
	uint32_t known = CT_NO_STEP;
	double factor = 1;

	for (uint32_t l = e->schedule.seat_first[seat]; l < e->schedule.seat_first[seat + 1]; l++) {
		uint32_t step = e->positions.step_of[l];

		if (step != known) {
			size_t k = CT_BISECT(i, 0, e->n_steps, e->steps[i] < step);
			double theirs, over = 0;

			known = step;
			if (k < e->n_steps && e->steps[k] == step)
				over = over_peers(j, seat, (uint32_t)k, &theirs);
			factor = over > row->excess_ns ? theirs / (theirs + over) : 1;
		}
		scale_one(e, row, l, step, factor);
	}
}

/* Does it do anything that its peers do? */
static int has_positions(const struct ct_engine *e, uint32_t seat)
{
	for (uint32_t l = e->schedule.seat_first[seat]; l < e->schedule.seat_first[seat + 1]; l++) {
		if (e->positions.position_of[l] != CT_NO_POSITION)
			return 1;
	}
	return 0;
}

static int mend(struct judging *j, const struct ct_slow_row *row)
{
	struct ct_engine *e = j->e;
	double *peers = NULL;
	uint32_t stage = UINT32_MAX;

	if (row->kind == CT_SLOW_STAGE) {
		double ratio = stage_ratio(j, row);

		for (uint32_t k = 0; k < row->n; k++)
			scale_all(e, row, row->seats[k], ratio);
		return CT_OK;
	}
	peers = malloc(((size_t)e->positions.n + 1) * sizeof(*peers));
	if (!peers)
		return CT_NOMEM;
	find_levels(j, row->first, row->last);
	for (uint32_t k = 0; k < row->n; k++) {
		uint32_t seat = row->seats[k];

		if (e->stages.stage_of[seat] != stage) {
			stage = e->stages.stage_of[seat];
			fill_peers(j, stage, peers);
		}
		if (j->n_blocks < most_blocks(e) &&
		    ct_stage_size(&e->stages, e->stages.stage_of[seat]) > 1)
			cut_peaks(j, row, seat);
		else if (j->seats[seat].asked_others || !has_positions(e, seat))
			scale_all(e, row, seat, j->seats[seat].ratio);
		else
			scale_to(j, row, seat, peers);
	}
	free(peers);
	return CT_OK;
}

/* Gain (ns) if all rows but `but` were mended; each: how long each step takes then, or NULL. Negative: no memory. */
static int gain_without(struct judging *j, uint32_t but, double *each, double *gain)
{
	struct ct_engine *e = j->e;

	memcpy(e->other_ns, e->gap_ns, e->schedule.n_launches * sizeof(*e->other_ns));
	for (uint32_t k = 0; k < j->out->n; k++) {
		if (k != but && mend(j, &j->out->all[k]) != CT_OK)
			return CT_NOMEM;
	}
	*gain = e->played - ct_engine_play(e, e->other_ns, NULL, each);
	return CT_OK;
}

static int gain_alone(struct judging *j, struct ct_slow_row *row)
{
	struct ct_engine *e = j->e;
	int st;

	memcpy(e->other_ns, e->gap_ns, e->schedule.n_launches * sizeof(*e->other_ns));
	st = mend(j, row);
	row->gain_ns = e->played - ct_engine_play(e, e->other_ns, NULL, NULL);
	return st;
}

static void drop(struct ct_slow_rows *rows, uint32_t at)
{
	free(rows->all[at].seats);
	memmove(&rows->all[at], &rows->all[at + 1], (rows->n - at - 1) * sizeof(*rows->all));
	rows->n--;
}

/* Of a gain, by blocks of steps. */
static double gain_error(struct judging *j, const double *mended)
{
	double noise;

	for (uint32_t b = 0; b < j->n_blocks; b++) {
		j->excess[b] = 0;
		for (uint32_t k = j->block_first[b]; k < j->block_first[b + 1]; k++)
			j->excess[b] += j->e->played_ns[k] - mended[k];
	}
	noise = noise_of(j->excess, j->n_blocks, j->sorted);
	return isfinite(noise) ? CT_TOLD_ERRORS * noise * sqrt(j->n_blocks) : 0;
}

/* Where in a block a row begins or ends is not known. */
static double ends_error(const struct judging *j)
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
static int choose(struct judging *j)
{
	struct ct_slow_rows *rows = j->out;
	double *each = malloc(((size_t)j->e->n_steps + 1) * sizeof(*each)), full;
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
		rows->gain_err_ns = gain_error(j, each) + ends_error(j) +
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

/* ---- the rest ---- */

/* All gaps of a step scaled so that it holds the mean of its stage. */
static int64_t of_mean_step(const struct ct_engine *e, uint32_t launch, double mean)
{
	const struct ct_schedule_launch *l = &e->schedule.launches[launch];
	uint32_t step = e->positions.step_of[launch];
	size_t at = CT_BISECT(i, 0, e->n_steps, e->steps[i] < step);
	double own;

	if (step == CT_NO_STEP || at == e->n_steps || e->steps[at] != step || mean <= 0)
		return e->gap_ns[launch];
	own = e->own_ns[(size_t)l->seat * e->n_steps + at];
	return own > 0 ? (int64_t)((double)e->gap_ns[launch] * mean / own) : e->gap_ns[launch];
}

/* The mean of its position over the stage; what has none is in that of the next one. by_position: these means. */
static int64_t of_mean_gap(const struct ct_engine *e, uint32_t launch, const double *by_position)
{
	uint32_t p = e->positions.position_of[launch];

	if (p == CT_NO_POSITION)
		return e->is_carried[launch] ? 0 : e->gap_ns[launch];
	return by_position[p] > 0 ? (int64_t)by_position[p] : e->gap_ns[launch];
}

/* In how many steps a gain lies, as if they all held as much: (sum)^2 / sum of squares. */
static double steps_gained(const struct ct_engine *e, const double *each)
{
	double sum = 0, squares = 0;

	for (uint32_t k = 0; k < e->n_steps; k++) {
		double gain = e->played_ns[k] - each[k];

		sum += gain;
		squares += gain * gain;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

/* What the run would gain if all ranks of a stage computed alike: step by step, or gap by gap, whichever is more. 0 or CT_NOMEM. */
static int find_unevenness(struct judging *j)
{
	struct ct_engine *e = j->e;
	const struct ct_schedule *s = &e->schedule;
	double *by_position = malloc(((size_t)e->positions.n + 1) * sizeof(*by_position));
	double *each = malloc(((size_t)e->n_steps + 1) * sizeof(*each));
	double least = e->played, time;

	if (!by_position || !each) {
		free(by_position);
		free(each);
		return CT_NOMEM;
	}
	for (uint32_t p = 0; p < e->positions.n; p++)
		by_position[p] = ct_engine_position_mean(e, p);
	for (int by_gap = 0; by_gap < 2; by_gap++) {
		memcpy(e->other_ns, e->gap_ns, s->n_launches * sizeof(*e->other_ns));
		for (uint32_t stage = 0; stage < e->stages.n; stage++) {
			double mean = ct_engine_stage_mean(e, stage);

			for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1];
			     k++) {
				uint32_t seat = e->stages.seats[k];

				for (uint32_t l = s->seat_first[seat]; l < s->seat_first[seat + 1];
				     l++) {
					if (s->launches[l].from != CT_NO_LAUNCH)
						e->other_ns[l] = by_gap ? of_mean_gap(e, l,
										      by_position)
									: of_mean_step(e, l, mean);
				}
			}
		}
		time = ct_engine_play(e, e->other_ns, NULL, each);
		if (time >= least)
			continue;
		least = time;
		j->out->uneven_steps = steps_gained(e, each);
	}
	j->out->uneven_ns = e->played - least;
	free(by_position);
	free(each);
	return CT_OK;
}

/* In operations, beyond their transfers: mean over ranks. */
static void find_wait(struct judging *j)
{
	const struct ct_schedule *s = &j->e->schedule;
	double sum = 0;

	for (uint32_t m = 0; m < s->n_meetings; m++) {
		const struct ct_schedule_meeting *meeting = &s->meetings[m];

		for (uint32_t p = 0; p < meeting->n; p++) {
			const struct ct_schedule_part *part = &s->parts[meeting->first_part + p];
			const struct ct_schedule_launch *l = &s->launches[part->ends];
			int64_t moved = meeting->transfer_ns + part->own_ns;

			if (j->e->positions.step_of[part->ends] != CT_NO_STEP &&
			    part->end == CT_ENDS_WITH_ALL && l->span_ns > moved)
				sum += (double)(l->span_ns - moved);
		}
	}
	j->out->wait_ns = sum / j->e->stages.first[j->e->stages.n];
}

/* Does any rank stand out, judged over so many blocks? */
static int judge_seats(struct judging *j, uint32_t blocks)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t n_seats = j->e->schedule.n_seats;
	int is_any_hot = 0;

	cut_blocks(j, blocks);
	fill_blocks(j);
	for (uint32_t seat = 0; seat < n_seats; seat++) {
		j->seats[seat].asked_others = ct_stage_size(g, g->stage_of[seat]) <= CT_LEAST_PEERS;
		find_excess(j, seat);
		j->noises[seat] = noise_of(j->excess, j->n_blocks, j->sorted);
	}
	for (uint32_t seat = 0; seat < n_seats; seat++) {
		judge_seat(j, seat);
		is_any_hot |= j->seats[seat].is_hot;
	}
	return is_any_hot;
}

static int judge(struct judging *j)
{
	uint32_t n_seats = j->e->schedule.n_seats, blocks = most_blocks(j->e);
	int st;

	/* what comes in every tenth step only is in few of many blocks, and in each of a few */
	while (!judge_seats(j, blocks) && blocks / 2 >= CT_LEAST_STEPS)
		blocks /= 2;
	if (blocks < most_blocks(j->e) && !judge_seats(j, blocks))
		judge_seats(j, most_blocks(j->e));
	for (uint32_t seat = 0; seat < n_seats; seat++)
		j->out->is_like_peers[seat] = j->seats[seat].excess + 2 * j->noises[seat] <
					      CT_LEAST_EXCESS * step_ns(j->e);
	st = find_rows(j);
	if (st == CT_OK && j->out->n)
		st = choose(j);
	if (st == CT_OK)
		st = find_unevenness(j);
	find_wait(j);
	return st;
}

int ct_slow_rows_find(struct ct_slow_rows *rows, struct ct_engine *e, const struct ct_model *model)
{
	size_t seats = (size_t)e->schedule.n_seats + 1;
	size_t blocks = CT_MOST_BLOCKS + 1, levels = (size_t)e->positions.n * e->stages.most + 1;
	struct judging j = { .e = e, .model = model, .out = rows };
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
	return st;
}
