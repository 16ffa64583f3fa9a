/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/positions.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

struct positions_search {
	const struct ct_schedule *s;
	const struct ct_stages *stages;
	struct ct_positions *out;
};

void ct_positions_fini(struct ct_positions *p)
{
	free(p->step_of);
	free(p->position_of);
	free(p->order);
	free(p->all);
	free(p->is_complete);
	*p = (struct ct_positions){ 0 };
}

/* Neighbours at the edge of a grid have fewer messages than those within it: only stages of a
 * pipeline distinguish them. */
static uint64_t kind_of(const struct positions_search *f, const struct ct_schedule_launch *l)
{
	return f->stages->n == 1 && l->messages ? ct_mix(1) : l->kind;
}

#define NO_ROW UINT32_MAX

/* Launches of one stage that are the n-th of their kind in a step, or come more often than is
 * common. */
struct position_row {
	uint64_t key, kind;
	uint32_t stage, times;
	uint32_t nth0, next, surplus; /* rows of that stage and kind: the first, the next, what is
					 surplus; NO_ROW: not met */
	uint32_t first, n;	      /* of its launches, in the order of positions */
	int is_surplus;
};

/* The latest launch of a kind: where, and its row. */
struct latest_launch {
	uint32_t slot; /* + 1; 0: none yet */
	uint32_t step, n, row, nth0;
};

struct position_rows {
	struct ct_table kinds;	 /* by kind: its number */
	struct ct_table numbers; /* by key: the row's */
	struct position_row *all;
	uint32_t cap;
	uint32_t *of;		      /* by launch; NO_ROW: none */
	struct latest_launch *latest; /* by kind */
	uint32_t cap_latest;
};

#define SURPLUS UINT32_MAX

/* The row of those, made if it is not there. 0 or CT_NOMEM. */
static int get_row(struct position_rows *rows, uint32_t stage, uint64_t kind, uint32_t nth,
		   uint32_t *row)
{
	uint64_t key = ct_mix(ct_mix(kind) ^ ((uint64_t)stage << 32 | nth));
	uint32_t n = (uint32_t)rows->numbers.n;

	if (ct_table_number(&rows->numbers, key, row) != CT_OK ||
	    ct_grow(&rows->all, &rows->cap, n + 1, sizeof(*rows->all)))
		return CT_NOMEM;
	if (*row == n)
		rows->all[n] = (struct position_row){ .key = key,
						      .kind = kind,
						      .stage = stage,
						      .next = NO_ROW,
						      .surplus = NO_ROW,
						      .is_surplus = nth == SURPLUS };
	return CT_OK;
}

/* By how many of its kind its rank had before in the step. */
static int number_launch(const struct positions_search *f, struct position_rows *rows, uint32_t l,
			 uint32_t slot)
{
	uint32_t stage = f->stages->stage_of[slot], step = f->out->step_of[l], row, number;
	uint64_t kind = kind_of(f, &f->s->launches[l]);
	struct latest_launch *latest;
	int st = ct_table_number(&rows->kinds, kind, &number);

	if (st != CT_OK ||
	    ct_grow_zeroed(&rows->latest, &rows->cap_latest, number + 1, sizeof(*latest)))
		return CT_NOMEM;
	latest = &rows->latest[number];
	if (latest->slot != slot + 1) {
		st = get_row(rows, stage, kind, 0, &latest->nth0);
		latest->slot = slot + 1;
		latest->step = CT_NO_STEP;
	}
	if (latest->step != step) {
		latest->step = step;
		latest->n = 0;
		row = latest->nth0;
	} else {
		latest->n++;
		row = rows->all[latest->row].next;
		if (row == NO_ROW) {
			st = get_row(rows, stage, kind, latest->n, &row);
			rows->all[latest->row].next = row;
		}
	}
	if (st != CT_OK)
		return st;
	latest->row = rows->of[l] = row;
	rows->all[row].nth0 = latest->nth0;
	rows->all[row].times++;
	return CT_OK;
}

/* Each launch's row, and how often each comes. */
static int number(const struct positions_search *f, struct position_rows *rows)
{
	const struct ct_schedule *s = f->s;
	int st = CT_OK;

	for (uint32_t slot = 0; slot < s->n_slots; slot++) {
		for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1] && st == CT_OK;
		     l++) {
			rows->of[l] = NO_ROW;
			if (f->out->step_of[l] != CT_NO_STEP)
				st = number_launch(f, rows, l, slot);
		}
	}
	return st;
}

static int is_common(const struct positions_search *f, const struct position_row *row)
{
	double all = (double)f->out->n_complete * ct_stage_size(f->stages, row->stage);

	return (double)row->times >= CT_MOST * all;
}

/* What is not common has the row of its kind's surplus, or none. */
static int choose(const struct positions_search *f, struct position_rows *rows)
{
	for (uint32_t l = 0; l < f->s->n_launches; l++) {
		uint32_t row = rows->of[l], nth0;

		if (row == NO_ROW)
			continue;
		if (!is_common(f, &rows->all[row])) {
			nth0 = rows->all[row].nth0;
			rows->of[l] = NO_ROW;
			if (!is_common(f, &rows->all[nth0]))
				continue;
			row = rows->all[nth0].surplus;
			if (row == NO_ROW && get_row(rows, rows->all[nth0].stage,
						     rows->all[nth0].kind, SURPLUS, &row) != CT_OK)
				return CT_NOMEM;
			rows->all[nth0].surplus = rows->of[l] = row;
		}
		rows->all[row].n++;
	}
	return CT_OK;
}

/* How many launches of the same step its rank had before. */
static uint32_t index_in_step(const struct positions_search *f, uint32_t launch)
{
	uint32_t first = f->s->slot_first[f->s->launches[launch].slot], at = launch;

	while (at > first && f->out->step_of[at - 1] == f->out->step_of[launch])
		at--;
	return launch - at;
}

CT_SORT_POINTERS_BY(by_key, struct position_row, CT_UP(key))
CT_SORT_BY(by_stage, struct ct_position, CT_UP(stage) ?: CT_UP(index_in_step) ?: CT_UP(first))

/* Launches that are in a step, by step. Counted two entries ahead, as in instance_log.c. 0 or
 * CT_NOMEM.
 */
static int list_by_step(const struct positions_search *f, uint32_t **list, uint32_t *n)
{
	const uint32_t *step_of = f->out->step_of;
	uint32_t *first = calloc((size_t)f->out->n_steps + 3, sizeof(*first)), *next = first + 1;

	*list = malloc(((size_t)f->s->n_launches + 1) * sizeof(**list));
	if (!*list || !first) {
		free(first);
		return CT_NOMEM;
	}
	for (uint32_t l = 0; l < f->s->n_launches; l++) {
		if (step_of[l] != CT_NO_STEP)
			next[step_of[l] + 1]++;
	}
	for (uint32_t step = 1; step <= f->out->n_steps + 1; step++)
		next[step] += next[step - 1];
	*n = next[f->out->n_steps + 1];
	for (uint32_t l = 0; l < f->s->n_launches; l++) {
		if (step_of[l] != CT_NO_STEP)
			(*list)[next[step_of[l]]++] = l;
	}
	free(first);
	return CT_OK;
}

static int group_up(const struct positions_search *f, struct position_rows *rows)
{
	struct ct_positions *p = f->out;
	size_t n_rows = rows->numbers.n;
	struct position_row **sorted = malloc((n_rows + 1) * sizeof(struct position_row *));
	uint32_t *list = NULL, n = 0, first = 0;
	int st = CT_NOMEM;

	p->all = calloc(n_rows + 1, sizeof(*p->all));
	if (sorted && p->all)
		st = list_by_step(f, &list, &n);
	if (st != CT_OK)
		goto out;
	for (size_t r = 0; r < n_rows; r++)
		sorted[r] = &rows->all[r];
	ct_sort(sorted, n_rows, sizeof(*sorted), by_key);
	for (size_t r = 0; r < n_rows; r++) {
		sorted[r]->first = first;
		first += sorted[r]->n;
		sorted[r]->times = 0;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t r = rows->of[list[k]];

		if (r != NO_ROW)
			p->order[rows->all[r].first + rows->all[r].times++] = list[k];
	}
	for (size_t r = 0; r < n_rows; r++) {
		const struct position_row *row = sorted[r];

		if (row->n)
			p->all[p->n++] = (struct ct_position){ .stage = row->stage,
							       .first = row->first,
							       .n = row->n,
							       .index_in_step = index_in_step(
								       f, p->order[row->first]),
							       .is_surplus = row->is_surplus };
	}
	qsort(p->all, p->n, sizeof(*p->all), by_stage);
	memset(p->position_of, 0xff, f->s->n_launches * sizeof(*p->position_of));
	for (uint32_t k = 0; k < p->n; k++) {
		for (uint32_t i = p->all[k].first; i < p->all[k].first + p->all[k].n; i++)
			p->position_of[p->order[i]] = k;
	}
out:
	free(sorted);
	free(list);
	return st;
}

static int find_positions(const struct positions_search *f)
{
	struct position_rows rows = { 0 };
	int st;

	rows.of = malloc(((size_t)f->s->n_launches + 1) * sizeof(*rows.of));
	st = rows.of ? number(f, &rows) : CT_NOMEM;
	st = st ?: choose(f, &rows);
	st = st ?: group_up(f, &rows);
	ct_table_fini(&rows.kinds);
	ct_table_fini(&rows.numbers);
	free(rows.all);
	free(rows.of);
	free(rows.latest);
	return st;
}

int ct_positions_find(struct ct_positions *p, const struct ct_schedule *s,
		      const struct ct_stages *stages, const struct ct_steps *steps)
{
	size_t launches = (size_t)s->n_launches + 1;
	const struct positions_search f = { .s = s, .stages = stages, .out = p };
	int st = CT_NOMEM;

	*p = (struct ct_positions){ .n_steps = steps->n, .n_run = steps->n };
	p->step_of = malloc(launches * sizeof(*p->step_of));
	p->position_of = malloc(launches * sizeof(*p->position_of));
	p->order = malloc(launches * sizeof(*p->order));
	if (p->step_of && p->position_of && p->order)
		st = ct_positions_cut(p, s, stages, steps);
	return st == CT_OK ? find_positions(&f) : st;
}

uint32_t ct_occurrence_end(const struct ct_positions *p, const struct ct_position *position,
			   uint32_t from)
{
	uint32_t end = from + 1;

	while (end < position->first + position->n &&
	       p->step_of[p->order[end]] == p->step_of[p->order[from]])
		end++;
	return end;
}
