/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/unevenness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* Each step of the rank takes as long as those of its stage on average: all its gaps are scaled. */
static void even_steps(struct ct_engine *e, uint32_t slot, double mean)
{
	const struct ct_schedule *s = &e->schedule;
	const double *own_ns = &e->own_ns[(size_t)slot * e->n_steps];
	uint32_t end;

	if (!(mean > 0))
		return;
	for (uint32_t first = s->slot_first[slot]; first < s->slot_first[slot + 1]; first = end) {
		const uint32_t step = e->positions.step_of[first], at = ct_engine_step(e, step);
		const double own = at < e->n_steps ? own_ns[at] : 0;

		for (end = first; end < s->slot_first[slot + 1]; end++) {
			if (e->positions.step_of[end] != step)
				break;
			if (own > 0 && s->launches[end].from != CT_NO_LAUNCH)
				e->other_ns[end] = (int64_t)((double)s->gap_ns[end] * mean / own);
		}
	}
}

/* Each gap becomes the mean of its position over the stage; what has none is in that of the next
 * one. */
static void even_gaps(struct ct_engine *e, uint32_t slot, double mean)
{
	const struct ct_schedule *s = &e->schedule;

	(void)mean;
	for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1]; l++) {
		uint32_t p = e->positions.position_of[l];

		if (s->launches[l].from == CT_NO_LAUNCH)
			continue;
		if (p != CT_NO_POSITION && e->position_ns[p] > 0)
			e->other_ns[l] = (int64_t)e->position_ns[p];
		else if (p == CT_NO_POSITION && e->is_carried[l])
			e->other_ns[l] = 0;
	}
}

/* Mean over the stage's ranks of what they compute in one of the steps that count; NAN: not known
 * of all. */
static double step_mean(const struct ct_engine *e, uint32_t stage, uint32_t step)
{
	double sum = 0;

	for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1]; k++)
		sum += e->own_ns[(size_t)e->stages.slots[k] * e->n_steps + step];
	return sum / ct_stage_size(&e->stages, stage);
}

/* Of how ranks differ from the mean of their stage (variance over steps and ranks), what their
 * means over the run hold, beyond chance. */
static double steady_share(const struct ct_engine *e)
{
	double all = 0, steady = 0, n_all = 0, n_ranks = 0;

	for (uint32_t stage = 0; stage < e->stages.n; stage++) {
		for (uint32_t k = e->stages.first[stage]; k < e->stages.first[stage + 1]; k++) {
			const double *own = &e->own_ns[(size_t)e->stages.slots[k] * e->n_steps];
			double sum = 0, n = 0;

			for (uint32_t step = 0; step < e->n_steps; step++) {
				double excess = own[step] - step_mean(e, stage, step);

				if (isnan(excess))
					continue;
				sum += excess;
				all += excess * excess;
				n++;
			}
			n_all += n;
			n_ranks += n > 0;
			steady += n > 0 ? sum * sum / n : 0;
		}
	}
	/* of variance without any order, means over n steps hold 1 / n */
	return all > 0 ? fmax(0, (steady / all - n_ranks / n_all) / (1 - n_ranks / n_all)) : 0;
}

/* Of what all steps gain together, by how much they differ. */
static double error_of(const struct ct_engine *e, const double *each)
{
	double sum = 0, squares = 0;

	for (uint32_t k = 0; k < e->n_steps; k++) {
		double gain = e->played_ns[k] - each[k];

		sum += gain;
		squares += gain * gain;
	}
	return CT_SEPARATE_ERRORS * sqrt(fmax(0, squares - sum * sum / e->n_steps));
}

/* How long ranks waited for others in launches, beyond what the slowest operation in each took:
 * mean over ranks. Launches began and ended as played last; with `is_recorded` as they did. moved:
 * space for one of each launch. */
static double mean_wait(const struct ct_engine *e, int is_recorded, int64_t *moved)
{
	const struct ct_schedule *s = &e->schedule;
	double sum = 0;

	memset(moved, 0xff, s->n_launches * sizeof(*moved));
	for (uint32_t m = 0; m < s->n_exchanges; m++) {
		const struct ct_schedule_exchange *exchange = &s->exchanges[m];

		for (uint32_t p = 0; p < exchange->n; p++) {
			const struct ct_schedule_part *part = &s->parts[exchange->first_part + p];
			int64_t took = exchange->transfer_ns + part->own_ns;

			if (part->end == CT_ENDS_WITH_ALL && took > moved[part->ends])
				moved[part->ends] = took;
		}
	}
	for (uint32_t l = 0; l < s->n_launches; l++) {
		int64_t span = is_recorded ? s->launches[l].span_ns
					   : e->replay.end_ns[l] - e->replay.start_ns[l];

		if (e->positions.step_of[l] != CT_NO_STEP && moved[l] >= 0 && span > moved[l])
			sum += (double)(span - moved[l]);
	}
	return sum / e->stages.first[e->stages.n];
}

/* How long all steps take once `even` was applied to each rank. */
static double play_even(struct ct_engine *e,
			void (*even)(struct ct_engine *e, uint32_t slot, double mean), double *each)
{
	const struct ct_stages *stages = &e->stages;

	memcpy(e->other_ns, e->schedule.gap_ns, e->schedule.n_launches * sizeof(*e->other_ns));
	for (uint32_t stage = 0; stage < stages->n; stage++) {
		const double mean = ct_engine_stage_mean(e, stage);

		for (uint32_t k = stages->first[stage]; k < stages->first[stage + 1]; k++)
			even(e, stages->slots[k], mean);
	}
	return ct_engine_play(e, e->other_ns, NULL, each);
}

static void keep_shortest(const struct ct_engine *e, double played, const double *each,
			  struct ct_unevenness *out)
{
	if (e->played - played <= out->ns)
		return;
	out->ns = e->played - played;
	out->err_ns = error_of(e, each);
	out->left_ns = mean_wait(e, 0, e->other_ns);
}

int ct_unevenness_find(struct ct_engine *e, struct ct_unevenness *out)
{
	double *each = malloc(((size_t)e->n_steps + 1) * sizeof(*each));

	if (!each)
		return CT_NOMEM;
	keep_shortest(e, play_even(e, even_steps, each), each, out);
	keep_shortest(e, play_even(e, even_gaps, each), each, out);
	out->steady = steady_share(e);
	out->wait_ns = mean_wait(e, 1, e->other_ns);
	free(each);
	return CT_OK;
}
