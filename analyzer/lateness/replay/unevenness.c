/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/unevenness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "analyzer/lateness/replay/limits.h"
#include "trace/status.h"

/* All gaps of a step scaled so that it holds the mean of its stage. */
static int64_t of_mean_step(const struct ct_engine *e, uint32_t launch, double mean)
{
	const struct ct_schedule_launch *l = &e->schedule.launches[launch];
	uint32_t step = e->positions.step_of[launch];
	size_t at = CT_BISECT(i, 0, e->n_steps, e->steps[i] < step);
	double own;

	if (step == CT_NO_STEP || at == e->n_steps || e->steps[at] != step || mean <= 0)
		return e->gap_ns[launch];
	own = e->own_ns[(size_t)l->slot * e->n_steps + at];
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

/* How long ranks waited for others in launches, beyond what the slowest operation in each took: mean over ranks. Launches began and ended
 * as played last; with `is_recorded` as they did. moved: room for one of each launch. */
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

/* What the run would gain if all ranks of a stage computed alike: step by step, or gap by gap, whichever is more. 0 or CT_NOMEM. */
int ct_unevenness_find(struct ct_engine *e, struct ct_unevenness *out)
{
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
				uint32_t slot = e->stages.slots[k];

				for (uint32_t l = s->slot_first[slot]; l < s->slot_first[slot + 1];
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
		out->err_ns = error_of(e, each);
		out->left_ns = mean_wait(e, 0, e->other_ns);
	}
	out->ns = e->played - least;
	out->wait_ns = mean_wait(e, 1, e->other_ns);
	free(by_position);
	free(each);
	return CT_OK;
}
