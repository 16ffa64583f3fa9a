/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/slow_rows_private.h"
#include "trace/status.h"

static double ns_a_step(const struct ct_judging *j)
{
	return j->e->played / j->e->n_steps;
}

/* Median of the stage's ranks in a step, all but `but` (UINT32_MAX: all); 0: there are none. */
static double stage_median(struct ct_judging *j, uint32_t stage, uint32_t but, uint32_t k)
{
	const struct ct_engine *e = j->e;
	size_t n = 0;

	for (uint32_t i = e->stages.first[stage]; i < e->stages.first[stage + 1]; i++) {
		double v = e->own_ns[(size_t)e->stages.slots[i] * e->n_steps + k];

		if (e->stages.slots[i] != but && !isnan(v))
			j->values[n++] = v;
	}
	return n ? ct_median(j->values, n) : 0;
}

/* What the slot computes in a step beyond its stage; NAN: not known. Of so few ranks one moves the
 * median. */
static double beyond_stage(struct ct_judging *j, uint32_t slot, uint32_t k)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t stage = g->stage_of[slot];
	double own = j->e->own_ns[(size_t)slot * j->e->n_steps + k];

	if (ct_stage_size(g, stage) <= CT_LEAST_PEERS)
		return own - stage_median(j, stage, slot, k);
	return own - j->stage_steps[(size_t)stage * j->e->n_steps + k];
}

/* From where on a step of these is one that stands out; *usual: the median. */
static double limit_of(struct ct_judging *j, uint32_t slot, uint32_t first, uint32_t last,
		       double *usual)
{
	size_t n = 0;

	for (uint32_t k = first; k <= last; k++) {
		double x = beyond_stage(j, slot, k);

		if (!isnan(x))
			j->of_steps[n++] = x;
	}
	*usual = ct_median(j->of_steps, n);
	for (size_t k = 0; k < n; k++)
		j->of_steps[k] = fabs(j->of_steps[k] - *usual);
	return *usual + fmax(CT_STEADY_T * CT_SD_OF_MAD * ct_median(j->of_steps, n),
			     CT_LEAST_GAIN * ns_a_step(j));
}

int ct_is_single(struct ct_judging *j, uint32_t slot, uint32_t step)
{
	return step < j->e->n_steps && beyond_stage(j, slot, step) > j->singles[slot].limit;
}

static void find_of(struct ct_judging *j, uint32_t slot)
{
	struct ct_singles *s = &j->singles[slot];

	s->limit = limit_of(j, slot, 0, j->e->n_steps - 1, &s->usual);
	for (uint32_t k = 0; k < j->e->n_steps; k++) {
		double over = beyond_stage(j, slot, k) - s->usual;

		if (!ct_is_single(j, slot, k))
			continue;
		s->sum += over;
		j->all_singles.sum += over;
		j->all_singles.squares += over * over;
	}
}

int ct_single_steps_find(struct ct_judging *j)
{
	const struct ct_engine *e = j->e;

	j->stage_steps = malloc(((size_t)e->stages.n * e->n_steps + 1) * sizeof(*j->stage_steps));
	j->of_steps = malloc(((size_t)e->n_steps + 1) * sizeof(*j->of_steps));
	j->singles = calloc((size_t)e->schedule.n_slots + 1, sizeof(*j->singles));
	if (!j->stage_steps || !j->of_steps || !j->singles)
		return CT_NOMEM;
	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		for (uint32_t k = 0; k < e->n_steps; k++)
			j->stage_steps[(size_t)stage * e->n_steps + k] = stage_median(
				j, stage, UINT32_MAX, k);
	}
	for (uint32_t i = 0; i < e->stages.first[e->stages.n]; i++)
		find_of(j, e->stages.slots[i]);
	return CT_OK;
}

void ct_single_steps_fini(struct ct_judging *j)
{
	free(j->stage_steps);
	free(j->of_steps);
	free(j->singles);
}

double ct_held_by_singles(struct ct_judging *j, uint32_t slot, uint32_t first, uint32_t last)
{
	double usual, limit = limit_of(j, slot, first, last, &usual), sum = 0, n = 0;

	for (uint32_t k = first; k <= last; k++) {
		double x = beyond_stage(j, slot, k);

		if (isnan(x))
			continue;
		n++;
		sum += x > limit ? x - usual : 0;
	}
	return n > 0 ? sum / n : 0;
}

/* Are they in most parts of the run, or was it a bad moment? */
static int are_spread(struct ct_judging *j, uint32_t slot)
{
	const struct ct_singles *s = &j->singles[slot];
	double parts[CT_LEAST_STEPS] = { 0 };

	for (uint32_t k = 0; k < j->e->n_steps; k++) {
		if (ct_is_single(j, slot, k))
			parts[(uint64_t)k * CT_LEAST_STEPS / j->e->n_steps] += beyond_stage(j, slot,
											    k) -
									       s->usual;
	}
	return ct_median(parts, CT_LEAST_STEPS) >= CT_MOST * s->sum / CT_LEAST_STEPS;
}

double ct_has_own_singles(struct ct_judging *j, uint32_t slot)
{
	double sum = j->singles[slot].sum, all = j->all_singles.sum, n, mine;
	uint32_t ranks = j->e->stages.first[j->e->stages.n];

	if (!(sum > CT_LEAST_GAIN * j->e->played) || ranks < 2)
		return 0;
	/* as many as if they all were as long */
	n = all * all / j->all_singles.squares;
	mine = n * sum / all;
	if (!ct_is_beyond_chance((uint64_t)lround(mine), (uint64_t)lround(n), ranks) ||
	    !are_spread(j, slot))
		return 0;
	return mine;
}
