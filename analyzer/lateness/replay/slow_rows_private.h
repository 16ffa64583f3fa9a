/* SPDX-License-Identifier: Apache-2.0 */
/* slow_rows_private.h — what standing.c, mending.c, slow_rows.c and smallest_set.c share: the
 * blocks of steps, and how each rank stands to those that do the same work. One thread. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_SLOW_ROWS_PRIVATE_H
#define CT_ANALYZER_LATENESS_REPLAY_SLOW_ROWS_PRIVATE_H

#include "analyzer/lateness/replay/slow_rows.h"

/* How a rank stands to those that do the same work. */
struct ct_standing {
	double excess, t; /* ns a step; in the steps below */
	double ratio;	  /* of what the reference computes to what it computes, there */
	uint32_t first, last;
	int asked_others; /* its stage has too few ranks: the other stages are the reference */
	int is_hot;
	int in_single_steps; /* it is so in some steps only, again and again */
};

/* Steps of a rank that stand out from what is usual of it, above a limit (ns beyond its stage). */
struct ct_singles {
	double usual, limit;
	double sum, squares; /* of the excess over the usual; the squares of all together only */
};

struct ct_stretch {
	double mean, t;
	uint32_t first, last; /* blocks */
};

struct ct_judging {
	struct ct_engine *e;
	const struct ct_model *model;
	struct ct_slow_rows *out;
	uint32_t n_blocks;
	uint32_t *block_first; /* of the engine's steps: block b is block_first[b] .. block_first[b
				  + 1] - 1 */
	double *blocks;	      /* by slot x block: mean of what it computes in a step; NAN unknown */
	double *stage_blocks; /* by stage x block: median of its ranks */
	double *excess;	      /* by block, of one rank or stage */
	double *sorted;	      /* space for one of each block */
	double *values;	      /* space for one of each slot and stage */
	double *noises;	      /* by slot: how much the blocks of its excess differ */
	double *stage_noises; /* by stage: median of these; NAN: none is known */
	struct ct_standing *slots; /* by slot */
	double *level_ns;	   /* like the engine's, of some steps */
	uint32_t *times;
	uint8_t *taken;	     /* by slot: it is in a row of several */
	int trusts_few;	     /* gaps go to the level of few peers one by one, not all alike: what
				computing waited for is not sure of these */
	double *stage_steps; /* by stage x n_steps: median of what its ranks compute */
	double *of_steps;    /* space for one of each step */
	struct ct_singles *singles;    /* by slot */
	struct ct_singles all_singles; /* their sums */
};

/* ---- standing.c: which ranks stand out ---- */

/* How each rank stands to its peers. 0 or CT_NOMEM. */
int ct_judge_slots(struct ct_judging *j);

/* Of the blocks as they are now: medians of stages and noise of each rank; and how one rank stands
 * to them. */
void ct_compare_blocks(struct ct_judging *j);
void ct_judge_slot(struct ct_judging *j, uint32_t slot);

/* The rank's excess in that stretch, by the blocks as they are now: mean and t, to *s. */
void ct_measure_stretch(struct ct_judging *j, uint32_t slot, struct ct_stretch *s);

/* The rank stands so to its peers, in that stretch. */
void ct_stand(struct ct_judging *j, uint32_t slot, const struct ct_stretch *out);

/* Means are NAN where nothing is known. */
double ct_mean_of_blocks(const double *values, uint32_t n);

/* Standard deviation of blocks by how much neighbours differ (von Neumann), but for the two that
 * differ most: what becomes slow, or fast again, does not add to it. room: n. */
double ct_noise_of_blocks(const double *x, uint32_t n, double *room);

/* Where the excess (by block) stands out most: all of the run, or a part of it. And is it worth a
 * replay? */
struct ct_stretch ct_stands_out(const struct ct_judging *j, double noise);
int ct_is_worth_a_replay(const struct ct_judging *j, const struct ct_stretch *s);
int ct_stands_out_clearly(const struct ct_judging *j,
			  const struct ct_stretch *s); /* that, and beyond chance */

/* ---- equal_work.c: which ranks stand out at equal work, of those that do not otherwise. 0 or
 * CT_NOMEM
 * ---- */

int ct_judge_at_equal_work(struct ct_judging *j);

/* ---- single_steps.c: what a rank is late by in single steps, now and then. Stalls hit any rank;
 * one with more of them than chance gives is slow ---- */

/* Finds them. 0 or CT_NOMEM; ct_single_steps_fini() in any case. */
int ct_single_steps_find(struct ct_judging *j);
void ct_single_steps_fini(struct ct_judging *j);

/* Of a rank's mean excess in the engine's steps from first to last, what single ones of these hold
 * (ns). */
double ct_held_by_singles(struct ct_judging *j, uint32_t slot, uint32_t first, uint32_t last);

/* Is this one of the rank's? */
int ct_is_single(struct ct_judging *j, uint32_t slot, uint32_t step);

/* In how many single steps the rank is late, if these are more than chance gives, all through the
 * run, and worth it; else 0. */
double ct_has_own_singles(struct ct_judging *j, uint32_t slot);

/* ---- mending.c ---- */

/* Brings the gaps of the row's ranks, in the engine's other_ns, to the level of their peers. 0 or
 * CT_NOMEM. */
int ct_mend(struct ct_judging *j, const struct ct_slow_row *row);

/* Levels (struct ct_engine) in some of the engine's steps, to level_ns. */
void ct_gap_levels_find(struct ct_judging *j, uint32_t first, uint32_t last);

/* Of those, what others of the stage have at each position, by position. */
void ct_gap_levels_of_peers(struct ct_judging *j, uint32_t stage, double *peers);

/* ---- call_sites.c ---- */

/* The call sites around the gaps in which most of the row's excess is, to the row. 0 or CT_NOMEM. */
int ct_slow_row_find_sites(struct ct_judging *j, struct ct_slow_row *row);

/* ---- smallest_set.c ---- */

/* Drops rows without which little of the gain is lost; of those left, what mending gains, together
 * (with its error) and each alone. None are left where that is not worth reporting. 0 or CT_NOMEM. */
int ct_slow_rows_choose(struct ct_judging *j);

#endif
