/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "analyzer/lateness/replay/limits.h"
#include "analyzer/lateness/replay/slow_rows_private.h"

static void cut_blocks(struct ct_judging *j)
{
	uint32_t n = j->e->n_steps / CT_STEPS_A_BLOCK;

	n = n < CT_LEAST_STEPS ? CT_LEAST_STEPS : n > CT_MOST_BLOCKS ? CT_MOST_BLOCKS : n;
	j->n_blocks = n < j->e->n_steps ? n : j->e->n_steps;
	for (uint32_t b = 0; b <= j->n_blocks; b++)
		j->block_first[b] = (uint32_t)((uint64_t)b * j->e->n_steps / j->n_blocks);
}

double ct_mean_of_blocks(const double *values, uint32_t n)
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

static void fill_blocks(struct ct_judging *j)
{
	const struct ct_engine *e = j->e;

	for (uint32_t slot = 0; slot < e->schedule.n_slots; slot++) {
		const double *own = &e->own_ns[(size_t)slot * e->n_steps];

		for (uint32_t b = 0; b < j->n_blocks; b++)
			j->blocks[(size_t)slot * j->n_blocks + b] = ct_mean_of_blocks(
				own + j->block_first[b], j->block_first[b + 1] - j->block_first[b]);
	}
}

static void find_medians(struct ct_judging *j)
{
	const struct ct_engine *e = j->e;

	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		for (uint32_t b = 0; b < j->n_blocks; b++) {
			size_t n = 0;

			for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1];
			     k++) {
				double v = j->blocks[(size_t)e->stages.slots[k] * j->n_blocks + b];

				if (!isnan(v))
					j->values[n++] = v;
			}
			j->stage_blocks[(size_t)stage * j->n_blocks + b] = ct_median(j->values, n);
		}
	}
}

/* ---- which ranks stand out ---- */

/* Standard deviation of blocks by how much neighbours differ (von Neumann), but for the two that
 * differ most: what becomes slow, or fast again, does not add to it. room: n. */
double ct_noise_of_blocks(const double *x, uint32_t n, double *room)
{
	double sum = 0;
	uint32_t pairs = 0;

	for (uint32_t b = 1; b < n; b++) {
		if (!isnan(x[b]) && !isnan(x[b - 1]))
			room[pairs++] = (x[b] - x[b - 1]) * (x[b] - x[b - 1]);
	}
	if (pairs < CT_CHANGES + 2)
		return INFINITY;
	ct_sort(room, pairs, sizeof(*room), ct_by_double);
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

/* Most blocks from `first` to `last` hold about as much as their mean: a stall or two are not a
 * steady excess. room: n_blocks. */
static int is_steady(const struct ct_judging *j, uint32_t first, uint32_t last, double mean)
{
	size_t n = 0;

	for (uint32_t b = first; b <= last; b++) {
		if (!isnan(j->excess[b]))
			j->sorted[n++] = j->excess[b];
	}
	return n && ct_median(j->sorted, n) >= CT_MOST * mean;
}

/* Where the excess (by block) stands out most: all of the run, or a part of it. */
struct ct_stretch ct_stands_out(const struct ct_judging *j, double noise)
{
	uint32_t n = j->n_blocks, least = (uint32_t)ceil(CT_LEAST_WINDOW * n), known_all = 0;
	struct ct_stretch all = { ct_mean_of_blocks(j->excess, n), 0, 0, n - 1 }, best = all;
	double floor = noise > 0 ? noise : 1;

	for (uint32_t b = 0; b < n; b++)
		known_all += !isnan(j->excess[b]);
	all.t = best.t = all.mean * sqrt(known_all) / floor;
	if (best.t < least_t(n, 0) || !is_steady(j, 0, n - 1, all.mean))
		best.t = 0;
	for (uint32_t from = 0; from < n && least > CT_CHANGES; from++) {
		double sum = 0, known = 0;

		for (uint32_t to = from; to < n; to++) {
			double t;

			sum += isnan(j->excess[to]) ? 0 : j->excess[to];
			known += !isnan(j->excess[to]);
			t = known > 0 ? sum / sqrt(known) / floor : 0;
			if (to - from + 1 < least || t < least_t(n, 1) ||
			    t <= (1 + CT_HARDLY_ANY) * best.t ||
			    !is_steady(j, from, to, sum / known))
				continue;
			best = (struct ct_stretch){ sum / known, t, from, to };
		}
	}
	if (best.t <= 0)
		all.t = all.t < least_t(n, 0) ? all.t : 0;
	return best.t > 0 ? best : all;
}

/* Of the slot's stage's others, and of other stages where these are few, at a block. */
static double reference(struct ct_judging *j, uint32_t slot, uint32_t block, int ask_others)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t stage = g->stage_of[slot];
	size_t n = 0;

	/* of so many the one itself does not move the median */
	if (ct_stage_size(g, stage) > CT_MANY_PEERS)
		return j->stage_blocks[(size_t)stage * j->n_blocks + block];
	for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
		double v = j->blocks[(size_t)g->slots[k] * j->n_blocks + block];

		if (g->slots[k] != slot && !isnan(v))
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

int ct_is_worth_a_replay(const struct ct_judging *j, const struct ct_stretch *s)
{
	double share = (double)(s->last - s->first + 1) / j->n_blocks;

	/* of the run, as of a step all through it */
	return s->mean * share > CT_LEAST_GAIN * step_ns(j->e);
}

int ct_stands_out_clearly(const struct ct_judging *j, const struct ct_stretch *s)
{
	return ct_is_worth_a_replay(j, s) &&
	       s->t >= least_t(j->n_blocks, s->last - s->first + 1 < j->n_blocks);
}

/* No luckier than the median of its stage; and that where too few of its own blocks are known. */
static double noise_among(struct ct_judging *j, uint32_t slot)
{
	double usual = j->stage_noises[j->e->stages.stage_of[slot]];
	uint32_t known = 0;

	for (uint32_t b = 0; b < j->n_blocks; b++)
		known += !isnan(j->excess[b]);
	if (isnan(usual))
		return j->noises[slot];
	return !isfinite(j->noises[slot]) && known ? usual : fmax(usual, j->noises[slot]);
}

/* Its blocks beyond those of its peers. */
static void find_excess(struct ct_judging *j, uint32_t slot)
{
	for (uint32_t b = 0; b < j->n_blocks; b++)
		j->excess[b] = j->blocks[(size_t)slot * j->n_blocks + b] -
			       reference(j, slot, b, j->slots[slot].asked_others);
}

/* Steady apart from single steps? */
static int is_steadily_hot(struct ct_judging *j, uint32_t slot, const struct ct_stretch *out)
{
	struct ct_stretch rest = *out;

	if (!ct_stands_out_clearly(j, out))
		return 0;
	rest.mean -= ct_held_by_singles(j, slot, j->block_first[out->first],
					j->block_first[out->last + 1] - 1);
	return ct_stands_out_clearly(j, &rest);
}

void ct_measure_stretch(struct ct_judging *j, uint32_t slot, struct ct_stretch *s)
{
	double known = 0;

	find_excess(j, slot);
	for (uint32_t b = s->first; b <= s->last; b++)
		known += !isnan(j->excess[b]);
	s->mean = ct_mean_of_blocks(&j->excess[s->first], s->last - s->first + 1);
	s->t = s->mean * sqrt(known) / noise_among(j, slot);
}

void ct_stand(struct ct_judging *j, uint32_t slot, const struct ct_stretch *out)
{
	struct ct_standing *s = &j->slots[slot];
	double own = ct_mean_of_blocks(&j->blocks[(size_t)slot * j->n_blocks + out->first],
				       out->last - out->first + 1);

	s->first = j->block_first[out->first];
	s->last = j->block_first[out->last + 1] - 1;
	s->excess = out->mean;
	s->t = out->t;
	s->ratio = own > 0 ? (own - out->mean) / own : 1;
}

void ct_judge_slot(struct ct_judging *j, uint32_t slot)
{
	struct ct_standing *s = &j->slots[slot];
	struct ct_stretch out;

	find_excess(j, slot);
	out = ct_stands_out(j, noise_among(j, slot));
	s->is_hot = is_steadily_hot(j, slot, &out);
	s->in_single_steps = 0;
	if (!s->is_hot) {
		double singles = ct_has_own_singles(j, slot);

		s->is_hot = s->in_single_steps = singles > 0;
		if (s->is_hot)
			out = (struct ct_stretch){ j->singles[slot].sum / j->e->n_steps,
						   sqrt(singles), 0, j->n_blocks - 1 };
	}
	ct_stand(j, slot, &out);
}

/* Medians of what is known of the ranks of each stage. */
static void find_usual_noises(struct ct_judging *j)
{
	const struct ct_stages *g = &j->e->stages;

	for (uint32_t stage = 0; stage < g->n; stage++) {
		size_t n = 0;

		for (uint32_t k = g->first[stage]; k < g->first[stage + 1]; k++) {
			if (isfinite(j->noises[g->slots[k]]))
				j->values[n++] = j->noises[g->slots[k]];
		}
		j->stage_noises[stage] = n ? ct_median(j->values, n) : NAN;
	}
}

void ct_compare_blocks(struct ct_judging *j)
{
	find_medians(j);
	for (uint32_t slot = 0; slot < j->e->schedule.n_slots; slot++) {
		find_excess(j, slot);
		j->noises[slot] = ct_noise_of_blocks(j->excess, j->n_blocks, j->sorted);
	}
	find_usual_noises(j);
}

int ct_judge_slots(struct ct_judging *j)
{
	const struct ct_stages *g = &j->e->stages;
	uint32_t n_slots = j->e->schedule.n_slots;

	cut_blocks(j);
	fill_blocks(j);
	for (uint32_t slot = 0; slot < n_slots; slot++)
		j->slots[slot].asked_others = ct_stage_size(g, g->stage_of[slot]) <= CT_LEAST_PEERS;
	ct_compare_blocks(j);
	for (uint32_t slot = 0; slot < n_slots; slot++) {
		ct_judge_slot(j, slot);
		j->out->is_like_peers[slot] = j->slots[slot].excess + 2 * j->noises[slot] <
					      CT_LEAST_GAIN * step_ns(j->e);
	}
	return ct_judge_at_equal_work(j);
}
