/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/slow_rows_private.h"
#include "trace/status.h"

void ct_gap_levels_find(struct ct_judging *j, uint32_t first, uint32_t last)
{
	const struct ct_engine *e = j->e;
	const struct ct_schedule *s = &e->schedule;
	size_t n = (size_t)e->positions.n * e->stages.most;

	memset(j->level_ns, 0, n * sizeof(*j->level_ns));
	memset(j->times, 0, n * sizeof(*j->times));
	for (uint32_t slot = 0; slot < s->n_slots; slot++) {
		double carried = 0;

		for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1]; l++) {
			uint32_t p = e->positions.position_of[l], step = e->positions.step_of[l];
			size_t at = (size_t)p * e->stages.most + e->stages.worker_of[slot];

			carried += s->launches[l].from == CT_NO_LAUNCH
					   ? 0
					   : (double)e->schedule.gap_ns[l];
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
static double peers_level(struct ct_judging *j, uint32_t stage, uint32_t position)
{
	const struct ct_stages *g = &j->e->stages;
	const double *level = &j->level_ns[(size_t)position * g->most];
	size_t n = 0;

	for (int all = 0; all < 2 && !n; all++) {
		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			if (level[g->worker_of[g->slots[k]]] > 0 &&
			    (all || !j->slots[g->slots[k]].is_hot))
				j->values[n++] = level[g->worker_of[g->slots[k]]];
		}
	}
	return ct_median(j->values, n);
}

void ct_gap_levels_of_peers(struct ct_judging *j, uint32_t stage, double *peers)
{
	for (uint32_t p = 0; p < j->e->positions.n; p++)
		peers[p] = j->e->positions.all[p].stage == stage ? peers_level(j, stage, p) : 0;
}

static double stage_ratio(struct ct_judging *j, const struct ct_slow_row *row)
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

/* All gaps of a slot, alike. */
static void scale_all(struct ct_engine *e, const struct ct_slow_row *row, uint32_t slot,
		      double ratio)
{
	for (uint32_t l = e->schedule.slot_first[slot]; l < e->schedule.slot_first[slot + 1]; l++)
		scale_one(e, row, l, e->positions.step_of[l], ratio);
}

/* Each to the level of peers, by position; what has none goes with the next one that has. */
static void scale_to(struct ct_judging *j, const struct ct_slow_row *row, uint32_t slot,
		     const double *peers)
{
	struct ct_engine *e = j->e;
	uint32_t since = e->schedule.slot_first[slot];

	for (uint32_t l = since; l < e->schedule.slot_first[slot + 1]; l++) {
		uint32_t p = e->positions.position_of[l];
		double own;

		if (p == CT_NO_POSITION)
			continue;
		own = j->level_ns[(size_t)p * e->stages.most + e->stages.worker_of[slot]];
		for (; since <= l; since++)
			scale_one(e, row, since, e->positions.step_of[l],
				  own > 0 && !isnan(peers[p]) ? peers[p] / own : 1);
	}
}

/* A rank that is late in single steps: in those, what is longer than peers usually have it. */
static void cut_peaks(struct ct_judging *j, const struct ct_slow_row *row, uint32_t slot,
		      const double *peers)
{
	struct ct_engine *e = j->e;
	uint32_t since = e->schedule.slot_first[slot], known = CT_NO_STEP;
	int is_peak = 0;
	double own = 0;

	for (uint32_t l = since; l < e->schedule.slot_first[slot + 1]; l++) {
		uint32_t p = e->positions.position_of[l], step = e->positions.step_of[l];

		own += (double)e->other_ns[l];
		if (p == CT_NO_POSITION)
			continue;
		if (step != known)
			is_peak = ct_is_single(j, slot, ct_engine_step(e, known = step));
		for (; since <= l; since++)
			scale_one(e, row, since, step,
				  is_peak && own > peers[p] ? peers[p] / own : 1);
		own = 0;
	}
}

/* Does it do anything that its peers do? */
static int has_positions(const struct ct_engine *e, uint32_t slot)
{
	for (uint32_t l = e->schedule.slot_first[slot]; l < e->schedule.slot_first[slot + 1]; l++) {
		if (e->positions.position_of[l] != CT_NO_POSITION)
			return 1;
	}
	return 0;
}

int ct_mend(struct ct_judging *j, const struct ct_slow_row *row)
{
	struct ct_engine *e = j->e;
	double *peers = NULL;
	uint32_t stage = UINT32_MAX;

	if (row->kind == CT_SLOW_STAGE) {
		double ratio = stage_ratio(j, row);

		for (uint32_t k = 0; k < row->n; k++)
			scale_all(e, row, row->slots[k], ratio);
		return CT_OK;
	}
	peers = malloc(((size_t)e->positions.n + 1) * sizeof(*peers));
	if (!peers)
		return CT_NOMEM;
	ct_gap_levels_find(j, row->first, row->last);
	for (uint32_t k = 0; k < row->n; k++) {
		uint32_t slot = row->slots[k];

		if (e->stages.stage_of[slot] != stage) {
			stage = e->stages.stage_of[slot];
			ct_gap_levels_of_peers(j, stage, peers);
		}
		if (j->slots[slot].in_single_steps && has_positions(e, slot))
			cut_peaks(j, row, slot, peers);
		else if ((j->slots[slot].asked_others && !j->trusts_few) || !has_positions(e, slot))
			scale_all(e, row, slot, j->slots[slot].ratio);
		else
			scale_to(j, row, slot, peers);
	}
	free(peers);
	return CT_OK;
}
