/* SPDX-License-Identifier: Apache-2.0 */
/* positions.h — in which step each launch is, and which launches of peers are the same one there.
 *
 * A step ends, on each rank, with the widest operation that the ranks of its stage call once a
 * step. A position is a kind of launch and how often its rank launched that kind before in the
 * step: what one rank calls more than the others shifts nothing but its own surplus. A kind that
 * fewer than half of the peers have in a step is not a position; what comes more often than for
 * half of them shares one. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_POSITIONS_H
#define CT_ANALYZER_LATENESS_REPLAY_POSITIONS_H

#include "analyzer/lateness/replay/schedule.h"
#include "analyzer/lateness/replay/stages.h"
#include "analyzer/steps/steps.h"

#define CT_NO_POSITION UINT32_MAX

struct ct_position {
	uint32_t stage;
	uint32_t first,
		n; /* its launches: order[first] .. order[first + n - 1], by step, then slot */
	uint32_t index_in_step; /* how many launches of the step come before it, the first time */
	int is_surplus;		/* all that came more often than is common: several to a step */
};

struct ct_positions {
	uint32_t *step_of; /* by launch: 1 .. n_steps; CT_NO_STEP: in no step that is on record as a
			      whole */
	uint32_t *position_of; /* by launch; CT_NO_POSITION: none */
	uint32_t *order;
	struct ct_position *all; /* by stage, then in the order of a step */
	uint32_t n;
	uint32_t n_steps;
	uint32_t n_run;	      /* steps of all of the run, also where it is not kept */
	uint8_t *is_complete; /* by step: all ranks have it */
	uint32_t n_complete;
};

/* 0 or CT_NOMEM; ct_positions_fini() in any case. Without steps there are no positions. */
int ct_positions_find(struct ct_positions *positions, const struct ct_schedule *schedule,
		      const struct ct_stages *stages, const struct ct_steps *steps);
/* Its first part: which launches are in which step that most ranks have, and which these are
 * (step_ends.c). 0 or CT_NOMEM. */
int ct_positions_cut(struct ct_positions *positions, const struct ct_schedule *schedule,
		     const struct ct_stages *stages, const struct ct_steps *steps);
void ct_positions_fini(struct ct_positions *positions);

/* Of an occurrence, the launches of one position in one step: the end of those that begin with
 * order[from]. */
uint32_t ct_occurrence_end(const struct ct_positions *positions, const struct ct_position *position,
			   uint32_t from);

#endif
