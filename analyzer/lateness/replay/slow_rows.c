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
		free(rows->all[k].slots);
	free(rows->all);
	free(rows->is_like_peers);
	*rows = (struct ct_slow_rows){ 0 };
}

/* ---- rows: what is hot together ---- */

static struct ct_slow_row *add_row(struct ct_judging *j, enum ct_slow_kind kind, uint32_t which,
				   uint32_t most)
{
	struct ct_slow_row *row = &j->out->all[j->out->n];

	*row = (struct ct_slow_row){ .kind = kind, .which = which, .last = j->e->n_steps - 1 };
	row->slots = malloc(((size_t)most + 1) * sizeof(*row->slots));
	if (!row->slots)
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
		const struct ct_standing *s = &j->slots[row->slots[k]];

		row->excess_ns += s->excess / row->n;
		row->t = s->t < row->t ? s->t : row->t;
		row->first = s->first < row->first ? s->first : row->first;
		row->last = s->last > row->last ? s->last : row->last;
	}
}

/* All of these are hot, by about as much; there are others. Then they are one row. */
static int are_alike(const struct ct_judging *j, const uint32_t *slots, uint32_t n)
{
	double least = INFINITY, most = 0;

	if (n < 2 || n >= j->e->stages.first[j->e->stages.n])
		return 0;
	for (uint32_t k = 0; k < n; k++) {
		const struct ct_standing *s = &j->slots[slots[k]];

		if (!s->is_hot || j->taken[slots[k]])
			return 0;
		least = fmin(least, s->excess);
		most = fmax(most, s->excess);
	}
	return least >= CT_MOST * most;
}

static int add_set(struct ct_judging *j, enum ct_slow_kind kind, uint32_t which,
		   const struct ct_comm *comm, const uint32_t *slots, uint32_t n)
{
	struct ct_slow_row *row;

	if (!are_alike(j, slots, n))
		return CT_OK;
	row = add_row(j, kind, which, n);
	if (!row)
		return CT_NOMEM;
	row->comm = comm;
	row->n = n;
	memcpy(row->slots, slots, n * sizeof(*slots));
	for (uint32_t k = 0; k < n; k++)
		j->taken[slots[k]] = 1;
	sum_up(j, row);
	return CT_OK;
}

static int add_hosts(struct ct_judging *j, uint32_t *room)
{
	int st = CT_OK;

	for (uint32_t host = 0; host < (uint32_t)j->model->starts->n_hosts && st == CT_OK; host++) {
		uint32_t n = 0;

		for (uint32_t slot = 0; slot < j->e->schedule.n_slots; slot++) {
			if (j->model->host_of[slot] == host)
				room[n++] = slot;
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

		if (comm->n_known != comm->nranks || comm->shared_slot || comm->clash)
			continue;
		for (uint32_t r = 0; r < comm->nranks; r++)
			room[n++] = comm->slots[r] - 1;
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
	if (j->e->under_messages > CT_HARDLY_ANY || j->model->incomplete ||
	    fabs(j->e->played / j->e->recorded - 1) > CT_MODEL_ERROR)
		return CT_OK;
	for (uint32_t stage = 0; g->n > 1 && stage < g->n; stage++) {
		struct ct_stretch out;
		struct ct_slow_row *row;
		double least = INFINITY, most = 0;

		for (uint32_t b = 0; b < j->n_blocks; b++)
			j->excess[b] = j->stage_blocks[(size_t)stage * j->n_blocks + b] -
				       median_of_others(j, stage, b);
		out = ct_stands_out(j, ct_noise_of_blocks(j->excess, j->n_blocks, j->sorted));
		if (!ct_stands_out_clearly(j, &out))
			continue;
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			uint32_t slot = g->slots[k];
			double over = ct_mean_of_blocks(
				&j->blocks[(size_t)slot * j->n_blocks + out.first],
				out.last - out.first + 1);
			double ref = ct_mean_of_blocks(
					     &j->stage_blocks[(size_t)stage * j->n_blocks +
							      out.first],
					     out.last - out.first + 1) -
				     out.mean;

			/* a rank that is slow in its stage besides does not show it */
			if (j->slots[slot].is_hot && !j->slots[slot].asked_others)
				continue;
			least = fmin(least, over - ref);
			most = fmax(most, over - ref);
		}
		if (least < CT_MOST * most)
			continue;
		row = add_row(j, CT_SLOW_STAGE, stage, ct_stage_size(g, stage));
		if (!row)
			return CT_NOMEM;
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			row->slots[row->n++] = g->slots[k];
			/* its few peers are the stage itself */
			j->taken[g->slots[k]] |= (uint8_t)j->slots[g->slots[k]].asked_others;
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

/* Parts of the run, one after the other, in which someone is slow: the most of which no two
 * overlap. */
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

/* Ranks that are slow one after the other take turns: that is unevenness, and none of them is slow.
 */
static void drop_turns(struct ct_judging *j)
{
	struct ct_slow_rows *rows = j->out;
	uint32_t turns = count_turns(j), kept = 0;

	for (uint32_t k = 0; k < rows->n; k++) {
		if (turns > CT_CHANGES && is_partly(j, &rows->all[k]))
			free(rows->all[k].slots);
		else
			rows->all[kept++] = rows->all[k];
	}
	rows->n = kept;
}

static int find_rows(struct ct_judging *j)
{
	uint32_t *room = malloc(((size_t)j->e->schedule.n_slots + 1) * sizeof(*room));
	int st = room ? add_stages(j) : CT_NOMEM;

	if (st == CT_OK)
		st = add_hosts(j, room);
	if (st == CT_OK)
		st = add_groups(j, room);
	for (uint32_t slot = 0; slot < j->e->schedule.n_slots && st == CT_OK; slot++) {
		struct ct_slow_row *row;

		if (!j->slots[slot].is_hot || j->taken[slot])
			continue;
		row = add_row(j, CT_SLOW_RANK, slot, 1);
		if (!row) {
			st = CT_NOMEM;
			break;
		}
		row->slots[row->n++] = slot;
		sum_up(j, row);
		for (uint32_t k = 0; j->slots[slot].in_single_steps && k < j->e->n_steps; k++)
			row->singles += ct_is_single(j, slot, k) != 0;
	}
	free(room);
	drop_turns(j);
	qsort(j->out->all, j->out->n, sizeof(*j->out->all), by_excess);
	while (j->out->n > CT_MOST_ROWS)
		free(j->out->all[--j->out->n].slots);
	return st;
}

static int judge_rows(struct ct_judging *j)
{
	int st;

	st = ct_single_steps_find(j);
	if (st == CT_OK)
		st = ct_judge_slots(j);
	if (st == CT_OK) {
		st = find_rows(j);
		j->out->singles_ns = j->all_singles.sum;
		for (uint32_t slot = 0; slot < j->e->schedule.n_slots; slot++)
			j->out->n_stalled += j->singles[slot].sum >
					     CT_LEAST_GAIN * j->all_singles.sum;
	}
	if (st == CT_OK && j->out->n)
		st = ct_slow_rows_choose(j);
	for (uint32_t k = 0; k < j->out->n && st == CT_OK; k++)
		st = ct_slow_row_find_sites(j, &j->out->all[k]);
	return st;
}

int ct_slow_rows_find(struct ct_slow_rows *rows, struct ct_engine *e, const struct ct_model *model)
{
	size_t slots = (size_t)e->schedule.n_slots + 1;
	size_t blocks = CT_MOST_BLOCKS + 1, levels = (size_t)e->positions.n * e->stages.most + 1;
	struct ct_judging j = { .e = e, .model = model, .out = rows };
	int st = CT_NOMEM;

	*rows = (struct ct_slow_rows){ 0 };
	if (e->why_not)
		return CT_OK;
	rows->is_like_peers = calloc(slots, 1);
	rows->all = calloc(3 * slots + model->comms.n, sizeof(*rows->all));
	j.block_first = calloc(blocks, sizeof(*j.block_first));
	j.blocks = calloc(slots * blocks, sizeof(*j.blocks));
	j.stage_blocks = calloc(((size_t)e->stages.n + 1) * blocks, sizeof(*j.stage_blocks));
	j.excess = calloc(blocks, sizeof(*j.excess));
	j.sorted = calloc(blocks, sizeof(*j.sorted));
	j.values = calloc(slots + e->stages.n, sizeof(*j.values));
	j.noises = calloc(slots, sizeof(*j.noises));
	j.stage_noises = calloc((size_t)e->stages.n + 1, sizeof(*j.stage_noises));
	j.slots = calloc(slots, sizeof(*j.slots));
	j.level_ns = calloc(levels, sizeof(*j.level_ns));
	j.times = calloc(levels, sizeof(*j.times));
	j.taken = calloc(slots, 1);
	if (rows->all && rows->is_like_peers && j.block_first && j.blocks && j.stage_blocks &&
	    j.excess && j.sorted && j.values && j.noises && j.stage_noises && j.slots &&
	    j.level_ns && j.times && j.taken)
		st = judge_rows(&j);
	free(j.block_first);
	free(j.blocks);
	free(j.stage_blocks);
	free(j.excess);
	free(j.sorted);
	free(j.values);
	free(j.noises);
	free(j.stage_noises);
	free(j.slots);
	free(j.level_ns);
	free(j.times);
	free(j.taken);
	ct_single_steps_fini(&j);
	return st;
}
