/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank is slow at equal work. Ranks may have more to do in one step than in the next (uneven
 * microbatches), which hides how long they take for it. So a second look takes off what the
 * launches of a step take longer on their stage's ranks than those of a usual step. That is for
 * ranks that have as much to do as their stage's on average, within chance: launches of their own
 * split their gaps, and are not work. A rank that stands out then is hot if it also computed
 * longer, by more than chance gives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/slow_rows_private.h"
#include "trace/status.h"

/* By block: what the launches of one of its steps take on the stage's ranks, where it is known what
 * the slot computed. */
static void find_work(const struct ct_judging *j, uint32_t slot, double *work)
{
	const struct ct_engine *e = j->e;
	const double *own = &e->own_ns[(size_t)slot * e->n_steps];
	uint32_t step = CT_NO_STEP, k = e->n_steps, block = 0;

	for (uint32_t b = 0; b < j->n_blocks; b++)
		work[b] = 0;
	for (uint32_t l = e->schedule.slot_first[slot]; l < e->schedule.slot_first[slot + 1]; l++) {
		uint32_t p = e->positions.position_of[l];

		if (e->positions.step_of[l] != step)
			k = ct_engine_step(e, step = e->positions.step_of[l]);
		if (k == e->n_steps || p == CT_NO_POSITION || isnan(own[k]))
			continue;
		while (k >= j->block_first[block + 1])
			block++;
		work[block] += e->position_ns[p];
	}
	for (uint32_t b = 0; b < j->n_blocks; b++) {
		uint32_t known = 0;

		for (uint32_t i = j->block_first[b]; i < j->block_first[b + 1]; i++)
			known += !isnan(own[i]);
		work[b] = known ? work[b] / known : NAN;
	}
}

/* Mean over blocks, and its standard error. */
static double mean_work(const double *work, uint32_t n, double *err)
{
	double mean = ct_mean_of_blocks(work, n), squares = 0, known = 0;

	for (uint32_t b = 0; b < n; b++) {
		if (isnan(work[b]))
			continue;
		squares += (work[b] - mean) * (work[b] - mean);
		known++;
	}
	*err = known > 1 ? sqrt(squares / (known - 1) / known) : INFINITY;
	return mean;
}

/* Takes off each block of the stage what it has more work than is usual; of ranks whose mean is
 * another one, than that. work: a row of blocks for each rank of the stage. */
static void even_out(struct ct_judging *j, uint32_t stage, double *work, uint8_t *is_usual)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t n = ct_stage_size(g, stage), known = 0;
	double usual, err;

	for (uint32_t k = 0; k < n; k++) {
		find_work(j, g->slots[g->first[stage] + k], &work[(size_t)k * j->n_blocks]);
		usual = ct_mean_of_blocks(&work[(size_t)k * j->n_blocks], j->n_blocks);
		if (!isnan(usual))
			j->values[known++] = usual;
	}
	usual = ct_median(j->values, known);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t slot = g->slots[g->first[stage] + k];
		const double *of_rank = &work[(size_t)k * j->n_blocks];
		double mean = mean_work(of_rank, j->n_blocks, &err);

		is_usual[slot] = fabs(mean - usual) <= CT_SEPARATE_ERRORS * err;
		for (uint32_t b = 0; b < j->n_blocks; b++)
			j->blocks[(size_t)slot * j->n_blocks + b] -= of_rank[b] - (is_usual[slot]
											   ? usual
											   : mean);
	}
}

/* Of a rank that is hot at equal work: did it compute longer in those blocks? */
static int computed_longer(struct ct_judging *j, uint32_t slot)
{
	struct ct_standing *s = &j->slots[slot];
	struct ct_stretch out = { .first = j->n_blocks };

	if (!s->is_hot || s->in_single_steps)
		return 0;
	for (uint32_t b = 0; b < j->n_blocks; b++) {
		if (j->block_first[b] < s->first || j->block_first[b] > s->last)
			continue;
		out.first = b < out.first ? b : out.first;
		out.last = b;
	}
	ct_measure_stretch(j, slot, &out);
	if (out.t < CT_SEPARATE_ERRORS || !ct_is_worth_a_replay(j, &out))
		return 0;
	out.mean = fmin(out.mean, s->excess);
	out.t = s->t;
	ct_stand(j, slot, &out);
	return 1;
}

int ct_judge_at_equal_work(struct ct_judging *j)
{
	uint32_t n_slots = j->e->schedule.n_slots;
	size_t n = (size_t)n_slots * j->n_blocks + 1;
	double *own = malloc(n * sizeof(*own)), *work = calloc(n, sizeof(*work));
	struct ct_standing *first = malloc(((size_t)n_slots + 1) * sizeof(*first));
	uint8_t *is_usual = calloc((size_t)n_slots + 1, 1);
	int st = own && work && first && is_usual ? CT_OK : CT_NOMEM;

	if (st == CT_OK) {
		memcpy(own, j->blocks, n * sizeof(*own));
		memcpy(first, j->slots, n_slots * sizeof(*first));
		for (uint32_t stage = 0; stage < j->e->stages.n; stage++)
			even_out(j, stage, work, is_usual);
		ct_compare_blocks(j);
		for (uint32_t slot = 0; slot < n_slots; slot++) {
			if (!first[slot].is_hot && is_usual[slot])
				ct_judge_slot(j, slot);
		}
		memcpy(j->blocks, own, n * sizeof(*own));
		ct_compare_blocks(j);
		for (uint32_t slot = 0; slot < n_slots; slot++) {
			if (!first[slot].is_hot && !computed_longer(j, slot))
				j->slots[slot] = first[slot];
		}
	}
	free(own);
	free(work);
	free(first);
	free(is_usual);
	return st;
}
