/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/replay/unevenness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
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

/* In operations, beyond their transfers: mean over ranks. */
static double mean_wait(const struct ct_engine *e)
{
	const struct ct_schedule *s = &e->schedule;
	double sum = 0;

	for (uint32_t m = 0; m < s->n_meetings; m++) {
		const struct ct_schedule_meeting *meeting = &s->meetings[m];

		for (uint32_t p = 0; p < meeting->n; p++) {
			const struct ct_schedule_part *part = &s->parts[meeting->first_part + p];
			const struct ct_schedule_launch *l = &s->launches[part->ends];
			int64_t moved = meeting->transfer_ns + part->own_ns;

			if (e->positions.step_of[part->ends] != CT_NO_STEP &&
			    part->end == CT_ENDS_WITH_ALL && l->span_ns > moved)
				sum += (double)(l->span_ns - moved);
		}
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
		out->steps = steps_gained(e, each);
	}
	out->ns = e->played - least;
	out->wait_ns = mean_wait(e);
	free(by_position);
	free(each);
	return CT_OK;
}
